// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package image builds images without a container engine: that of the provider, with what its
// Dockerfile says, and small ones of other programs. Two builds from the same inputs have the same
// digest.
package image

import (
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

// Provider builds the image that the supplied Dockerfile describes, with packages of this
// machine's Debian. The outputs are those of the first stage of the Dockerfile: programs, and the
// directory that hack/documents.sh has written for them. Downloads and layers are in the directory
// dir: a download is kept for the next build.
func Provider(ctx context.Context, dockerfile, dir string, outputs ...string) (v1.Image, error) {
	_, shipped, err := stages(dockerfile)
	if err != nil {
		return nil, err
	}

	names, err := shipped.packages()
	if err != nil {
		return nil, err
	}

	packages, err := download(ctx, filepath.Join(dir, "packages"), append(essential(), names...)...)
	if err != nil {
		return nil, err
	}

	return build(ctx, shipped, dir, packages, outputs)
}

func build(ctx context.Context, shipped stage, dir string, packages, outputs []string) (v1.Image, error) {
	config, err := shipped.config()
	if err != nil {
		return nil, err
	}

	base, err := newLayer(filepath.Join(dir, "base.tar.gz"), func(l *layer) error { return l.base(ctx, shipped, packages) })
	if err != nil {
		return nil, err
	}

	layers := []v1.Layer{base}

	// A layer for each of them: only the provider changes often.
	for _, o := range outputs {
		l, err := newLayer(filepath.Join(dir, filepath.Base(o)+".tar.gz"), func(l *layer) error { return l.output(o) })
		if err != nil {
			return nil, err
		}

		layers = append(layers, l)
	}

	return assemble(config, layers...)
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

	return assemble(v1.Config{Entrypoint: []string{entrypoint}, User: user}, l)
}

// assemble an image. The time of its creation is zero.
func assemble(config v1.Config, layers ...v1.Layer) (v1.Image, error) {
	img, err := mutate.AppendLayers(empty.Image, layers...)
	if err != nil {
		return nil, err
	}

	file, err := img.ConfigFile()
	if err != nil {
		return nil, err
	}

	file = file.DeepCopy()
	file.OS, file.Architecture, file.Config = "linux", runtime.GOARCH, config

	return mutate.ConfigFile(img, file)
}

// base writes what a container has apart from the programs.
func (l *layer) base(ctx context.Context, shipped stage, packages []string) error {
	// Packages may have files in both places.
	for _, dir := range []string{"bin", "sbin", "lib", "lib64"} {
		if err := errors.Join(l.directory("usr/"+dir, 0o755), l.link(dir, "usr/"+dir)); err != nil {
			return err
		}
	}

	var authorities strings.Builder

	for _, p := range packages {
		if err := l.unpack(ctx, p, func(c []byte) { authorities.Write(c) }); err != nil {
			return err
		}
	}

	// No script of a package runs, so what these would write comes here.
	return errors.Join(
		l.text("etc/ssl/certs/ca-certificates.crt", authorities.String()),
		l.users(shipped),
		l.directories(shipped),
	)
}

// output adds a program or the directory of documents.
func (l *layer) output(from string) error {
	if info, err := os.Stat(from); err == nil && info.IsDir() {
		return l.copy(documents, from)
	}

	return l.copy(path.Join("usr/local/bin", filepath.Base(from)), from)
}

func (l *layer) users(shipped stage) error {
	users, err := shipped.users()
	if err != nil {
		return err
	}

	names, groups := &strings.Builder{}, &strings.Builder{}

	fmt.Fprintln(names, "root:x:0:0:root:/root:/bin/bash")
	fmt.Fprintln(groups, "root:x:0:")

	for _, u := range users {
		fmt.Fprintf(names, "%s:x:%d:%d::%s:/usr/sbin/nologin\n", u.name, u.id, u.id, u.home)
		fmt.Fprintf(groups, "%s:x:%d:\n", u.name, u.id)
	}

	return errors.Join(l.text("etc/passwd", names.String()), l.text("etc/group", groups.String()))
}

func (l *layer) directories(shipped stage) error {
	paths, mode, err := shipped.directories()
	for _, p := range paths {
		err = errors.Join(err, l.directory(p, mode))
	}

	return err
}
