// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/klauspost/compress/gzip"
)

// A layer is an archive in the making. The same calls write the same bytes: no time and no user of
// this machine gets into it.
type layer struct {
	tar   *tar.Writer
	added map[string]bool

	// links has the directories that are symbolic links, with the paths that they link to.
	links map[string]string
}

// newLayer writes a layer to the supplied path. The file appears there when it is complete.
func newLayer(path string, fill func(*layer) error) (v1.Layer, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // There is nothing secret in an image.
		return nil, err
	}

	f, err := os.CreateTemp(filepath.Dir(path), ".layer-*")
	if err != nil {
		return nil, err
	}
	defer os.Remove(f.Name()) //nolint:errcheck // It was renamed.

	z, err := gzip.NewWriterLevel(f, gzip.BestSpeed)
	if err != nil {
		return nil, err
	}

	l := &layer{tar: tar.NewWriter(z), added: map[string]bool{}, links: map[string]string{}}
	if err := errors.Join(fill(l), l.tar.Close(), z.Close(), f.Close()); err != nil {
		return nil, fmt.Errorf("cannot write layer %q: %w", path, err)
	}

	if err := os.Rename(f.Name(), path); err != nil {
		return nil, err
	}

	return tarball.LayerFromFile(path)
}

// add an entry with the supplied contents. A directory may be added more than once; the first
// one counts.
func (l *layer) add(h tar.Header, contents io.Reader) error {
	h.Name = l.resolve(h.Name)
	if h.Name == "." || h.Typeflag == tar.TypeDir && (l.added[h.Name] || l.links[h.Name] != "") {
		return nil
	}

	if l.added[h.Name] {
		return fmt.Errorf("%s is there already", h.Name)
	}

	l.added[h.Name] = true

	if h.Typeflag == tar.TypeLink {
		h.Linkname = l.resolve(h.Linkname)
	}

	// All other fields would depend on this machine.
	if err := l.tar.WriteHeader(&tar.Header{
		Typeflag: h.Typeflag, Name: h.Name, Linkname: h.Linkname, Size: h.Size, Mode: h.Mode, Uid: h.Uid, Gid: h.Gid,
		ModTime: time.Unix(0, 0), Format: tar.FormatPAX,
	}); err != nil {
		return err
	}

	if h.Size == 0 {
		return nil
	}

	_, err := io.Copy(l.tar, contents)

	return err
}

// resolve returns the path without a slash at either end, and with a link of the first directory
// followed.
func (l *layer) resolve(name string) string {
	name = strings.TrimPrefix(path.Clean("/"+name), "/")
	if name == "" {
		return "."
	}

	first, rest, below := strings.Cut(name, "/")
	if to, ok := l.links[first]; ok && below {
		return path.Join(to, rest)
	}

	return name
}

func (l *layer) directory(name string, mode int64) error {
	return l.add(tar.Header{Typeflag: tar.TypeDir, Name: name, Mode: mode}, nil)
}

// merged makes the directories of the root that Debian has merged into /usr links. Packages may have files in both
// places.
func (l *layer) merged() {
	for _, dir := range []string{"bin", "sbin", "lib", "lib64"} {
		l.links[dir] = "usr/" + dir
	}
}

// link adds the symbolic link of a directory of the root.
func (l *layer) link(name string) error {
	return l.add(tar.Header{Typeflag: tar.TypeSymlink, Name: name, Linkname: l.links[name], Mode: 0o777}, nil)
}

func (l *layer) text(name, contents string) error {
	return l.add(tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644, Size: int64(len(contents))}, strings.NewReader(contents))
}

// copy adds a file or a directory of this machine. All users can read it, and execute it if any user
// can.
func (l *layer) copy(name, from string) error {
	return filepath.WalkDir(from, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}

		rel, err := filepath.Rel(from, file)
		if err != nil {
			return err
		}

		if d.IsDir() {
			return l.directory(path.Join(name, rel), 0o755)
		}

		return l.copyFile(path.Join(name, rel), file)
	})
}

func (l *layer) copyFile(name, from string) error {
	f, err := os.Open(from) //nolint:gosec // The caller chooses the file.
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // It was read.

	info, err := f.Stat()
	if err != nil {
		return err
	}

	mode := int64(0o644)
	if info.Mode()&0o100 != 0 {
		mode = 0o755
	}

	return l.add(tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: mode, Size: info.Size()}, f)
}
