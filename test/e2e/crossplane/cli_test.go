// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package crossplane

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/v1/empty"
)

// TestCommands builds and pushes the package as docs/install.md says, except for the registry and the files.
func TestCommands(t *testing.T) {
	t.Parallel()

	page, err := os.ReadFile("../../../docs/install.md")
	if err != nil {
		t.Fatal(err)
	}

	for _, args := range commands("runtime.tar", "provider-terraform.xpkg", "registry.example.org/crossplane-contrib/provider-terraform:v0.1.0") {
		if want := "\ncrossplane " + strings.Join(args, " ") + "\n"; !strings.Contains(string(page), want) {
			t.Errorf("docs/install.md does not have %q", want)
		}
	}
}

// TestLabel checks that images with other labels are other images.
func TestLabel(t *testing.T) {
	t.Parallel()

	digests := map[string]string{}

	for _, version := range []string{"v1", "v2"} {
		img, err := label(empty.Image, "version", version)
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
