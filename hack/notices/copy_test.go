// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/mod/module"
)

// newCache returns a module cache with the supplied files, and Go 1.26.8.
func newCache(t *testing.T, files ...string) origin {
	t.Helper()

	o := origin{cache: t.TempDir(), goroot: t.TempDir(), goversion: "go1.26.8"}

	paths := []string{filepath.Join(o.goroot, "LICENSE"), filepath.Join(o.goroot, "PATENTS"), filepath.Join(o.goroot, "src", "cmd", "LICENSE")}
	for _, f := range files {
		paths = append(paths, filepath.Join(o.cache, f))
	}

	for _, p := range paths {
		if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
			t.Fatal(err)
		}

		// The cache is read-only, and the copy is not.
		if err := os.WriteFile(p, []byte("terms"), 0o400); err != nil {
			t.Fatal(err)
		}
	}

	return o
}

// filesIn returns the paths and the permissions of all files in a directory.
func filesIn(t *testing.T, dir string) map[string]fs.FileMode {
	t.Helper()

	found := map[string]fs.FileMode{}

	if err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}

		info, err := d.Info()
		if err != nil {
			return err
		}

		name, err := filepath.Rel(dir, path)
		found[name] = info.Mode()

		return err
	}); err != nil {
		t.Fatal(err)
	}

	return found
}

func TestCopy(t *testing.T) {
	t.Parallel()

	const aliyun, aliyunVersion = "github.com/aliyun/aliyun-oss-go-sdk", "v0.0.0-20190103054945-8205d1f41e70"

	o := newCache(t, "github.com/!example/a@v1.0.0/LICENSE", "github.com/!example/a@v1.0.0/b/NOTICE", aliyun+"@"+aliyunVersion+"/README.md")
	dir := filepath.Join(t.TempDir(), "licenses")

	if err := o.copy([]module.Version{
		{Path: "github.com/Example/a", Version: "v1.0.0"}, {Path: aliyun, Version: aliyunVersion}, {Path: std, Version: o.goversion},
	}, dir); err != nil {
		t.Fatal(err)
	}

	want := map[string]fs.FileMode{
		"github.com/Example/a@v1.0.0/LICENSE":       0o644,
		"github.com/Example/a@v1.0.0/b/NOTICE":      0o644,
		aliyun + "@" + aliyunVersion + "/README.md": 0o644,
		"std@go1.26.8/LICENSE":                      0o644,
		"std@go1.26.8/PATENTS":                      0o644,
	}
	if diff := cmp.Diff(want, filesIn(t, dir)); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

func TestCopyFails(t *testing.T) {
	t.Parallel()

	o := newCache(t, "example.org/a@v1.0.0/README.md", "example.org/b@v1.0.0/NOTICE", "github.com/aliyun/aliyun-oss-go-sdk@v1.0.0/README.md")

	cases := map[string]struct {
		reason  string
		modules []module.Version
		want    []string
	}{
		"NoLicense": {
			reason:  "One error names all modules without a license.",
			modules: []module.Version{{Path: "example.org/a", Version: "v1.0.0"}, {Path: "example.org/b", Version: "v1.0.0"}},
			want:    []string{"module example.org/a@v1.0.0: there is no license file", "module example.org/b@v1.0.0: there is no license file"},
		},
		"NewVersion": {
			reason:  "An exception is for one version.",
			modules: []module.Version{{Path: "github.com/aliyun/aliyun-oss-go-sdk", Version: "v1.0.0"}},
			want:    []string{"module github.com/aliyun/aliyun-oss-go-sdk@v1.0.0: there is no license file"},
		},
		"NotThere": {
			reason:  "The binary was built on another machine.",
			modules: []module.Version{{Path: "example.org/c", Version: "v1.0.0"}},
			want:    []string{"module example.org/c@v1.0.0: the module is not in the module cache"},
		},
		"OtherGo": {
			reason:  "The license is that of the Go in the binary.",
			modules: []module.Version{{Path: std, Version: "go1.25.0"}},
			want:    []string{"module std@go1.25.0: the go command on PATH has version go1.26.8"},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			err := o.copy(tc.modules, t.TempDir())
			if err == nil {
				t.Fatalf("%s Got no error", tc.reason)
			}

			for _, want := range tc.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%s Want %q in %q", tc.reason, want, err)
				}
			}
		})
	}
}

// TestRun copies the license files of the modules of this test from the module cache that it was
// built from.
func TestRun(t *testing.T) {
	t.Parallel()

	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}

	modules, err := modulesOf(binary, binary)
	if err != nil {
		t.Fatal(err)
	}

	for _, path := range []string{std, "golang.org/x/mod"} {
		if n := len(slices.DeleteFunc(slices.Clone(modules), func(m module.Version) bool { return m.Path != path })); n != 1 {
			t.Errorf("want %s once in %v, got it %d times", path, modules, n)
		}
	}

	dir := filepath.Join(t.TempDir(), "licenses")
	if err := run(t.Context(), dir, []string{binary}); err != nil {
		t.Fatal(err)
	}

	for _, m := range modules {
		if entries, err := os.ReadDir(filepath.Join(dir, m.Path+"@"+m.Version)); err != nil || len(entries) == 0 {
			t.Errorf("%s: want files, got %v: %v", m, entries, err)
		}

		if m.Path != std {
			continue
		}

		text, err := os.ReadFile(filepath.Join(dir, m.Path+"@"+m.Version, "LICENSE"))
		if err != nil || !strings.Contains(string(text), "The Go Authors") {
			t.Errorf("%s: want the license of Go, got %q: %v", m, text, err)
		}
	}
}
