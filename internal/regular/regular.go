// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package regular reads files whose path or content a tenant controls.
//
// Such a path may lead to a device that never ends, to a pipe without a writer, or to a file of
// the kernel with secrets of this process. The package reads only regular files on a file system,
// up to a size that the caller sets.
package regular

import (
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"
)

// MiB is the unit of limits.
const MiB = 1 << 20

// Read returns the content of the file at path. Links are followed. A file that is longer than
// limit, or not regular, is an error.
func Read(path string, limit int64) ([]byte, error) {
	f, err := open(path, os.Stat, os.OpenFile)
	if err != nil {
		return nil, err
	}

	return read(f, limit)
}

// ReadIn is Read for a file in root. A link that leads out of root is an error.
func ReadIn(root *os.Root, name string, limit int64) ([]byte, error) {
	f, err := OpenIn(root, name)
	if err != nil {
		return nil, err
	}

	return read(f, limit)
}

// Open the regular file at path, to read a stream of any length.
func Open(path string) (*os.File, error) { return open(path, os.Stat, os.OpenFile) }

// OpenIn is Open for a file in root.
func OpenIn(root *os.Root, name string) (*os.File, error) {
	return open(name, root.Stat, root.OpenFile)
}

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

func open(name string, stat func(string) (fs.FileInfo, error), openFile func(string, int, fs.FileMode) (*os.File, error)) (*os.File, error) {
	// Opening a device may have side effects.
	info, err := stat(name)
	if err != nil {
		return nil, err
	}

	if err := check(name, info); err != nil {
		return nil, err
	}

	// The file may have been replaced since: opening a pipe would block here.
	f, err := openFile(name, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}

	if err := checkOpen(f, name); err != nil {
		_ = f.Close() // Nothing was written.

		return nil, err
	}

	return f, nil
}

func checkOpen(f *os.File, name string) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}

	if err := check(name, info); err != nil {
		return err
	}

	var system unix.Statfs_t
	if err := unix.Fstatfs(int(f.Fd()), &system); err != nil {
		return fmt.Errorf("cannot find out on which file system %q is: %w", name, err)
	}

	if slices.Contains([]int64{unix.PROC_SUPER_MAGIC, unix.SYSFS_MAGIC, unix.DEBUGFS_MAGIC, unix.TRACEFS_MAGIC}, int64(system.Type)) { //nolint:unconvert // Not the same type everywhere.
		return refusal(name, "the kernel makes it up")
	}

	return nil
}

func check(name string, info fs.FileInfo) error {
	kind := "it is something else"

	switch mode := info.Mode(); {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		return &fs.PathError{Op: "read", Path: name, Err: unix.EISDIR} // As os has it.
	case mode&fs.ModeDevice != 0:
		kind = "it is a device"
	case mode&fs.ModeNamedPipe != 0:
		kind = "it is a pipe"
	case mode&fs.ModeSocket != 0:
		kind = "it is a socket"
	}

	return refusal(name, kind)
}

func refusal(name, reason string) error {
	return fmt.Errorf("cannot read %q: %s, and only regular files on a disk are read: use one of them", name, reason)
}

// read and close the file.
func read(f *os.File, limit int64) ([]byte, error) {
	defer f.Close() //nolint:errcheck // Nothing was written.

	info, err := f.Stat()
	if err != nil {
		return nil, err
	}

	if info.Size() > limit {
		return nil, tooLarge(f, limit)
	}

	// It may grow meanwhile.
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, err
	}

	if int64(len(data)) > limit {
		return nil, tooLarge(f, limit)
	}

	return data, nil
}

func tooLarge(f *os.File, limit int64) error {
	return fmt.Errorf("cannot read %q: it has more than %s: use a smaller file", f.Name(), Size(limit))
}

// Size returns a number of bytes for people.
func Size(n int64) string {
	switch {
	case n >= MiB:
		return fmt.Sprintf("%.1f MiB", float64(n)/MiB)
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	default:
		return fmt.Sprintf("%d bytes", n)
	}
}

// Dirs returns the directories below dir whose path matches the patterns, one for each component.
// Unlike fs.Glob, it follows no link below dir: links in circles would multiply the matches. A
// malformed pattern, and a directory that cannot be read, have no matches.
func Dirs(fsys fs.FS, dir string, patterns ...string) iter.Seq[string] {
	return func(yield func(string) bool) { walk(fsys, dir, patterns, yield) }
}

// walk says whether to continue.
func walk(fsys fs.FS, dir string, patterns []string, yield func(string) bool) bool {
	if len(patterns) == 0 {
		return yield(dir)
	}

	entries, _ := fs.ReadDir(fsys, dir)
	for _, e := range entries {
		if ok, _ := path.Match(patterns[0], e.Name()); !ok || !e.IsDir() {
			continue
		}

		if !walk(fsys, path.Join(dir, e.Name()), patterns[1:], yield) {
			return false
		}
	}

	return true
}

// Within says whether path is dir or below it. Links are followed.
func Within(dir, path string) (bool, error) {
	rel, err := Rel(dir, path)

	return filepath.IsLocal(rel), err
}

// Rel returns path relative to dir. Links are followed.
func Rel(dir, path string) (string, error) {
	path, err := resolve(path)
	if err != nil {
		return "", err
	}

	dir, err = resolve(dir)
	if err != nil {
		return "", err
	}

	return filepath.Rel(dir, path)
}

// resolve returns the absolute path without links. Links come first: two dots go up from the target
// of a link.
func resolve(path string) (string, error) {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}

	return filepath.Abs(path)
}
