// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"fmt"
	"maps"
	"os"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
)

// OpenLayout returns the index of a directory with an OCI layout.
func OpenLayout(dir string) (v1.ImageIndex, error) {
	index, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		return nil, fmt.Errorf("%s has no OCI layout: %w", dir, err)
	}

	return index, nil
}

// WriteLayout writes an index to a directory, which must not exist, as an OCI layout.
func WriteLayout(dir string, index v1.ImageIndex) error {
	if _, err := os.Stat(dir); err == nil {
		return fmt.Errorf("%s exists", dir)
	}

	_, err := layout.Write(dir, index)

	return err
}

// ForArchitecture returns the image of an index for Linux and an architecture.
func ForArchitecture(index v1.ImageIndex, architecture string) (v1.Image, error) {
	m, err := index.IndexManifest()
	if err != nil {
		return nil, err
	}

	for _, d := range m.Manifests {
		if d.Platform != nil && d.Platform.OS == "linux" && d.Platform.Architecture == architecture {
			return index.Image(d.Digest)
		}
	}

	return nil, fmt.Errorf("the index has no image for linux/%s", architecture)
}

// Label returns the image with more labels.
func Label(img v1.Image, labels map[string]string) (v1.Image, error) {
	file, err := img.ConfigFile()
	if err != nil {
		return nil, err
	}

	config := file.DeepCopy().Config
	if config.Labels == nil {
		config.Labels = map[string]string{}
	}

	maps.Copy(config.Labels, labels)

	return mutate.Config(img, config)
}
