// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"

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
	h := sha256.New()

	for _, p := range paths {
		if err := hashFile(h, p); err != nil {
			return "", errors.Wrap(err, "cannot read an input of an image")
		}
	}

	return hex.EncodeToString(h.Sum(nil))[:12], nil
}

func hashFile(h io.Writer, path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}

	if info.IsDir() {
		return hashDir(h, path)
	}

	f, err := os.Open(path) //nolint:gosec // The caller chooses the file.
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // It was read.

	if _, err := io.WriteString(h, filepath.Base(path)+"\n"); err != nil {
		return err
	}

	_, err = io.Copy(h, f)

	return err
}

// hashDir hashes the names and the contents of all files in a directory.
func hashDir(h io.Writer, path string) error {
	sum, err := dirhash.HashDir(path, filepath.Base(path), dirhash.Hash1)
	if err != nil {
		return err
	}

	_, err = io.WriteString(h, sum)

	return err
}
