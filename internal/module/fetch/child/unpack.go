// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package child

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// Limits of a module from an archive or a directory. A module has some kilobytes: a much larger
// one was made to fill the disk.
const (
	maxEntries  = 200_000
	maxUnpacked = 4 << 30
)

// An unpacker fills a directory from an untrusted archive or directory. It writes nothing outside
// of the directory, regardless of names and links in the archive, and no more than the limits
// allow. Symbolic links are kept: the caller checks their targets when all of them exist.
type unpacker struct {
	root *os.Root

	// maxEntries and maxBytes are the limits. entries and bytes count towards them.
	maxEntries, entries int
	maxBytes, bytes     int64
}

// An entry is a file, directory or link to be unpacked.
type entry struct {
	name string
	mode fs.FileMode

	// target of a symbolic link. For a hard link it is the name of an earlier entry.
	target string
	hard   bool
}

// unpackTo makes the directory dst and fills it.
func unpackTo(dst string, fill func(*unpacker) error) error {
	if err := os.MkdirAll(dst, 0o700); err != nil {
		return err
	}

	root, err := os.OpenRoot(dst)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // Every file written through it was closed and checked.

	return fill(&unpacker{root: root, maxEntries: maxEntries, maxBytes: maxUnpacked})
}

// add adds an entry, with the content of r if it is a file. The last entry of a name counts. An entry
// replaces a link of the same name. Nothing is written through a link that leads out.
func (u *unpacker) add(e entry, r io.Reader) error {
	// The kernel cannot open a longer path, and the time to walk such a tree grows with the square of its
	// depth.
	if len(e.name) >= unix.PathMax {
		return fmt.Errorf("the module has a path with %d bytes: the limit is %d", len(e.name), unix.PathMax-1)
	}

	// os.Root confines all names. The meaning of two dots depends on links, so that they are
	// refused even where they stay inside.
	if path.IsAbs(e.name) || slices.Contains(strings.Split(e.name, "/"), "..") {
		return fmt.Errorf("entry %q leads out of the archive", e.name)
	}

	name := path.Clean(e.name)

	// The entry counts, and so does each directory that is made for it.
	u.entries++
	for dir := path.Dir(name); dir != "." && u.missing(dir); dir = path.Dir(dir) {
		u.entries++
	}

	if u.entries > u.maxEntries {
		return fmt.Errorf("the module has more than %d files, which is the limit", u.maxEntries)
	}

	if e.mode.IsDir() {
		return u.root.MkdirAll(name, 0o700)
	}

	if err := u.root.MkdirAll(path.Dir(name), 0o700); err != nil {
		return err
	}

	if err := u.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}

	switch {
	case e.hard:
		return u.link(e.target, name)
	case e.mode.Type() == fs.ModeSymlink:
		return u.root.Symlink(e.target, name)
	case e.mode.IsRegular():
		return u.file(name, e.mode, r)
	}

	return fmt.Errorf("entry %q is neither a file, a directory nor a link", e.name)
}

func (u *unpacker) missing(name string) bool {
	_, err := u.root.Lstat(name)

	return errors.Is(err, fs.ErrNotExist)
}

// link makes a hard link. It counts like a file of the same size, which it becomes in a copy of the
// directory.
func (u *unpacker) link(target, name string) error {
	info, err := u.root.Lstat(target)
	if err != nil {
		return err
	}

	if err := u.count(info.Size()); err != nil {
		return err
	}

	return u.root.Link(target, name)
}

// file makes a file with the content of r. It uses only the permissions of the mode, and the
// owner can always read and write.
func (u *unpacker) file(name string, mode fs.FileMode, r io.Reader) error {
	f, err := u.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // It is closed, and that is checked, below.

	// One more byte than allowed detects a file that is too large.
	n, err := io.Copy(f, io.LimitReader(r, u.maxBytes-u.bytes+1))
	if err != nil {
		return fmt.Errorf("cannot write %q: %w", name, err)
	}

	if err := u.count(n); err != nil {
		return err
	}
	// The mode is set after the creation, because the process has a umask.
	if err := f.Chmod(mode.Perm() | 0o600); err != nil {
		return err
	}

	return f.Close()
}

// count counts bytes that were written, or will be in a copy of the directory.
func (u *unpacker) count(n int64) error {
	if u.bytes += n; u.bytes > u.maxBytes {
		return fmt.Errorf("the module has more than %d bytes, which is the limit", u.maxBytes)
	}

	return nil
}
