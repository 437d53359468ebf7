// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gofrs/flock"
	gcr "github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/hack/image"
	"github.com/crossplane-contrib/provider-terraform/test/e2e/sandbox"
)

// prepare prepares this machine and runs a story. On a node it does that in a sandbox, and checks that nothing of it
// remains.
func prepare(ctx context.Context, o *options, args []string, out io.Writer) error {
	if err := o.checkMachine(out); err != nil {
		return err
	}

	lock := flock.New(filepath.Join(o.out, "lock"))

	switch locked, err := lock.TryLock(); {
	case err != nil:
		return err
	case !locked:
		return errors.Errorf("another make e2e runs in %s", o.out)
	}
	defer lock.Close() //nolint:errcheck // The process ends.

	if err := os.RemoveAll(o.logs()); err != nil { //nolint:gosec // The user chooses the directory.
		return err
	}

	began := time.Now()

	if err := o.buildRuntime(ctx); err != nil {
		return errors.Wrap(err, "cannot build the image of the provider")
	}

	printStep(out, "build the image of the provider", began)

	if o.level == levelProcesses {
		return errors.Wrapf(o.tellHere(ctx, out), "logs are in %s", o.logs())
	}

	err := sandbox.Run(ctx, sandbox.Options{Dir: o.dir(), Logs: o.logs(), Cgroup: o.cgroup()}, append(slices.Clone(args), "-inside")...)

	return errors.Wrapf(err, "logs are in %s", o.logs())
}

// tellHere runs a story without a sandbox.
func (o *options) tellHere(ctx context.Context, out io.Writer) (err error) {
	if err := os.RemoveAll(o.dir()); err != nil { //nolint:gosec // The user chooses the directory.
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(o.dir())) }() //nolint:gosec // As above.

	for _, dir := range []string{o.dir(), o.logs()} {
		if err := os.MkdirAll(dir, 0o700); err != nil { //nolint:gosec // As above.
			return err
		}
	}

	return tell(ctx, o, out)
}

// buildRuntime builds the image of the provider.
func (o *options) buildRuntime(ctx context.Context) error {
	img, err := o.runtimeImage(ctx)
	if err != nil {
		return err
	}

	tag, err := gcr.NewTag("provider-terraform:latest")
	if err != nil {
		return err
	}

	return tarball.WriteToFile(o.runtime(), tag, img)
}

// runtimeImage returns the image of the provider, with the packages of this machine's Debian. If no container runs, it
// has only the provider.
func (o *options) runtimeImage(ctx context.Context) (v1.Image, error) {
	cache := filepath.Dir(o.runtime())

	if o.level == levelProcesses {
		program := "usr/local/bin/" + filepath.Base(o.tools.provider)

		return image.Files(filepath.Join(cache, "provider.tar.gz"), "65532", "/"+program, map[string]string{program: o.tools.provider})
	}

	dockerfile := filepath.Join(o.root, "cluster", "images", "provider-terraform", "Dockerfile")

	return image.Provider(ctx, image.Options{Dockerfile: dockerfile, Dir: cache}, o.tools.provider, o.tools.fetch, o.tools.terraform, o.tools.tofu, o.tools.documents)
}

// dir is the directory of the files of a run.
func (o *options) dir() string { return filepath.Join(o.out, "node") }

// cgroup returns a name that is always the same for the same directory, so that the next run removes what
// a killed one has left.
func (o *options) cgroup() string {
	h := fnv.New32a()
	h.Write([]byte(o.out))

	return fmt.Sprintf("provider-terraform-e2e-%08x", h.Sum32())
}

// printStep prints a step and the time that it has taken.
func printStep(out io.Writer, name string, began time.Time) {
	fmt.Fprintf(out, "%-72s %6.1f s\n", name, time.Since(began).Seconds())
}
