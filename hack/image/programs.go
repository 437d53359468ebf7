// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
)

// AddPrograms returns an image like img with programs in a directory, by their names there, and their checksums in
// SHA256SUMS. It has the supplied variables of the environment, too. The layer is written to layerPath.
func AddPrograms(img v1.Image, layerPath, dir string, programs map[string]string, env ...string) (v1.Image, error) {
	l, err := newLayer(layerPath, func(l *layer) error {
		sums := &strings.Builder{}

		for _, name := range slices.Sorted(maps.Keys(programs)) {
			data, err := os.ReadFile(programs[name])
			if err := errors.Join(err, l.copy(path.Join(dir, name), programs[name])); err != nil {
				return err
			}

			fmt.Fprintf(sums, "%x  %s\n", sha256.Sum256(data), name)
		}

		return l.text(path.Join(dir, "SHA256SUMS"), sums.String())
	})
	if err != nil {
		return nil, err
	}

	if img, err = mutate.AppendLayers(img, l); err != nil {
		return nil, err
	}

	file, err := img.ConfigFile()
	if err != nil {
		return nil, err
	}

	config := file.DeepCopy().Config
	config.Env = append(config.Env, env...)

	return mutate.Config(img, config)
}
