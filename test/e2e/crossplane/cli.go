// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package crossplane

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"

	gcr "github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/hack/image"
)

// A CLI is that of Crossplane.
type CLI struct {
	// Path of the program.
	Path string

	// Dir is the directory that it runs in.
	Dir string

	// Env is added to the environment.
	Env []string
}

// Run runs the CLI and returns its output.
func (c CLI) Run(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, c.Path, args...) //nolint:gosec // The caller chooses the program.
	cmd.Dir = c.Dir
	cmd.Env = append(cmd.Environ(), c.Env...)
	out, err := cmd.CombinedOutput()

	return string(out), errors.Wrapf(err, "crossplane %s: %s", strings.Join(args, " "), out)
}

// Publish builds the package in the directory package, as README.md says, and pushes it to a registry. The
// runtime is the image of the provider, and the reference has a tag. Files of the build are in dir.
func (c CLI) Publish(ctx context.Context, runtime v1.Image, reference, dir string) error {
	ref, err := gcr.NewTag(reference)
	if err != nil {
		return err
	}

	// Two versions of a package are the same if nothing in them differs.
	runtime, err = image.Label(runtime, map[string]string{"org.opencontainers.image.version": ref.TagStr()})
	if err != nil {
		return err
	}

	archive, pkg := filepath.Join(dir, "runtime.tar"), filepath.Join(dir, "provider-terraform.xpkg")
	if err := tarball.WriteToFile(archive, ref, runtime); err != nil {
		return errors.Wrap(err, "cannot write the image of the provider")
	}

	for _, args := range commands(archive, pkg, reference) {
		if _, err := c.Run(ctx, args...); err != nil {
			return err
		}
	}

	return nil
}

// commands returns the arguments that build and push a package.
func commands(archive, pkg, reference string) [][]string {
	return [][]string{
		{"xpkg", "build", "--package-root=package", "--embed-runtime-image-tarball=" + archive, "-o", pkg},
		{"xpkg", "push", "-f", pkg, reference},
	}
}
