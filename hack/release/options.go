// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
)

// The name of the package in a registry, and in the names of files.
const packageName = "provider-terraform"

// basePackages stands for a base of this machine's Debian packages.
const basePackages = "packages"

// options of the program.
type options struct {
	// version has the form vX.Y.Z.
	version string

	// registry is the host and the path of the registry in which the package is. It may be empty without push.
	registry string

	// push says whether the release is pushed and signed.
	push bool

	// key is the path or the URI of the key that signs. Without it, keyless signs with the identity of the CI job.
	key     string
	keyless bool

	// tlog says whether signatures are entered into the public transparency log.
	tlog bool

	// base is the image in FROM of the Dockerfile: a reference, a directory with an OCI layout, or basePackages.
	base string

	// check is only the check of what can be checked without tools, because to build these takes minutes.
	check bool

	// root of the repository, and out the directory of the release and of caches.
	root, out string

	// Paths of programs.
	crossplane, cosign, cyclonedx string

	// outputs returns the paths of the programs in the image for an architecture, and that of their documents. A test
	// has small ones.
	outputs func(ctx context.Context, r *release, architecture string) ([]string, error)

	// packages are those of image.Options.
	packages []string
}

func parseOptions(args []string) (*options, error) {
	o := &options{}

	f := flag.NewFlagSet("release", flag.ContinueOnError)
	f.StringVar(&o.version, "version", "", "the `version`, vX.Y.Z")
	f.StringVar(&o.registry, "registry", "", "the `registry` with the path in which the package is")
	f.BoolVar(&o.push, "push", true, "push the release and sign it; false only builds it")
	f.StringVar(&o.key, "key", "", "the `path` or URI of the key of cosign that signs")
	f.BoolVar(&o.keyless, "keyless", false, "sign with the identity of the CI job instead of a key")
	f.BoolVar(&o.tlog, "tlog", true, "enter the signatures into the public transparency log")
	f.StringVar(&o.base, "base", "", "the `image` to build on: a reference, a directory with an OCI layout, or "+basePackages+
		" for one of this machine's Debian packages; by default the one in the Dockerfile")
	f.BoolVar(&o.check, "check", false, "only check what needs no tools")
	f.StringVar(&o.root, "root", ".", "the `directory` of the repository")
	f.StringVar(&o.out, "out", "_output/release", "a `directory` for the release and for caches")
	f.StringVar(&o.crossplane, "crossplane", "", "the `path` of Crossplane's CLI")
	f.StringVar(&o.cosign, "cosign", "", "the `path` of cosign")
	f.StringVar(&o.cyclonedx, "cyclonedx-gomod", "", "the `path` of cyclonedx-gomod")

	if err := f.Parse(args); err != nil {
		return nil, err
	}

	if f.NArg() > 0 {
		return nil, fmt.Errorf("%q is an argument, want only flags", f.Arg(0))
	}

	return o, o.resolve()
}

// resolve makes all paths absolute: programs run in other directories.
func (o *options) resolve() error {
	paths := []*string{&o.root, &o.out, &o.crossplane, &o.cosign, &o.cyclonedx}

	if o.key != "" && !isURI(o.key) {
		paths = append(paths, &o.key)
	}

	for _, path := range paths {
		if *path == "" {
			continue
		}

		abs, err := filepath.Abs(*path)
		if err != nil {
			return err
		}

		*path = abs
	}

	return nil
}

// isURI says whether a key is one of a key management service.
func isURI(key string) bool { return strings.Contains(key, "://") }

// validate checks the options by themselves.
func (o *options) validate() error {
	if !regexp.MustCompile(`^v(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)$`).MatchString(o.version) {
		return fmt.Errorf("VERSION is %q, want vX.Y.Z: run make release VERSION=v0.1.0", o.version)
	}

	if !o.push {
		return nil
	}

	if o.registry == "" {
		return errors.New("REGISTRY is not set, want a registry with a path such as registry.example.org/crossplane-contrib; ARGS=-push=false builds without one")
	}

	if _, err := o.repository(); err != nil {
		return fmt.Errorf("REGISTRY is %q, want a registry with a path such as registry.example.org/crossplane-contrib: %w", o.registry, err)
	}

	return o.validateSigner()
}

// validateSigner checks who signs.
func (o *options) validateSigner() error {
	switch {
	case o.key != "" && o.keyless:
		return fmt.Errorf("KEY is %q and KEYLESS is set, want one of them", o.key)
	case o.key == "" && !o.keyless:
		return errors.New("KEY is not set, want the key that signs: run cosign generate-key-pair and set KEY=cosign.key, or set KEYLESS=1 in a CI job")
	case o.keyless && os.Getenv("SIGSTORE_ID_TOKEN") == "" && os.Getenv("ACTIONS_ID_TOKEN_REQUEST_TOKEN") == "":
		return errors.New("KEYLESS is set, but this job has no identity: give a job of GitHub the permission id-token: write, or set SIGSTORE_ID_TOKEN")
	case o.keyless && !o.tlog:
		return errors.New("KEYLESS is set and -tlog=false, but only the transparency log says when a signature without a key was made: remove -tlog=false")
	case o.keyless || isURI(o.key):
		return nil
	}

	if _, err := os.Stat(o.key); err != nil { //nolint:gosec // The user chooses the key.
		return fmt.Errorf("KEY names no key: %w", err)
	}

	if _, ok := os.LookupEnv("COSIGN_PASSWORD"); !ok {
		return fmt.Errorf("COSIGN_PASSWORD is not set, want the password of KEY %q: export it, also if it is empty", o.key)
	}

	return nil
}

// repository returns the repository of the package.
func (o *options) repository() (name.Repository, error) {
	if strings.Contains(o.registry, "://") {
		return name.Repository{}, errors.New("it is a URL")
	}

	return name.NewRepository(o.registry+"/"+packageName, name.StrictValidation)
}

// tag returns the reference of the release.
func (o *options) tag() (name.Tag, error) {
	repository, err := o.repository()

	return repository.Tag(o.version), err
}

// dir is the directory of the files of the release.
func (o *options) dir() string { return filepath.Join(o.out, o.version) }

// file returns the path of a file of the release.
func (o *options) file(name string) string { return filepath.Join(o.dir(), name) }
