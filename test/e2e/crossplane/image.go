// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package crossplane

import (
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/crossplane-contrib/provider-terraform/hack/image"
)

// Image builds the image of Crossplane from the directory with its program and the other files of the
// image. The path is that of its layer.
func Image(dir, layer string) (v1.Image, error) {
	const program = "usr/local/bin/crossplane"

	return image.Files(layer, "65532", "/"+program, map[string]string{
		program:                 filepath.Join(dir, "crossplane"),
		"crds":                  filepath.Join(dir, "crds"),
		"webhookconfigurations": filepath.Join(dir, "webhookconfigurations"),
	})
}
