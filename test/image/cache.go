// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"golang.org/x/mod/sumdb/dirhash"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// cached returns the layer that fill writes. It is written again when one of its inputs has
// changed, or this program.
func cached(cache, name string, inputs []string, fill func(*layer) error) (v1.Layer, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}

	key, err := digest(append([]string{program}, inputs...)...)
	if err != nil {
		return nil, err
	}

	path := filepath.Join(cache, name+"-"+key+".tar.gz")

	if _, err := os.Stat(path); err == nil {
		return tarball.LayerFromFile(path)
	}

	old, err := filepath.Glob(filepath.Join(cache, name+"-*.tar.gz"))
	if err != nil {
		return nil, err
	}

	for _, o := range old {
		if err := os.Remove(o); err != nil {
			return nil, err
		}
	}

	if err := writeLayer(path, fill); err != nil {
		return nil, err
	}

	return tarball.LayerFromFile(path)
}

// digest of the names and the contents of files and directories.
func digest(paths ...string) (string, error) {
	files := map[string]string{}

	for _, p := range paths {
		if err := filepath.WalkDir(p, func(file string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}

			name, err := filepath.Rel(filepath.Dir(p), file)
			files[name] = file

			return err
		}); err != nil {
			return "", errors.Wrap(err, "cannot read an input of an image")
		}
	}

	sum, err := dirhash.Hash1(slices.Collect(maps.Keys(files)), func(name string) (io.ReadCloser, error) { return os.Open(files[name]) })

	// The sum may contain slashes.
	return fmt.Sprintf("%x", sha256.Sum256([]byte(sum)))[:12], err
}
