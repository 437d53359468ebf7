// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
)

// Files of a base that an image builds on.
const (
	usersFile  = "etc/passwd"
	groupsFile = "etc/group"

	// statusFile is dpkg's list of the packages in the image. Scanners read it.
	statusFile = "var/lib/dpkg/status"

	// sourcesFile names the archive of the packages, and the keys that sign it.
	sourcesFile = "etc/apt/sources.list.d/debian.sources"

	keyrings = "usr/share/keyrings/"
)

// A base has the files of a base image that an image builds on.
type base struct {
	users, groups, status, sources string

	// keys are the contents of key rings by their paths.
	keys map[string]string
}

// readBase reads a base image.
func readBase(img v1.Image) (base, error) {
	b := base{keys: map[string]string{}}
	texts := map[string]*string{usersFile: &b.users, groupsFile: &b.groups, statusFile: &b.status, sourcesFile: &b.sources}

	r := mutate.Extract(img)
	defer r.Close() //nolint:errcheck // It was read.

	for archive := tar.NewReader(r); ; {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}

		if err != nil {
			return b, fmt.Errorf("cannot read the base image: %w", err)
		}

		name := path.Clean(h.Name)
		to, isText := texts[name]

		if h.Typeflag != tar.TypeReg || !isText && !strings.HasPrefix(name, keyrings) {
			continue
		}

		text, err := io.ReadAll(archive)
		if err != nil {
			return b, fmt.Errorf("cannot read %s of the base image: %w", name, err)
		}

		if isText {
			*to = string(text)
		} else {
			b.keys["/"+name] = string(text)
		}
	}

	for name, text := range texts {
		if *text == "" {
			return b, fmt.Errorf("the base image has no /%s: want an image of Debian", name)
		}
	}

	// There is an empty line after each package.
	b.status = strings.TrimRight(b.status, "\n") + "\n\n"

	return b, nil
}

// Debian builds an image of Debian packages that stands in for that of Debian where no registry can be reached. The
// packages are those of the archive that this machine uses.
func Debian(ctx context.Context, dir, architecture string) (v1.Image, error) {
	b, err := thisMachine()
	if err != nil {
		return nil, err
	}

	a := apt{dir: filepath.Join(dir, "packages"), architecture: architecture, base: b}

	packages, err := a.download(ctx, essential()...)
	if err != nil {
		return nil, err
	}

	l, err := newLayer(filepath.Join(dir, "base.tar.gz"), func(l *layer) error { return l.debian(ctx, b, packages) })
	if err != nil {
		return nil, err
	}

	config := v1.Config{Env: []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}}

	return assemble(empty.Image, architecture, config, l)
}

// thisMachine returns the base that has no packages, and the archive and the keys of this machine.
func thisMachine() (base, error) {
	b := base{users: "root:x:0:0:root:/root:/bin/bash\n", groups: "root:x:0:\n", keys: map[string]string{}}

	sources, err := os.ReadFile("/" + sourcesFile)
	if err != nil {
		return b, fmt.Errorf("cannot read the archive that this machine uses: want a Debian with /%s: %w", sourcesFile, err)
	}

	// The snapshot is that of this machine's image, which may be old.
	b.sources = snapshot().ReplaceAllString(string(sources), "$2")

	rings, err := filepath.Glob("/" + keyrings + "debian-archive-*")
	for _, ring := range rings {
		text, failed := os.ReadFile(ring) //nolint:gosec // A key ring of Debian.
		err = errors.Join(err, failed)
		b.keys[ring] = string(text)
	}

	return b, err
}

// debian writes the files of an image of Debian.
func (l *layer) debian(ctx context.Context, b base, packages []string) error {
	l.merged()

	for _, dir := range slices.Sorted(maps.Keys(l.links)) {
		if err := errors.Join(l.directory(l.links[dir], 0o755), l.link(dir)); err != nil {
			return err
		}
	}

	_, status, err := l.unpackAll(ctx, packages)
	err = errors.Join(err, l.text(usersFile, b.users), l.text(groupsFile, b.groups), l.text(statusFile, b.status+status), l.text(sourcesFile, b.sources))

	for _, key := range slices.Sorted(maps.Keys(b.keys)) {
		err = errors.Join(err, l.text(key, b.keys[key]))
	}

	return err
}
