// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workdir

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"unicode/utf8"

	"github.com/crossplane-contrib/provider-terraform/internal/regular"
)

// Digest returns the SHA-256, in hexadecimal, of the names and contents of the files, regardless
// of their order, and of the extra strings in their order. Different inputs have different
// encodings before they are hashed.
func Digest(files map[string]File, extra ...string) string {
	// The count and the lengths come first, so that content cannot be mistaken for the next entry.
	b := fmt.Appendf(nil, "%d,", len(files))
	for _, name := range slices.Sorted(maps.Keys(files)) {
		b = fmt.Appendf(b, "%d:%s,%d:%s,", len(name), name, len(files[name].Data), files[name].Data)
	}

	for _, s := range extra {
		b = fmt.Appendf(b, "%d:%s,", len(s), s)
	}

	sum := sha256.Sum256(b)

	return hex.EncodeToString(sum[:])
}

// Encode returns an unambiguous text, for Digest, for values of plain types or of API types.
func Encode(values ...any) string {
	// Plain types can be encoded, and the API server has accepted the JSON in API types.
	b, _ := json.Marshal(values)

	return string(b)
}

// Files returns the files in the directory, regardless of their writer. It omits the slash
// separated names in leftOut, the names that no module may have, and the history of a repository.
// The content in the result is a digest of the content of a file, because a module may be larger than
// memory, or the target of a symbolic link.
func (d *Dir) Files(leftOut ...string) (map[string]File, error) {
	return filesOf(d.dir, func(name string, e fs.DirEntry) bool {
		return e.IsDir() && e.Name() == gitDir || !e.IsDir() && slices.Contains(leftOut, name)
	})
}

// TreeDigest returns a digest of the files that ReplaceTree takes from a directory: a revision for a source that
// has none.
func TreeDigest(dir string) (string, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", err
	}
	defer root.Close() //nolint:errcheck // Nothing was written.

	var modes []string

	files, err := filesOf(root, func(_ string, e fs.DirEntry) bool {
		if info, err := e.Info(); err == nil && !e.IsDir() {
			modes = append(modes, info.Mode().String()) // A script may have become executable.
		}

		return false
	})

	return Digest(files, modes...), err
}

// filesOf returns the files for Files, without those that are left out.
func filesOf(root *os.Root, leftOut func(name string, e fs.DirEntry) bool) (map[string]File, error) {
	files := map[string]File{}
	err := fs.WalkDir(root.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case !utf8.ValidString(e.Name()) || reserved(e.Name()) || leftOut(name, e):
			if e.IsDir() {
				return fs.SkipDir
			}

			return nil
		case e.IsDir():
			return nil
		}

		if files[name], err = readAny(root, name, e); err != nil {
			return fmt.Errorf("cannot read %q: %w", name, err)
		}

		return nil
	})

	return files, err
}

func readAny(root *os.Root, name string, e fs.DirEntry) (File, error) {
	if e.Type() == fs.ModeSymlink {
		target, err := root.Readlink(name)

		return File{Data: []byte("-> " + target)}, err
	}

	if !e.Type().IsRegular() {
		return File{Data: []byte(e.Type().String())}, nil
	}

	f, err := regular.OpenIn(root, name)
	if err != nil {
		return File{}, err
	}
	defer f.Close() //nolint:errcheck // Nothing was written.

	h := sha256.New()
	_, err = io.Copy(h, f)

	return File{Data: h.Sum(nil)}, err
}
