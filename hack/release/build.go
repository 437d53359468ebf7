// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"github.com/crossplane-contrib/provider-terraform/hack/image"
)

// architectures of the images, all of which run Linux.
func architectures() []string { return []string{"amd64", "arm64"} }

// Files of a release, beside the packages and the SBOMs.
const (
	// layoutDir is the directory with the index of the packages, as an OCI layout.
	layoutDir = "oci"

	notesFile     = "notes.md"
	publicKeyFile = "cosign.pub"
	checksumsFile = "SHA256SUMS"
)

// step prints a step and the time that it has taken.
func (r *release) step(what string, do func() error) error {
	began := time.Now()

	if err := do(); err != nil {
		return fmt.Errorf("cannot %s: %w", what, err)
	}

	fmt.Fprintf(r.log, "%-72s %6.1f s\n", what, time.Since(began).Seconds())

	return nil
}

// build builds the files of the release. It returns the index of the packages.
func (r *release) build(ctx context.Context) (index v1.ImageIndex, err error) {
	if err := os.RemoveAll(r.dir()); err != nil {
		return nil, err
	}

	if err := os.MkdirAll(r.dir(), 0o755); err != nil { //nolint:gosec // There is nothing secret in a release.
		return nil, err
	}

	if err := r.step("clone commit "+r.commit, func() error { return r.clone(ctx) }); err != nil {
		return nil, err
	}

	var packages []string

	for _, architecture := range architectures() {
		pkg, err := r.buildPackage(ctx, architecture)
		if err != nil {
			return nil, err
		}

		packages = append(packages, pkg)
	}

	if err := r.step("combine the packages", func() error { return r.combine(ctx, packages) }); err != nil {
		return nil, err
	}

	if index, err = image.OpenLayout(r.file(layoutDir)); err != nil {
		return nil, err
	}

	return index, r.document(index)
}

// source is the directory of a clone of the commit. Nothing that is not committed gets into a release, and the version
// in the programs is that of the tag, which may not exist yet in the repository.
func (r *release) source() string { return filepath.Join(r.out, "source") }

func (r *release) clone(ctx context.Context) error {
	if err := os.RemoveAll(r.source()); err != nil { //nolint:gosec // The user chooses the directory.
		return err
	}

	for _, args := range [][]string{
		{"clone", "--quiet", "--no-checkout", r.root, r.source()},
		{"-C", r.source(), "checkout", "--quiet", "--detach", r.commit},
		{"-C", r.source(), "-c", "tag.gpgSign=false", "tag", "--force", r.version, r.commit},
	} {
		if _, err := r.git(ctx, args...); err != nil {
			return err
		}
	}

	return nil
}

// buildPackage builds the package for an architecture, and returns its path.
func (r *release) buildPackage(ctx context.Context, architecture string) (string, error) {
	var outputs []string

	platform := "linux/" + architecture

	if err := r.step("build the programs for "+platform, func() (err error) {
		outputs, err = r.outputs(ctx, r, architecture)

		return err
	}); err != nil {
		return "", err
	}

	dir := filepath.Join(r.out, "image", architecture)
	runtime, pkg := filepath.Join(dir, "runtime.tar"), r.file(fmt.Sprintf("%s-%s-linux-%s.xpkg", packageName, r.version, architecture))

	if err := r.step("build the image for "+platform, func() error { return r.buildRuntime(ctx, architecture, dir, runtime, outputs) }); err != nil {
		return "", err
	}

	return pkg, r.step("build the package for "+platform, func() error {
		_, err := run(ctx, r.source(), nil, r.crossplane, "xpkg", "build", "--package-root=package", "--embed-runtime-image-tarball="+runtime, "-o", pkg)

		return errors.Join(err, r.copySBOMs(architecture, outputs))
	})
}

// buildRuntime builds the image of the provider.
func (r *release) buildRuntime(ctx context.Context, architecture, dir, to string, outputs []string) error {
	img, err := image.Provider(ctx, image.Options{
		Dockerfile: r.dockerfile(r.source()), Dir: dir, Architecture: architecture, Base: r.bases[architecture], Packages: r.packages,
	}, outputs...)
	if err != nil {
		return err
	}

	labels := map[string]string{
		"org.opencontainers.image.version": r.version,
		"org.opencontainers.image.created": r.created.Format(time.RFC3339),
		labelRevision:                      r.commit,
	}

	maps.Copy(labels, r.labels)

	if img, err = image.Label(img, labels); err != nil {
		return err
	}

	if img, err = mutate.CreatedAt(img, v1.Time{Time: r.created}); err != nil {
		return err
	}

	tag, err := name.NewTag(packageName + ":" + r.version)
	if err != nil {
		return err
	}

	return tarball.WriteToFile(to, tag, img)
}

// sbom returns the name of the file with the SBOM of a program.
func (r *release) sbom(architecture, program string) string {
	return fmt.Sprintf("%s-%s-linux-%s-%s.cdx.json", packageName, r.version, architecture, program)
}

// copySBOMs copies the SBOMs in the documents, which are in the image, to the files of the release.
func (r *release) copySBOMs(architecture string, outputs []string) error {
	documents := outputs[len(outputs)-1]

	for _, program := range outputs[:len(outputs)-1] {
		program = filepath.Base(program)

		text, err := os.ReadFile(filepath.Join(documents, "sbom", program+".cdx.json")) //nolint:gosec // hack/documents.sh has written it.
		if err != nil {
			return err
		}

		if err := os.WriteFile(r.file(r.sbom(architecture, program)), text, 0o644); err != nil { //nolint:gosec // There is nothing secret in it.
			return err
		}
	}

	return nil
}

// combine combines the packages into an index. Crossplane's CLI does that when it pushes them, so it pushes them to a
// registry in this process.
func (r *release) combine(ctx context.Context, packages []string) error {
	blobs := filepath.Join(r.out, "image", "registry")
	if err := os.RemoveAll(blobs); err != nil { //nolint:gosec // The user chooses the directory.
		return err
	}

	if err := os.MkdirAll(blobs, 0o755); err != nil { //nolint:gosec // There is nothing secret in a release.
		return err
	}

	server := httptest.NewServer(registry.New(registry.WithBlobHandler(registry.NewDiskBlobHandler(blobs)), registry.Logger(discard())))
	defer server.Close()

	tag, err := name.NewTag(strings.TrimPrefix(server.URL, "http://") + "/" + packageName + ":" + r.version)
	if err != nil {
		return err
	}

	if _, err := run(ctx, r.source(), nil, r.crossplane, "xpkg", "push", "-f", strings.Join(packages, ","), tag.String()); err != nil {
		return err
	}

	index, err := remote.Index(tag, remote.WithContext(ctx))
	if err != nil {
		return err
	}

	return image.WriteLayout(r.file(layoutDir), index)
}

// document writes the notes of the release and the checksums of its files.
func (r *release) document(index v1.ImageIndex) error {
	digest, err := index.Digest()
	if err != nil {
		return err
	}

	img, err := image.ForArchitecture(index, architectures()[0])
	if err != nil {
		return err
	}

	file, err := img.ConfigFile()
	if err != nil {
		return err
	}

	notes := absolute(r.notes, file.Config.Labels["org.opencontainers.image.source"], r.version)

	if r.push {
		tag, err := r.tag()
		if err != nil {
			return err
		}

		notes += fmt.Sprintf("\n### Package\n\n    %s@%s\n", tag, digest)
	}

	if err := os.WriteFile(r.file(notesFile), []byte(notes), 0o644); err != nil { //nolint:gosec // There is nothing secret in them.
		return err
	}

	if r.publicKey != "" {
		if err := os.WriteFile(r.file(publicKeyFile), []byte(r.publicKey), 0o644); err != nil { //nolint:gosec // It is public.
			return err
		}
	}

	fmt.Fprintf(r.log, "%s %s\n", r.version, digest)

	return r.sum()
}

// sum writes the checksums of all files.
func (r *release) sum() error {
	entries, err := os.ReadDir(r.dir())
	if err != nil {
		return err
	}

	sums := &strings.Builder{}

	for _, e := range entries {
		if e.IsDir() {
			continue
		}

		data, err := os.ReadFile(r.file(e.Name())) //nolint:gosec // The user chooses the directory.
		if err != nil {
			return err
		}

		fmt.Fprintf(sums, "%x  %s\n", sha256.Sum256(data), e.Name())
	}

	return os.WriteFile(r.file(checksumsFile), []byte(sums.String()), 0o644) //nolint:gosec // There is nothing secret in them.
}
