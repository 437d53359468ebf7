// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// essential are the packages of the Debian image that programs expect everywhere.
func essential() []string {
	return []string{"base-files", "bash", "coreutils", "dash", "findutils", "grep", "gzip", "libc-bin", "sed", "tar"}
}

// apt downloads packages from the archive that a base names, as apt-get does in a container of the base.
type apt struct {
	// dir is the directory of the packages.
	dir string

	// architecture of the packages.
	architecture string

	base base
}

// snapshot matches the URL of an archive that does not change any more and the line after it, which has that of the
// archive that it was taken from. The images of Debian have such a comment.
func snapshot() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^# (https?://snapshot\.\S+)\n(URIs: .*)$`)
}

// download downloads the named Debian packages, with the packages that they depend on and that the base does not
// have. It returns the paths of all packages, in order. apt checks their signatures. What is in the directory is not
// downloaded again.
func (a apt) download(ctx context.Context, names ...string) ([]string, error) {
	sources := snapshot().ReplaceAllString(a.base.sources, "URIs: $1")
	state := filepath.Join(a.dir, fmt.Sprintf("%.6x", sha256.Sum256([]byte(a.architecture+sources))))
	lists := filepath.Join(state, "lists")

	_, missing := os.Stat(lists)
	if err := a.prepare(state, lists, sources); err != nil {
		return nil, err
	}

	options := a.options(state, lists)

	if missing == nil {
		if paths, err := a.fetch(ctx, options, names); err == nil {
			return paths, nil
		}

		// The archive has other versions by now.
	}

	if _, err := command(ctx, "apt-get", append(slices.Clone(options), "update")...); err != nil {
		return nil, errors.Join(err, os.RemoveAll(lists))
	}

	return a.fetch(ctx, options, names)
}

// prepare writes the files that apt reads.
func (a apt) prepare(state, lists, sources string) error {
	for _, dir := range []string{filepath.Join(a.dir, "partial"), filepath.Join(lists, "partial"), filepath.Join(state, "sources"), filepath.Join(state, "keys")} {
		if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // There is nothing secret in an image.
			return err
		}
	}

	for path, text := range a.base.keys {
		key := filepath.Join(state, "keys", filepath.Base(path))
		if err := os.WriteFile(key, []byte(text), 0o600); err != nil {
			return err
		}

		sources = strings.ReplaceAll(sources, path, key)
	}

	return errors.Join(
		os.WriteFile(filepath.Join(state, "sources", "debian.sources"), []byte(sources), 0o600),
		os.WriteFile(filepath.Join(state, "status"), []byte(a.base.status), 0o600),
	)
}

// options of apt-get with which nothing depends on this machine, and nothing of it changes.
func (a apt) options(state, lists string) []string {
	return []string{
		"--quiet", "--quiet", "--yes",
		"--option=APT::Architecture=" + a.architecture,
		"--option=APT::Architectures=" + a.architecture,
		"--option=APT::Install-Recommends=false",
		"--option=Acquire::Languages=none",
		"--option=Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false",
		// The signature of a snapshot is older than it may be. Its URL has the date.
		"--option=Acquire::Check-Valid-Until=" + strconv.FormatBool(!snapshot().MatchString(a.base.sources)),
		"--option=Dir::Etc::sourcelist=/dev/null",
		"--option=Dir::Etc::sourceparts=" + filepath.Join(state, "sources"),
		"--option=Dir::State::lists=" + lists + "/",
		// Nothing is installed: apt is to download the dependencies that the base does not have.
		"--option=Dir::State::status=" + filepath.Join(state, "status"),
		"--option=Dir::Cache::pkgcache=",
		"--option=Dir::Cache::srcpkgcache=",
		// The user _apt cannot write to the directory, and other users cannot lock the database.
		"--option=APT::Sandbox::User=",
		"--option=Debug::NoLocking=true",
	}
}

func (a apt) fetch(ctx context.Context, options, names []string) ([]string, error) {
	// apt leaves out the packages that it has: those of an empty directory are all.
	empty, err := os.MkdirTemp(a.dir, "empty-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(empty) //nolint:errcheck // It is empty.

	install := func(action, dir string) []string {
		return slices.Concat(options, []string{action, "--option=Dir::Cache::archives=" + dir + "/", "install"}, names)
	}

	// The output has a line for each package: 'URL' FILE SIZE CHECKSUM.
	uris, err := command(ctx, "apt-get", install("--print-uris", empty)...)
	if err != nil {
		return nil, err
	}

	if _, err := command(ctx, "apt-get", install("--download-only", a.dir)...); err != nil {
		return nil, err
	}

	var paths []string

	for line := range strings.Lines(uris) {
		if fields := strings.Fields(line); len(fields) > 1 && strings.HasPrefix(line, "'") {
			paths = append(paths, filepath.Join(a.dir, fields[1]))
		}
	}

	slices.Sort(paths)

	return paths, nil
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

// unpackAll adds the files of Debian packages to the layer. It returns the certificates of authorities in them, and
// their entries in dpkg's list of packages.
func (l *layer) unpackAll(ctx context.Context, packages []string) (authorities, status string, err error) {
	var certificates, entries strings.Builder

	for _, p := range packages {
		if err := l.unpack(ctx, p, func(c []byte) { certificates.Write(c) }); err != nil {
			return "", "", err
		}

		fields, err := command(ctx, "dpkg-deb", "--field", p)
		if err != nil {
			return "", "", err
		}

		fmt.Fprintf(&entries, "Status: install ok installed\n%s\n", fields)
	}

	return certificates.String(), entries.String(), nil
}

// unpack adds the files of a Debian package to the layer, and calls certificate with the contents of each certificate.
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
