// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
)

// TestLabel checks that images with other labels are other images.
func TestLabel(t *testing.T) {
	t.Parallel()

	digests := map[string]string{}

	for _, version := range []string{"v1", "v2"} {
		img, err := Label(empty.Image, map[string]string{"version": version})
		if err != nil {
			t.Fatal(err)
		}

		file, err := img.ConfigFile()
		if err != nil {
			t.Fatal(err)
		}

		if diff := cmp.Diff(map[string]string{"version": version}, file.Config.Labels); diff != "" {
			t.Errorf("labels: -want, +got:\n%s", diff)
		}

		digest, err := img.Digest()
		if err != nil {
			t.Fatal(err)
		}

		digests[digest.String()] = version
	}

	if len(digests) != 2 {
		t.Errorf("both versions have the same digest: %v", digests)
	}
}

// TestLayout writes an index to a directory and reads it again.
func TestLayout(t *testing.T) {
	t.Parallel()

	index := mutate.AppendManifests(empty.Index, mutate.IndexAddendum{
		Add: empty.Image, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: "arm64"}},
	})
	dir := filepath.Join(t.TempDir(), "layout")

	if _, err := OpenLayout(dir); err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("a missing directory: %v", err)
	}

	if err := WriteLayout(dir, index); err != nil {
		t.Fatal(err)
	}

	if err := WriteLayout(dir, index); err == nil {
		t.Error("a layout is replaced")
	}

	got, err := OpenLayout(dir)
	if err != nil {
		t.Fatal(err)
	}

	want, err := index.Digest()
	if err != nil {
		t.Fatal(err)
	}

	if digest, err := got.Digest(); err != nil || digest != want {
		t.Errorf("digest %s, want %s: %v", digest, want, err)
	}

	if _, err := ForArchitecture(got, "arm64"); err != nil {
		t.Error(err)
	}

	if _, err := ForArchitecture(got, "amd64"); err == nil || !strings.Contains(err.Error(), "linux/amd64") {
		t.Errorf("another architecture: %v", err)
	}
}
