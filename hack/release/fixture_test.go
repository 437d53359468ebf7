// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"

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
