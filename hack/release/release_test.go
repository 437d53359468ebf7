// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/crossplane-contrib/provider-terraform/hack/image"
	"github.com/crossplane-contrib/provider-terraform/test/program"
)

// Environment variables with the paths of programs, which make check-release sets.
const (
	envCrossplane = "CROSSPLANE_CLI"
	envCosign     = "COSIGN"
)

// password of the key that signs.
const password = "example"

// need returns the program that an environment variable names.
func need(t *testing.T, env string) string {
	t.Helper()

	if os.Getenv(env) == "" {
		t.Skipf("needs %s: run make check-release", env)
	}

	return program.Need(t, env)
}

func write(t *testing.T, path, text string) string {
	t.Helper()

	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}

	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}

	return path
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()

	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir = dir

	cmd.Env = append(os.Environ(), "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org",
		"GIT_COMMITTER_DATE=2026-01-02T03:04:05Z", "GIT_AUTHOR_DATE=2026-01-02T03:04:05Z", "GIT_CONFIG_GLOBAL=/dev/null")

	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v: %s", strings.Join(args, " "), err, out)
	}

	return strings.TrimSpace(string(out))
}

const changelog = "# Changelog\n\n## [Unreleased]\n\n## [0.1.0] - 2026-01-02\n\n### Added\n\n- Shards: [sharding](docs/sharding.md#limits).\n\n" +
	"## [0.0.2] - 2026-13-01\n\n- Entry.\n\n## [0.0.1] - 2026-01-01\n"

// newRepository makes a repository with what a release needs but the code.
func newRepository(t *testing.T) string {
	t.Helper()

	dir := t.TempDir()

	for _, file := range []string{"cluster/images/provider-terraform/Dockerfile", "package/crossplane.yaml", "package/crds/tf.upbound.io_workspaces.yaml"} {
		text, err := os.ReadFile(filepath.Join("../..", file))
		if err != nil {
			t.Fatal(err)
		}

		write(t, filepath.Join(dir, file), string(text))
	}

	write(t, filepath.Join(dir, "CHANGELOG.md"), changelog)
	git(t, dir, "init", "--quiet")
	git(t, dir, "add", ".")
	git(t, dir, "commit", "--quiet", "--message=first")

	return dir
}

// newBase makes an OCI layout with an image of Debian without packages for each architecture.
func newBase(t *testing.T) string {
	t.Helper()

	dir := t.TempDir()
	files := map[string]string{}

	for path, text := range map[string]string{
		"etc/passwd": "root:x:0:0:root:/root:/bin/bash\n", "etc/group": "root:x:0:\n", "var/lib/dpkg/status": "Package: base\n\n",
		"etc/apt/sources.list.d/debian.sources": "URIs: https://debian.example.org\n",
	} {
		files[path] = write(t, filepath.Join(dir, path), text)
	}

	img, err := image.Files(filepath.Join(dir, "layer.tar.gz"), "0", "/bin/sh", files)
	if err != nil {
		t.Fatal(err)
	}

	index := v1.ImageIndex(empty.Index)

	for _, architecture := range architectures() {
		one, err := image.Label(img, map[string]string{"architecture": architecture})
		if err != nil {
			t.Fatal(err)
		}

		index = mutate.AppendManifests(index, mutate.IndexAddendum{
			Add: one, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: architecture}},
		})
	}

	layout := filepath.Join(dir, "layout")
	if err := image.WriteLayout(layout, index); err != nil {
		t.Fatal(err)
	}

	return layout
}

// outputs makes small programs, and SBOMs of them.
func outputs(dir string) func(context.Context, *release, string) ([]string, error) {
	return func(_ context.Context, _ *release, architecture string) ([]string, error) {
		var paths []string

		documents := filepath.Join(dir, architecture, "documents")

		for _, program := range []string{"crossplane-terraform-provider", "terraform"} {
			path, sbom := filepath.Join(dir, architecture, program), filepath.Join(documents, "sbom", program+".cdx.json")

			if err := os.MkdirAll(filepath.Dir(sbom), 0o700); err != nil {
				return nil, err
			}

			if err := os.WriteFile(path, []byte(program+" for "+architecture), 0o700); err != nil {
				return nil, err
			}

			if err := os.WriteFile(sbom, []byte(`{"bomFormat":"CycloneDX","specVersion":"1.6","metadata":{"component":{"type":"application","name":"`+program+`"}}}`), 0o600); err != nil {
				return nil, err
			}

			paths = append(paths, path)
		}

		return append(paths, documents), nil
	}
}

// newOptions returns the options of a release of small programs in new directories.
func newOptions(t *testing.T, root string) *options {
	t.Helper()

	return &options{
		version: "v0.1.0", root: root, out: t.TempDir(), base: newBase(t), packages: []string{},
		outputs: outputs(t.TempDir()), crossplane: os.Getenv(envCrossplane), cosign: os.Getenv(envCosign),
	}
}

// A store is a registry that counts what is written to it.
type store struct {
	address string
	writes  atomic.Int64
}

func newStore(t *testing.T) *store {
	t.Helper()

	s := &store{}
	handler := registry.New(registry.Logger(discard()))

	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// To start an upload is how to ask for the right to push.
		if r.Method == http.MethodPut || r.Method == http.MethodPatch {
			s.writes.Add(1)
		}

		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)

	s.address = strings.TrimPrefix(server.URL, "http://")

	return s
}

// TestReproducible builds a release twice, at other times and in other directories.
func TestReproducible(t *testing.T) {
	t.Parallel()
	need(t, envCrossplane)

	root := newRepository(t)

	var sums []string

	for range 2 {
		o := newOptions(t, root)
		if err := publish(t.Context(), o, io.Discard); err != nil {
			t.Fatal(err)
		}

		text, err := os.ReadFile(o.file(checksumsFile))
		if err != nil {
			t.Fatal(err)
		}

		index, err := image.OpenLayout(o.file(layoutDir))
		if err != nil {
			t.Fatal(err)
		}

		digest, err := index.Digest()
		if err != nil {
			t.Fatal(err)
		}

		sums = append(sums, string(text)+digest.String())
	}

	if diff := cmp.Diff(sums[0], sums[1]); diff != "" {
		t.Errorf("Two builds have the same checksums and the same digest.\n-first, +second:\n%s", diff)
	}

	if want := "  provider-terraform-v0.1.0-linux-arm64.xpkg\n"; !strings.Contains(sums[0], want) {
		t.Errorf("want %q in %q", want, sums[0])
	}
}

// TestPackages checks the package of each architecture: it has the runtime image, and layers that Crossplane finds by
// their annotations.
func TestPackages(t *testing.T) {
	t.Parallel()
	need(t, envCrossplane)

	o := newOptions(t, newRepository(t))
	if err := publish(t.Context(), o, io.Discard); err != nil {
		t.Fatal(err)
	}

	index, err := image.OpenLayout(o.file(layoutDir))
	if err != nil {
		t.Fatal(err)
	}

	for _, architecture := range architectures() {
		img, err := image.ForArchitecture(index, architecture)
		if err != nil {
			t.Fatal(err)
		}

		file, err := img.ConfigFile()
		if err != nil {
			t.Fatal(err)
		}

		if diff := cmp.Diff([]string{"tini", "--", "crossplane-terraform-provider"}, file.Config.Entrypoint); diff != "" {
			t.Errorf("%s: entrypoint: -want, +got:\n%s", architecture, diff)
		}

		for label, want := range map[string]string{
			"org.opencontainers.image.version": "v0.1.0", labelRevision: git(t, o.root, "rev-parse", "HEAD"), "org.opencontainers.image.created": "2026-01-02T03:04:05Z",
			"org.opencontainers.image.licenses": "Apache-2.0",
		} {
			if diff := cmp.Diff(want, file.Config.Labels[label]); diff != "" {
				t.Errorf("%s: label %s: -want, +got:\n%s", architecture, label, diff)
			}
		}

		m, err := img.Manifest()
		if err != nil {
			t.Fatal(err)
		}

		annotated := 0

		for _, l := range m.Layers {
			if l.Annotations["io.crossplane.xpkg"] == "base" {
				annotated++
			}
		}

		if diff := cmp.Diff(1, annotated); diff != "" {
			t.Errorf("%s: layers with the package: -want, +got:\n%s", architecture, diff)
		}
	}

	notes, err := os.ReadFile(o.file(notesFile))
	if err != nil {
		t.Fatal(err)
	}

	want := "### Added\n\n- Shards: [sharding](https://github.com/crossplane-contrib/provider-terraform/blob/v0.1.0/docs/sharding.md#limits).\n"
	if diff := cmp.Diff(want, string(notes)); diff != "" {
		t.Errorf("notes: -want, +got:\n%s", diff)
	}
}

// newKey makes a key of cosign. It returns the paths of its two parts.
func newKey(t *testing.T, cosign string) (private, public string) {
	t.Helper()

	dir := t.TempDir()
	if _, err := run(t.Context(), dir, nil, cosign, "generate-key-pair"); err != nil {
		t.Fatal(err)
	}

	return filepath.Join(dir, "cosign.key"), filepath.Join(dir, "cosign.pub")
}

// TestPush pushes a release to a registry and verifies it as a user does. Another push of the same commit changes
// nothing that a user sees, and one of another commit is refused.
func TestPush(t *testing.T) { //nolint:cyclop // What a user does, one after the other.
	need(t, envCrossplane)

	cosign := need(t, envCosign)

	t.Setenv("COSIGN_PASSWORD", password)

	key, public := newKey(t, cosign)
	root, registry := newRepository(t), newStore(t)

	o := newOptions(t, root)
	o.push, o.registry, o.key, o.tlog = true, registry.address+"/crossplane-contrib", key, false

	for range 2 {
		if err := publish(t.Context(), o, io.Discard); err != nil {
			t.Fatal(err)
		}
	}

	tag, err := name.NewTag(registry.address + "/crossplane-contrib/provider-terraform:v0.1.0")
	if err != nil {
		t.Fatal(err)
	}

	index, err := remote.Index(tag)
	if err != nil {
		t.Fatal(err)
	}

	local, err := image.OpenLayout(o.file(layoutDir))
	if err != nil {
		t.Fatal(err)
	}

	if want, got := digestOf(t, local), digestOf(t, index); want != got {
		t.Errorf("the tag has digest %s, want %s", got, want)
	}

	m, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}

	verify := func(ref, public string, args ...string) (string, error) {
		return run(t.Context(), root, nil, cosign, append(args, "--key="+public, "--insecure-ignore-tlog=true", ref)...)
	}

	if _, err := verify(tag.String(), public, "verify"); err != nil {
		t.Error(err)
	}

	_, other := newKey(t, cosign)
	if _, err := verify(tag.String(), other, "verify"); err == nil {
		t.Error("a signature of another key is accepted")
	}

	for _, d := range m.Manifests {
		ref := tag.Digest(d.Digest.String()).String()
		if _, err := verify(ref, public, "verify"); err != nil {
			t.Error(err)
		}

		out, err := verify(ref, public, "verify-attestation", "--type=cyclonedx")
		if err != nil {
			t.Error(err)
		}

		// Each push adds one for each program.
		if got := strings.Count(out, "\n"); got < 2 {
			t.Errorf("%s has %d SBOMs, want those of 2 programs: %s", d.Platform, got, out)
		}
	}

	if _, err := run(t.Context(), o.dir(), nil, cosign, "verify-blob", "--key="+public, "--bundle="+checksumsFile+".sigstore.json", "--insecure-ignore-tlog=true", checksumsFile); err != nil {
		t.Error(err)
	}

	if _, err := run(t.Context(), o.dir(), nil, "sha256sum", "--check", checksumsFile); err != nil {
		t.Error(err)
	}

	git(t, root, "commit", "--quiet", "--allow-empty", "--message=second")

	writes := registry.writes.Load()

	if err := publish(t.Context(), o, io.Discard); err == nil || !strings.Contains(err.Error(), "a version is never replaced") {
		t.Errorf("a release of another commit: %v", err)
	}

	if got := registry.writes.Load(); got != writes {
		t.Errorf("a refused release has written %d times", got-writes)
	}
}

// TestOrder pushes releases with a program in place of cosign, which records what it is called with. The tag is written
// after all signatures, and not if one of them fails.
func TestOrder(t *testing.T) {
	need(t, envCrossplane)
	t.Setenv("COSIGN_PASSWORD", password)

	for name, tc := range map[string]struct {
		reason string
		fails  string
		tagged bool
		calls  []string
	}{
		"Signed": {
			reason: "Each program of each architecture has an SBOM.",
			tagged: true,
			calls:  []string{"public-key", "sign --recursive", "sign-blob", "attest", "attest", "attest", "attest"},
		},
		"Unsigned": {
			reason: "A release that could not be signed has no tag.",
			fails:  "sign",
			calls:  []string{"public-key", "sign --recursive"},
		},
		"NoSBOM": {
			reason: "A release without an SBOM has no tag.",
			fails:  "attest",
			calls:  []string{"public-key", "sign --recursive", "sign-blob", "attest"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			registry, dir := newStore(t), t.TempDir()
			calls := filepath.Join(dir, "calls")

			o := newOptions(t, newRepository(t))
			o.push, o.registry, o.tlog = true, registry.address+"/a", true
			o.key, o.cosign = write(t, filepath.Join(dir, "cosign.key"), "key"), filepath.Join(dir, "cosign")

			if err := program.WriteScript(o.cosign, "echo \"$*\" >>'"+calls+"'; [ \"$1\" != '"+tc.fails+"' ]\n"); err != nil {
				t.Fatal(err)
			}

			if err := publish(t.Context(), o, io.Discard); (err == nil) != tc.tagged {
				t.Errorf("%s Got %v", tc.reason, err)
			}

			text, err := os.ReadFile(calls)
			if err != nil {
				t.Fatal(err)
			}

			var got []string

			for line := range strings.Lines(string(text)) {
				words := strings.Fields(line)
				if words[0] == "sign" {
					words[0] += " " + words[1]
				}

				got = append(got, words[0])
			}

			if diff := cmp.Diff(tc.calls, got); diff != "" {
				t.Errorf("%s -want, +got:\n%s", tc.reason, diff)
			}

			tag, err := o.tag()
			if err != nil {
				t.Fatal(err)
			}

			if _, err := remote.Head(tag); (err == nil) != tc.tagged {
				t.Errorf("%s The tag: %v", tc.reason, err)
			}
		})
	}
}

func digestOf(t *testing.T, index v1.ImageIndex) string {
	t.Helper()

	digest, err := index.Digest()
	if err != nil {
		t.Fatal(err)
	}

	return digest.String()
}
