// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package image builds images without a container engine: that of the provider, with what its
// Dockerfile says, and small ones of other programs. Two builds from the same inputs have the same
// digest.
package image

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
)

// documents is the directory of the documents that hack/documents.sh writes.
const documents = "usr/share/doc/provider-terraform"

// Options of an image of the provider.
type Options struct {
	// Dockerfile is the path of the description of the image.
	Dockerfile string

	// Dir is the directory of downloads and layers. A download is kept for the next build.
	Dir string

	// Architecture of the image. The default is that of this machine.
	Architecture string

	// Base is the image in FROM of the shipped stage. The default is an image of this machine's Debian packages.
	Base v1.Image

	// Packages are the paths of the Debian packages that the image gets. By default, they are those that the
	// Dockerfile installs, and what these need beside the base. They are downloaded from the archive that the base
	// names.
	Packages []string
}

// Provider builds the image that a Dockerfile describes. The outputs are those of the first stage of the Dockerfile:
// programs, and the directory that hack/documents.sh has written for them.
func Provider(ctx context.Context, o Options, outputs ...string) (v1.Image, error) {
	_, shipped, err := stages(o.Dockerfile)
	if err != nil {
		return nil, err
	}

	if o.Architecture == "" {
		o.Architecture = runtime.GOARCH
	}

	if o.Base == nil {
		if o.Base, err = Debian(ctx, o.Dir, o.Architecture); err != nil {
			return nil, err
		}
	}

	known, err := readBase(o.Base)
	if err != nil {
		return nil, err
	}

	if o.Packages == nil {
		names, err := shipped.packages()
		if err != nil {
			return nil, err
		}

		a := apt{dir: filepath.Join(o.Dir, "packages"), architecture: o.Architecture, base: known}
		if o.Packages, err = a.download(ctx, names...); err != nil {
			return nil, err
		}
	}

	return build(ctx, o, shipped, known, outputs)
}

// Base returns the reference in FROM of the shipped stage of a Dockerfile.
func Base(dockerfile string) (string, error) {
	_, shipped, err := stages(dockerfile)
	if err != nil {
		return "", err
	}

	return shipped.all("FROM")[0], nil
}

func build(ctx context.Context, o Options, shipped stage, known base, outputs []string) (v1.Image, error) {
	from, err := o.Base.ConfigFile()
	if err != nil {
		return nil, err
	}

	config, err := shipped.config(from.Config)
	if err != nil {
		return nil, err
	}

	packages, err := newLayer(filepath.Join(o.Dir, "packages.tar.gz"), func(l *layer) error { return l.packages(ctx, shipped, known, o.Packages) })
	if err != nil {
		return nil, err
	}

	layers := []v1.Layer{packages}

	// A layer for each of them: only the provider changes often.
	for _, output := range outputs {
		l, err := newLayer(filepath.Join(o.Dir, filepath.Base(output)+".tar.gz"), func(l *layer) error { return l.output(output) })
		if err != nil {
			return nil, err
		}

		layers = append(layers, l)
	}

	return assemble(o.Base, o.Architecture, config, layers...)
}

// Files builds an image of files and directories of this machine, by their paths in the image. Its
// container runs the entrypoint as the user. The path is that of its layer.
func Files(layerPath, user, entrypoint string, files map[string]string) (v1.Image, error) {
	l, err := newLayer(layerPath, func(l *layer) error {
		var err error
		for _, to := range slices.Sorted(maps.Keys(files)) {
			err = errors.Join(err, l.copy(to, files[to]))
		}

		return err
	})
	if err != nil {
		return nil, err
	}

	return assemble(empty.Image, runtime.GOARCH, v1.Config{Entrypoint: []string{entrypoint}, User: user}, l)
}

// assemble an image on a base. The time of its creation is that of the base.
func assemble(from v1.Image, architecture string, config v1.Config, layers ...v1.Layer) (v1.Image, error) {
	img, err := mutate.AppendLayers(from, layers...)
	if err != nil {
		return nil, err
	}

	file, err := img.ConfigFile()
	if err != nil {
		return nil, err
	}

	file = file.DeepCopy()
	file.OS, file.Architecture, file.Config = "linux", architecture, config

	return mutate.ConfigFile(img, file)
}

// packages writes what a container has apart from its base and the programs.
func (l *layer) packages(ctx context.Context, shipped stage, known base, packages []string) error {
	l.merged()

	authorities, status, err := l.unpackAll(ctx, packages)
	if err != nil {
		return err
	}

	if authorities != "" {
		// No script of a package runs, so what these would write comes here.
		err = l.text("etc/ssl/certs/ca-certificates.crt", authorities)
	}

	return errors.Join(err, l.text(statusFile, known.status+status), l.users(shipped, known), l.directories(shipped), l.symlinks(shipped.links()))
}

// output adds a program or the directory of documents.
func (l *layer) output(from string) error {
	if info, err := os.Stat(from); err == nil && info.IsDir() {
		return l.copy(documents, from)
	}

	return l.copy(path.Join("usr/local/bin", filepath.Base(from)), from)
}

func (l *layer) users(shipped stage, known base) error {
	users, err := shipped.users()
	if err != nil {
		return err
	}

	names, groups := &strings.Builder{}, &strings.Builder{}

	fmt.Fprint(names, known.users)
	fmt.Fprint(groups, known.groups)

	for _, u := range users {
		fmt.Fprintf(names, "%s:x:%d:%d::%s:/usr/sbin/nologin\n", u.name, u.id, u.id, u.home)
		fmt.Fprintf(groups, "%s:x:%d:\n", u.name, u.id)
	}

	return errors.Join(l.text(usersFile, names.String()), l.text(groupsFile, groups.String()))
}

func (l *layer) directories(shipped stage) error {
	paths, mode, err := shipped.directories()
	for _, p := range paths {
		err = errors.Join(err, l.directory(p, mode))
	}

	return err
}

// symlinks adds links that replace those of the base.
func (l *layer) symlinks(links map[string]string) error {
	var err error
	for _, name := range slices.Sorted(maps.Keys(links)) {
		err = errors.Join(err, l.add(tar.Header{Typeflag: tar.TypeSymlink, Name: name, Linkname: links[name], Mode: 0o777}, nil))
	}

	return err
}
