// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	providerinstance "github.com/crossplane-contrib/provider-terraform/test/instance"
	"github.com/crossplane-contrib/provider-terraform/test/process"
	"github.com/crossplane-contrib/provider-terraform/test/program"
	"github.com/crossplane-contrib/provider-terraform/test/wait"
)

// existingPollRate is how many polls per second the existing provider makes: it keeps up on two CPUs.
const existingPollRate = 1

// minExistingInterval is the shortest interval of its polls.
const minExistingInterval = 30 * time.Second

// existing measures the work of the part about cost again, by the existing provider-terraform. It runs
// the same CLI, as many at the same time.
func (b *bench) existing(ctx context.Context, r *report) error {
	path, err := program.Find("EXISTING_PROVIDER", "bench")
	if err != nil {
		return err
	}

	for _, m := range costModules() {
		e := &existing{bench: b, path: path, dir: filepath.Join(b.dir, "existing-"+m.name), module: m.name, names: namesOf("existing-"+m.name[:4], max(b.workspaces/2, 1))}
		if err := e.measure(ctx, m.text, r); err != nil {
			return errors.Wrap(err, m.name)
		}
	}

	return nil
}

// An existing measures the cost of the Workspaces of one module with the existing provider.
type existing struct {
	*bench

	path, dir, module string
	names             []string
}

func (e *existing) measure(ctx context.Context, text string, r *report) error {
	if err := e.installCLI(); err != nil {
		return err
	}

	// All Workspaces are polled at the same time, and have to be quiet in between.
	interval := max(time.Duration(len(e.names))*time.Second/existingPollRate, minExistingInterval)

	var took []time.Duration

	for _, p := range []struct {
		phase string
		poll  time.Duration
		there int
		work  func(p *process.Process) error
	}{
		{phase: creation, poll: never, work: func(p *process.Process) (err error) {
			if took, err = e.untilReady(ctx, workspacesOf(e.names, text)); err != nil {
				return err
			}

			return e.settle(ctx, p, 0)
		}},
		{phase: polling, poll: interval, there: len(e.names), work: func(*process.Process) error {
			return wait.For(ctx, time.Duration(e.polls)*interval)
		}},
		{phase: deletion, poll: never, there: len(e.names), work: func(*process.Process) error { return e.untilGone(ctx) }},
	} {
		e.sayf("%s: %s of %d Workspaces by the existing provider", e.module, p.phase, len(e.names))

		before, after, err := e.run(ctx, p.poll, p.there, p.work)
		if err != nil {
			return errors.Wrap(err, p.phase)
		}

		measured := cost{Module: e.module, Phase: p.phase, Workspaces: len(e.names), Workers: costWorkers, Times: 1, Instance: after.since(before)}

		switch p.phase {
		case creation:
			measured.Instance.Wall = slices.Max(took).Seconds()
		case polling:
			measured.Times = (after.plans - before.plans) / float64(len(e.names))
		}

		r.Existing = append(r.Existing, measured)
	}

	return nil
}

// installCLI makes a program terraform, the name of the only CLI that the existing provider runs. It
// adds a line to a file, because the metrics do not count runs, and is then replaced by the CLI. That
// finds its plugins in the home directory: each init has a CLI configuration of the existing provider's own.
func (e *existing) installCLI() error {
	script := fmt.Sprintf("#!/bin/sh\necho \"$*\" >>%q\nexec %q \"$@\"\n", e.runs(), e.cli)
	plugins := filepath.Join(e.dir, "home", ".terraform.d", "plugins")

	return errors.Join(
		os.MkdirAll(e.pluginCache(), 0o700),
		os.MkdirAll(filepath.Dir(plugins), 0o700),
		os.Symlink(e.mirror, plugins),
		os.WriteFile(filepath.Join(e.dir, "terraform"), []byte(script), 0o700), //nolint:gosec // It is a program.
		os.WriteFile(e.runs(), nil, 0o600),
	)
}

func (e *existing) pluginCache() string { return filepath.Join(e.dir, "plugin-cache") }

func (e *existing) runs() string { return filepath.Join(e.dir, "runs") }

// run starts the existing provider, waits until it has planned what is there, and returns what it has used before and after the work.
func (e *existing) run(ctx context.Context, poll time.Duration, there int, work func(*process.Process) error) (before, after reading, err error) {
	env, err := providerinstance.Environ(e.dir, e.plane.Kubeconfig)
	if err != nil {
		return before, after, err
	}

	env = append(env, "PATH="+e.dir+":"+os.Getenv("PATH"), "TF_PLUGIN_CACHE_DIR="+e.pluginCache())

	p, err := process.Start("existing provider", filepath.Join(e.dir, "log"), env, e.path, "--poll="+poll.String(), "--poll-jitter=0s", fmt.Sprintf("--max-reconcile-rate=%d", costWorkers))
	if err != nil {
		return before, after, err
	}
	defer p.Kill()

	if before, err = e.read(p); err != nil {
		return before, after, err
	}

	if err := e.settle(ctx, p, before.plans+float64(there)); err != nil {
		return before, after, err
	}

	if before, err = e.read(p); err != nil {
		return before, after, err
	}

	if err := work(p); err != nil {
		return before, after, err
	}

	after, err = e.read(p)

	return before, after, errors.Join(err, p.Terminate(wait.Patience))
}

func (e *existing) read(p *process.Process) (reading, error) {
	r := reading{at: time.Now()}

	lines, err := os.ReadFile(e.runs())
	if err != nil {
		return r, err
	}

	r.Runs = float64(bytes.Count(lines, []byte("\n")))
	r.plans = float64(bytes.Count(lines, []byte("\nplan ")))
	r.Own, r.Children, _, err = readProc(p.PID())

	return r, err
}

// settle waits until the process has run that many plans, and then no CLI for some seconds.
func (e *existing) settle(ctx context.Context, p *process.Process, plans float64) error {
	ctx, cancel := p.WhileRunning(ctx)
	defer cancel()

	quiet, last := 0, 0.0

	return wait.Until(ctx, 10*wait.Patience, func() error {
		if err := wait.For(ctx, time.Second); err != nil {
			return err
		}

		now, err := e.read(p)
		if err != nil {
			return err
		}

		if seen := now.Runs + now.Children; seen != last || now.plans < plans {
			quiet, last = 0, seen
		}

		if quiet++; quiet <= 3 {
			return errors.Errorf("the existing provider is not idle after %g plans", now.plans)
		}

		return nil
	})
}
