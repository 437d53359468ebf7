// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	providerinstance "github.com/crossplane-contrib/provider-terraform/test/instance"
	"github.com/crossplane-contrib/provider-terraform/test/wait"
)

// A floor runs the bare CLI for modules that each have a directory: with the fewest possible runs,
// the same backend and the same flags as the provider.
type floor struct {
	*bench

	module string
	env    []string

	// workers is the number of modules that it works on at the same time.
	workers int

	mu    sync.Mutex
	spent spent
}

// newFloor returns a floor without a plugin cache. A cache is not for runs of init at the same time,
// and the mirror of plugins is as fast.
func (b *bench) newFloor(name, module string, workers int) (*floor, error) {
	env, err := providerinstance.Environ(filepath.Join(b.dir, "floor-"+name), b.plane.Kubeconfig)
	env = append(env, "TF_CLI_CONFIG_FILE="+b.cliConfig(), "TF_IN_AUTOMATION=1", "TF_INPUT=0", "CHECKPOINT_DISABLE=1")

	return &floor{bench: b, module: module, env: env, workers: workers}, err
}

func (f *floor) take() spent {
	f.mu.Lock()
	defer f.mu.Unlock()

	s := f.spent
	f.spent = spent{}

	return s
}

// each calls fn for all names, and counts the time that passes.
func (f *floor) each(ctx context.Context, names []string, fn func(context.Context, string) error) error {
	start := time.Now()
	err := each(ctx, f.workers, names, fn)
	f.spent.Wall += time.Since(start).Seconds()

	return err
}

// create the infrastructure of the named modules.
func (f *floor) create(ctx context.Context, names []string) error {
	return f.each(ctx, names, func(ctx context.Context, name string) error {
		dir := f.path(name)

		if err := errors.Join(
			os.MkdirAll(dir, 0o700),
			os.WriteFile(filepath.Join(dir, "main.tf"), []byte(f.module), 0o600),
			os.WriteFile(filepath.Join(dir, "backend.tf"), []byte(backend("floor")), 0o600),
			os.WriteFile(filepath.Join(dir, "terraform.tfvars"), []byte(`name = "`+name+`"`), 0o600),
		); err != nil {
			return err
		}

		// OpenTofu refuses to initialize for a workspace that is not there yet.
		if err := f.run(ctx, dir, "", "init", "-input=false", "-no-color"); err != nil {
			return err
		}

		if err := f.plan(ctx, name); err != nil {
			return err
		}

		return f.run(ctx, dir, name, "apply", "-json", "-input=false", "plan.out")
	})
}

func (f *floor) destroy(ctx context.Context, names []string) error {
	return f.each(ctx, names, func(ctx context.Context, name string) error {
		return f.run(ctx, f.path(name), name, "destroy", "-json", "-auto-approve", "-input=false")
	})
}

// poll plans for the named modules at the supplied rate, in plans per second.
func (f *floor) poll(ctx context.Context, names []string, rate float64) error {
	start := time.Now()

	return f.each(ctx, names, func(ctx context.Context, name string) error {
		due := start.Add(time.Duration(float64(slices.Index(names, name)) / rate * float64(time.Second)))
		if err := wait.For(ctx, time.Until(due)); err != nil {
			return err
		}

		return f.plan(ctx, name)
	})
}

func (f *floor) plan(ctx context.Context, name string) error {
	return f.run(ctx, f.path(name), name, "plan", "-json", "-detailed-exitcode", "-input=false", "-lock=false", "-out=plan.out")
}

func (f *floor) path(name string) string { return filepath.Join(f.dir, "floor", name) }

// run the CLI in a directory, for a Terraform workspace if it has a name.
func (f *floor) run(ctx context.Context, dir, workspace string, args ...string) error {
	cmd := exec.CommandContext(ctx, f.cli, args...) //nolint:gosec // It is the CLI.
	cmd.Dir = dir
	cmd.Env = f.env

	if workspace != "" {
		cmd.Env = append(slices.Clip(cmd.Env), "TF_WORKSPACE="+workspace)
	}

	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		return err
	}

	// A plan ends with 2 when there are changes.
	if code := cmd.ProcessState.ExitCode(); code != 0 && (args[0] != "plan" || code != 2) {
		return errors.Wrapf(err, "cannot %s: %s", args[0], out)
	}

	f.mu.Lock()
	defer f.mu.Unlock()

	f.spent.Runs++
	// It has its plugins in it: they end before it.
	f.spent.Children += (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()

	return nil
}
