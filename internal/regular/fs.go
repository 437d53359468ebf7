// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package regular

import (
	"io/fs"
	"os"
)

// FS returns a file system with the directories and regular files in root. ReadFile fails for
// files that are longer than limit.
func FS(root *os.Root, limit int64) fs.FS { return rootFS{FS: root.FS(), root: root, limit: limit} }

type rootFS struct {
	fs.FS

	root  *os.Root
	limit int64
}

// Open a directory or a regular file.
func (r rootFS) Open(name string) (fs.File, error) {
	if info, err := r.root.Stat(name); err != nil || info.IsDir() {
		return r.FS.Open(name)
	}

	return OpenIn(r.root, name)
}

// ReadFile implements fs.ReadFileFS.
func (r rootFS) ReadFile(name string) ([]byte, error) { return ReadIn(r.root, name, r.limit) }
