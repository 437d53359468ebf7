// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// essential are the packages of the Debian image that programs expect everywhere.
func essential() []string {
	return []string{"base-files", "bash", "coreutils", "dash", "findutils", "grep", "gzip", "libc-bin", "sed", "tar"}
}

// download downloads the named Debian packages, with the packages that they depend on, into the
// supplied directory. It returns the paths of all packages, in order. apt checks their
// signatures. Packages that are in the directory are not downloaded again.
func download(ctx context.Context, dir string, names ...string) ([]string, error) {
	if err := os.MkdirAll(filepath.Join(dir, "partial"), 0o755); err != nil { //nolint:gosec // There is nothing secret in an image.
		return nil, err
	}

	// apt leaves out the packages that it has: those of an empty directory are all.
	empty, err := os.MkdirTemp(dir, "empty-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(empty) //nolint:errcheck // It is empty.

	// The output has a line for each package: 'URL' FILE SIZE CHECKSUM.
	uris, err := command(ctx, "apt-get", append([]string{"--print-uris"}, install(empty, names)...)...)
	if err != nil {
		return nil, err
	}

	if _, err := command(ctx, "apt-get", append([]string{"--download-only"}, install(dir, names)...)...); err != nil {
		return nil, err
	}

	var paths []string

	for line := range strings.Lines(uris) {
		if fields := strings.Fields(line); len(fields) > 1 && strings.HasPrefix(line, "'") {
			paths = append(paths, filepath.Join(dir, fields[1]))
		}
	}

	slices.Sort(paths)

	return paths, nil
}

// install returns the arguments of apt-get that install packages. They are downloaded into the
// supplied directory.
func install(dir string, names []string) []string {
	return append([]string{
		"--quiet", "--quiet", "--yes", "--option=APT::Install-Recommends=false",
		// Nothing is installed: apt is to download the dependencies as well.
		"--option=Dir::State::status=/dev/null",
		"--option=Dir::Cache::archives=" + dir + "/",
		// The user _apt cannot write to the directory, and other users cannot lock the database.
		"--option=APT::Sandbox::User=",
		"--option=Debug::NoLocking=true",
		"install",
	}, names...)
}

func command(ctx context.Context, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...) //nolint:gosec // A program of Debian.

	var stderr bytes.Buffer

	cmd.Stderr = &stderr

	cmd.Env = append(os.Environ(), "LC_ALL=C")

	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %s: %w", name, strings.Join(args, " "), stderr.String(), err)
	}

	return string(out), nil
}

// unpack adds the files of a Debian package to the layer, and calls see with the name and the
// contents of each certificate.
func (l *layer) unpack(ctx context.Context, pkg string, certificate func([]byte)) error {
	cmd := exec.CommandContext(ctx, "dpkg-deb", "--fsys-tarfile", pkg) //nolint:gosec // A program of Debian.

	var stderr bytes.Buffer

	cmd.Stderr = &stderr

	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}

	if err := cmd.Start(); err != nil {
		return err
	}

	err = l.merge(tar.NewReader(out), certificate)
	_, rest := io.Copy(io.Discard, out)

	if err := errors.Join(err, rest, cmd.Wait()); err != nil {
		return fmt.Errorf("cannot unpack %s: %s: %w", pkg, stderr.String(), err)
	}

	return nil
}

// merge adds the entries of an archive to the layer, without documentation.
func (l *layer) merge(r *tar.Reader, certificate func([]byte)) error {
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}

		if err != nil {
			return err
		}

		name := strings.TrimPrefix(h.Name, "./")
		if isDocumentation(name) {
			continue
		}

		var contents io.Reader = r

		if strings.HasPrefix(name, certificates) && strings.HasSuffix(name, ".crt") {
			text, err := io.ReadAll(r)
			if err != nil {
				return err
			}

			certificate(text)

			contents = bytes.NewReader(text)
		}

		if err := l.add(*h, contents); err != nil {
			return err
		}
	}
}

// certificates is the directory of the authorities in the package ca-certificates.
const certificates = "usr/share/ca-certificates/"

// isDocumentation says whether the named file of a package is documentation or a translation.
// The terms of its license are part of the image.
func isDocumentation(name string) bool {
	if strings.HasPrefix(name, "usr/share/doc/") {
		return !strings.HasSuffix(name, "/copyright")
	}

	for _, dir := range []string{"man", "info", "locale", "lintian", "bug", "bash-completion", "gitweb"} {
		if strings.HasPrefix(name, "usr/share/"+dir+"/") {
			return true
		}
	}

	return false
}
