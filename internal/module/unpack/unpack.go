// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package unpack fills a directory from an untrusted archive or directory. It writes
// nothing outside of the directory, for all names and links in the archive, and no more
// than the Limits allow.
//
// Symbolic links are kept as they are. Check verifies that they do not lead out of the
// directory, after all of them are there.
package unpack

import (
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// Limits of the unpacked files. They stop an archive that was made to fill a disk, but
// not one that is merely big.
type Limits struct {
	// Entries is how many files, directories and links there may be.
	Entries int

	// Bytes is how long all files together may be.
	Bytes int64
}

// An unpacker writes entries to a directory. It keeps the rest of the limits.
type unpacker struct {
	root   *os.Root
	limits Limits
	left   Limits
}

func newUnpacker(root *os.Root, l Limits) *unpacker {
	return &unpacker{root: root, limits: l, left: l}
}

// entryName returns the name of an entry as one for os.Root. The name stays in the
// directory by itself: two dots, even in the middle, are refused rather than resolved,
// because their target depends on links.
func entryName(name string) (string, error) {
	clean := path.Clean(name)
	if strings.HasPrefix(name, "/") || !filepath.IsLocal(clean) || strings.ContainsRune(name, 0) {
		return "", errors.Errorf("entry %q leads out of the archive", name)
	}

	for part := range strings.SplitSeq(name, "/") {
		if part == ".." {
			return "", errors.Errorf("entry %q leads out of the archive", name)
		}
	}

	return clean, nil
}

// count one more entry.
func (u *unpacker) count() error {
	u.left.Entries--
	if u.left.Entries < 0 {
		return errors.Errorf("there are more than %d files", u.limits.Entries)
	}

	return nil
}

// directory makes a directory, unless it is there already.
func (u *unpacker) directory(name string) error {
	if err := u.count(); err != nil {
		return err
	}

	return u.root.MkdirAll(name, 0o700)
}

// file makes a file with the content of r. Of the mode only the permissions are used; the
// owner can always read and write.
func (u *unpacker) file(name string, mode fs.FileMode, r io.Reader) error {
	if err := u.makeWay(name); err != nil {
		return err
	}

	f, err := u.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // It is closed, and that is checked, below.

	// One byte more than allowed tells too much from just enough.
	n, err := io.Copy(f, io.LimitReader(r, u.left.Bytes+1))
	if err != nil {
		return errors.Wrapf(err, "cannot write %q", name)
	}

	u.left.Bytes -= n
	if u.left.Bytes < 0 {
		return errors.Errorf("there are more than %d bytes", u.limits.Bytes)
	}
	// Not when it is created: the process has a umask, the archive does not.
	if err := f.Chmod(mode.Perm() | 0o600); err != nil {
		return err
	}

	return f.Close()
}

// symlink makes a symbolic link, to wherever it wants.
func (u *unpacker) symlink(name, target string) error {
	if err := u.makeWay(name); err != nil {
		return err
	}

	return u.root.Symlink(target, name)
}

// link makes another name for an entry that is there.
func (u *unpacker) link(name, target string) error {
	if err := u.makeWay(name); err != nil {
		return err
	}

	return u.root.Link(target, name)
}

// makeWay counts an entry, makes the directories that it is in, and removes one of
// the same name that came before. The last wins, and no link is written through.
func (u *unpacker) makeWay(name string) error {
	if err := u.count(); err != nil {
		return err
	}

	if err := u.root.MkdirAll(path.Dir(name), 0o700); err != nil {
		return err
	}

	if err := u.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}

	return nil
}
