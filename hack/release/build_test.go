// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/crossplane-contrib/provider-terraform/hack/image"
)

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

func digestOf(t *testing.T, index v1.ImageIndex) string {
	t.Helper()

	digest, err := index.Digest()
	if err != nil {
		t.Fatal(err)
	}

	return digest.String()
}
