// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package unpack

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// Check fails if there is anything in root, at any depth, that a module cannot
// consist of: a symbolic link that leads out, or in circles, or something that is
// neither a file, a directory nor a link. A link to nothing is fine as long as it
// would not lead out.
func Check(root *os.Root) error {
	return fs.WalkDir(root.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir(), e.Type().IsRegular():
			return nil
		case e.Type() == fs.ModeSymlink:
			return checkLink(root, name)
		default:
			return errors.Errorf("%q is neither a file, a directory nor a link", name)
		}
	})
}

func checkLink(root *os.Root, name string) error {
	target, err := root.Readlink(name)
	if err != nil {
		return err
	}
	// Where a link leads depends on other links: two dots after one go up from where
	// that leads. So it is os.Root that follows it. When there is nothing to follow
	// it to, its text has to do.
	_, err = root.Stat(name)
	if err == nil || errors.Is(err, fs.ErrNotExist) && staysInside(name, target) {
		return nil
	}

	return errors.Errorf("symbolic link %q leads out of the module, to %q", name, target)
}

// staysInside reports whether the target of a link, taken literally, is inside.
func staysInside(name, target string) bool {
	return !path.IsAbs(target) && filepath.IsLocal(path.Join(path.Dir(name), target))
}
