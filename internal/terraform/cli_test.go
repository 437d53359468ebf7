// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package terraform

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFind(t *testing.T) {
	// Not parallel: it changes PATH.
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}

	link := func(names ...string) string {
		dir := t.TempDir()
		for _, name := range names {
			if err := os.Symlink(self, filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}

		return dir
	}
	both, tofu, other, none := link("terraform", "tofu"), link("tofu"), link("other"), t.TempDir()

	truth := filepath.Join(none, "truth")
	if err := os.WriteFile(truth, []byte("#!/bin/sh\nexit 0\n"), 0o700); err != nil {
		t.Fatal(err)
	}

	cases := map[string]struct {
		reason string
		path   string
		name   string
		want   string
		err    string
	}{
		"DefaultIsTerraform": {
			reason: "with both on PATH and no name it is terraform",
			path:   both,
			want:   filepath.Join(both, "terraform"),
		},
		"DefaultIsElseTofu": {
			reason: "without terraform it is tofu",
			path:   tofu,
			want:   filepath.Join(tofu, "tofu"),
		},
		"NameOnPath": {
			reason: "a name is searched on PATH",
			path:   other,
			name:   "other",
			want:   filepath.Join(other, "other"),
		},
		"AbsolutePath": {
			reason: "an absolute path needs no PATH",
			path:   none,
			name:   filepath.Join(other, "other"),
			want:   filepath.Join(other, "other"),
		},
		"NothingOnPath": {
			reason: "the error names both and the remedy",
			path:   none,
			err:    `neither "terraform" nor "tofu" is on PATH: put one of them there, or give the name or the absolute path of one`,
		},
		"UnknownName": {
			reason: "the error has the name and the allowed values",
			path:   both,
			name:   "terrafrom",
			err:    `cannot find "terrafrom": must be the name of a program on PATH or the absolute path of one, terraform or tofu`,
		},
		"RelativePath": {
			reason: "a relative path would depend on where the process was started",
			path:   both,
			name:   "./terraform",
			err:    `"./terraform" is neither a name on PATH nor an absolute path`,
		},
		"AnotherProgram": {
			reason: "a program that names neither product is refused",
			path:   none,
			name:   truth,
			err:    "is neither terraform nor tofu",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Setenv("PATH", tc.path)

			c, err := Find(t.Context(), tc.name, Options{})
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) {
					t.Fatalf("%s: want error %q, got %v", tc.reason, tc.err, err)
				}

				return
			}

			if err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}

			if diff := cmp.Diff(tc.want, c.Path); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}

			if c.Product != Terraform || c.Version != "1.2.3-stub" {
				t.Errorf("%s: got %s %s, the stub says Terraform 1.2.3-stub", tc.reason, c.Product, c.Version)
			}
		})
	}
}

func TestFindReal(t *testing.T) {
	forEachCLI(t, func(t *testing.T, c *CLI) {
		want := map[string]Product{"TestFindReal/OpenTofu": OpenTofu, "TestFindReal/Terraform": Terraform}[t.Name()]
		if c.Product != want {
			t.Errorf("want product %q, got %q", want, c.Product)
		}

		if !regexp.MustCompile(`^\d+\.\d+\.\d+`).MatchString(c.Version) {
			t.Errorf("not a version: %q", c.Version)
		}

		if !filepath.IsAbs(c.Path) {
			t.Errorf("not absolute: %q", c.Path)
		}
	})
}

func TestSince(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		product Product
		version string
		want    bool
	}{
		"Same":       {product: OpenTofu, version: "1.8.0", want: true},
		"Later":      {product: OpenTofu, version: "1.12.6", want: true},
		"PreRelease": {product: OpenTofu, version: "1.8.0-rc1", want: true},
		"Earlier":    {product: OpenTofu, version: "1.7.9"},
		"Product":    {product: Terraform, version: "1.12.6"},
		"Unknown":    {product: OpenTofu, version: "dev"},
	}

	for name, tc := range cases {
		if got := (&CLI{Product: tc.product, Version: tc.version}).Since(OpenTofu, "1.8.0"); got != tc.want {
			t.Errorf("%s: Since(...) of %s %s: want %t, got %t", name, tc.product, tc.version, tc.want, got)
		}
	}
}
