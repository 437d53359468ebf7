// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// Environment variables that say where the programs are that the benchmark needs.
const (
	envAssets = "KUBEBUILDER_ASSETS"
	envTofu   = "TOFU_BIN"
	envMirror = "PROVIDER_MIRROR"
)

// programs are the paths of what the benchmark runs.
type programs struct {
	// assets is the directory of etcd and kube-apiserver, crds that of our CRDs.
	assets, crds string

	provider, cli string

	// mirror is a directory of plugins, as the CLI's filesystem_mirror wants it.
	mirror string
}

// find finds all programs and builds the provider into the supplied directory. The
// benchmark has to be run at the root of the repository.
func find(ctx context.Context, dir string) (programs, error) {
	p := programs{crds: filepath.Join("package", "crds"), provider: filepath.Join(dir, "provider")}

	for name, path := range map[string]*string{envAssets: &p.assets, envTofu: &p.cli, envMirror: &p.mirror} {
		*path = os.Getenv(name)
		if _, err := os.Stat(*path); err != nil {
			return p, errors.Wrapf(err, "%s does not name what is there: run `make bench`, which builds what the benchmark needs", name)
		}
	}

	// As it is released: with nothing that tests add.
	out, err := exec.CommandContext(ctx, "go", "build", "-buildvcs=auto", "-o", p.provider, "./cmd/provider").CombinedOutput() //nolint:gosec // The path is ours.

	return p, errors.Wrapf(err, "cannot build the provider: %s", out)
}

// describe fills in what the report says about where and what it measured.
func (p programs) describe(ctx context.Context, r *report) error {
	version, err := firstLine(ctx, p.provider, "--version")
	if err != nil {
		return err
	}

	cli, err := firstLine(ctx, p.cli, "version")
	if err != nil {
		return err
	}

	before, err := load()
	r.Version, r.CLI = version, cli
	r.Machine = machine{CPU: cpuModel(), CPUs: runtime.NumCPU(), LoadBefore: before}

	return err
}

// firstLine returns the first line that a program prints.
func firstLine(ctx context.Context, path string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, path, args...) //nolint:gosec // One of ours.
	// A CLI configuration of this machine is none of ours.
	cmd.Env = []string{"CHECKPOINT_DISABLE=1"}
	out, err := cmd.CombinedOutput()
	line, _, _ := strings.Cut(string(out), "\n")

	return line, errors.Wrapf(err, "cannot run %q: %s", path, out)
}
