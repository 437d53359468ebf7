// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"archive/tar"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
)

// write a file.
func write(t *testing.T, path, contents string, mode os.FileMode) string {
	t.Helper()

	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}

	if err := os.WriteFile(path, []byte(contents), mode); err != nil {
		t.Fatal(err)
	}

	return path
}

// newPackage builds a Debian package with an authority, a manual and a program in /bin.
func newPackage(t *testing.T) string {
	t.Helper()

	if _, err := exec.LookPath("dpkg-deb"); err != nil {
		t.Skip("needs dpkg-deb")
	}

	dir, deb := t.TempDir(), filepath.Join(t.TempDir(), "example.deb")
	write(t, filepath.Join(dir, "DEBIAN", "control"), "Package: example\nVersion: 1\nArchitecture: all\nMaintainer: nobody\nDescription: example\n", 0o644)
	write(t, filepath.Join(dir, certificates, "mozilla", "a.crt"), "AUTHORITY\n", 0o644)
	write(t, filepath.Join(dir, "usr/share/doc/example/copyright"), "terms", 0o644)
	write(t, filepath.Join(dir, "usr/share/doc/example/changelog"), "history", 0o644)
	write(t, filepath.Join(dir, "usr/share/man/man1/example.1"), "manual", 0o644)
	write(t, filepath.Join(dir, "bin/example"), "program", 0o755)

	if out, err := exec.Command("dpkg-deb", "--root-owner-group", "--build", dir, deb).CombinedOutput(); err != nil {
		t.Fatalf("dpkg-deb: %v: %s", err, out)
	}

	return deb
}

// newBase builds an image of Debian without packages.
func newBase(t *testing.T) v1.Image {
	t.Helper()

	b := base{
		users: "root:x:0:0:root:/root:/bin/bash\n", groups: "root:x:0:\n", status: "Package: base\n\n", sources: "URIs: https://debian.example.org\n",
		keys: map[string]string{"/" + keyrings + "a.gpg": "key"},
	}

	l, err := newLayer(filepath.Join(t.TempDir(), "base.tar.gz"), func(l *layer) error { return l.debian(t.Context(), b, nil) })
	if err != nil {
		t.Fatal(err)
	}

	img, err := assemble(empty.Image, "amd64", v1.Config{Env: []string{"PATH=/bin"}, Labels: map[string]string{"base": "debian"}}, l)
	if err != nil {
		t.Fatal(err)
	}

	return img
}

// newImage builds an image of the Dockerfile with one package, one program and one document. The
// files have the supplied time.
func newImage(t *testing.T, deb string, modified time.Time) v1.Image {
	t.Helper()

	program := write(t, filepath.Join(t.TempDir(), provider), "the provider", 0o700)
	dir := filepath.Join(t.TempDir(), "documents")
	license := write(t, filepath.Join(dir, "licenses/example.org/a@v1.0.0/LICENSE"), "terms of a", 0o600)

	for _, path := range []string{program, license, filepath.Dir(license), dir} {
		if err := os.Chtimes(path, modified, modified); err != nil {
			t.Fatal(err)
		}
	}

	img, err := Provider(t.Context(), Options{Dockerfile: dockerfile, Dir: t.TempDir(), Base: newBase(t), Packages: []string{deb}}, program, dir)
	if err != nil {
		t.Fatal(err)
	}

	return img
}

func TestReproducible(t *testing.T) {
	t.Parallel()

	deb := newPackage(t)

	var digests []string

	for _, modified := range []time.Time{time.Unix(1, 0), time.Unix(1e9, 0)} {
		d, err := newImage(t, deb, modified).Digest()
		if err != nil {
			t.Fatal(err)
		}

		digests = append(digests, d.String())
	}

	if diff := cmp.Diff(digests[0], digests[1]); diff != "" {
		t.Errorf("Two builds in other directories and at other times have the same digest.\n-first, +second:\n%s", diff)
	}
}

// TestFiles checks the files of the image that differ from those of the packages.
func TestFiles(t *testing.T) {
	t.Parallel()

	r := mutate.Extract(newImage(t, newPackage(t), time.Now()))
	defer r.Close()

	type entry struct {
		mode     int64
		link     string
		contents string
	}

	got := map[string]entry{}

	for archive := tar.NewReader(r); ; {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}

		if err != nil {
			t.Fatal(err)
		}

		text, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}

		got[h.Name] = entry{mode: h.Mode, link: h.Linkname, contents: string(text)}
	}

	want := map[string]entry{
		"bin":                              {mode: 0o777, link: "usr/bin"},
		"usr/bin/example":                  {mode: 0o755, contents: "program"},
		"usr/bin/sh":                       {mode: 0o777, link: "bash"},
		"usr/local/bin/" + provider:        {mode: 0o755, contents: "the provider"},
		"usr/share/doc/example/copyright":  {mode: 0o644, contents: "terms"},
		"usr/share/doc/provider-terraform": {mode: 0o755},
		"usr/share/doc/provider-terraform/licenses/example.org/a@v1.0.0/LICENSE": {mode: 0o644, contents: "terms of a"},
		"etc/ssl/certs/ca-certificates.crt":                                      {mode: 0o644, contents: "AUTHORITY\n"},
		"etc/group":                                                              {mode: 0o644, contents: "root:x:0:\nprovider:x:65532:\ncrossplane:x:2000:\n"},
		"tf":                                                                     {mode: 0o1777},
		"tf/plugin-cache":                                                        {mode: 0o1777},
		"home/provider":                                                          {mode: 0o1777},
		certificates + "mozilla/a.crt":                                           {mode: 0o644, contents: "AUTHORITY\n"},
		"var/lib/dpkg/status": {mode: 0o644, contents: "Package: base\n\nStatus: install ok installed\n" +
			"Package: example\nVersion: 1\nArchitecture: all\nMaintainer: nobody\nDescription: example\n\n"},
		"usr/share/doc/example/changelog": {},
		"usr/share/man/man1/example.1":    {},
		"etc/passwd": {mode: 0o644, contents: "root:x:0:0:root:/root:/bin/bash\n" +
			"provider:x:65532:65532::/home/provider:/usr/sbin/nologin\ncrossplane:x:2000:2000::/home/provider:/usr/sbin/nologin\n"},
	}

	for _, name := range slices.Sorted(maps.Keys(want)) {
		if diff := cmp.Diff(want[name], got[name], cmp.AllowUnexported(entry{})); diff != "" {
			t.Errorf("%s: -want, +got:\n%s", name, diff)
		}
	}
}

// TestConfig checks the settings of the image that the Dockerfile has as instructions. The user is not
// root, and directories of an installation belong to it. The ports are the defaults of the flags. As
// process 1 the provider could not be killed when it has lost its Lease, so there is an init process.
func TestConfig(t *testing.T) {
	t.Parallel()

	_, shipped := read(t)

	config, err := shipped.config(v1.Config{Env: []string{"PATH=/bin"}, Labels: map[string]string{"base": "debian"}})
	if err != nil {
		t.Fatal(err)
	}

	img, err := assemble(empty.Image, "arm64", config)
	if err != nil {
		t.Fatal(err)
	}

	file, err := img.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}

	got := file.Config
	labels := got.Labels
	got.Labels = nil

	want := v1.Config{
		Entrypoint: []string{"tini", "--", provider},
		Env: []string{
			"PATH=/bin", "TF_IN_AUTOMATION=1", "TF_PLUGIN_CACHE_DIR=/tf/plugin-cache",
		},
		ExposedPorts: map[string]struct{}{"8080/tcp": {}, "8081/tcp": {}},
		User:         "65532:65532",
	}

	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}

	for name, want := range map[string]string{"org.opencontainers.image.licenses": "Apache-2.0", "base": "debian"} {
		if diff := cmp.Diff(want, labels[name]); diff != "" {
			t.Errorf("The labels are those of the Dockerfile and of the base. -want, +got:\n%s", diff)
		}
	}

	if diff := cmp.Diff("linux/arm64", file.OS+"/"+file.Architecture); diff != "" {
		t.Errorf("platform: -want, +got:\n%s", diff)
	}
}

// TestReadBase reads what another image builds on, and refuses a base that is not of Debian.
func TestReadBase(t *testing.T) {
	t.Parallel()

	got, err := readBase(newBase(t))
	if err != nil {
		t.Fatal(err)
	}

	if diff := cmp.Diff(map[string]string{"/" + keyrings + "a.gpg": "key"}, got.keys); diff != "" {
		t.Errorf("keys: -want, +got:\n%s", diff)
	}

	if diff := cmp.Diff("Package: base\n\n", got.status); diff != "" {
		t.Errorf("status: -want, +got:\n%s", diff)
	}

	if _, err := readBase(empty.Image); err == nil || !strings.Contains(err.Error(), "want an image of Debian") {
		t.Errorf("an empty base: %v", err)
	}
}

// TestSnapshot checks that packages come from the archive that the base was made from, which does not change.
func TestSnapshot(t *testing.T) {
	t.Parallel()

	sources := "Types: deb\n# http://snapshot.example.org/archive/debian/20250520T000000Z\nURIs: http://deb.example.org/debian\nSuites: bookworm\n"

	want := "Types: deb\nURIs: http://snapshot.example.org/archive/debian/20250520T000000Z\nSuites: bookworm\n"
	if diff := cmp.Diff(want, snapshot().ReplaceAllString(sources, "URIs: $1")); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}
