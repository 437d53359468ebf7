// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	providerinstance "github.com/crossplane-contrib/provider-terraform/test/instance"
	"github.com/crossplane-contrib/provider-terraform/test/wait"
)

// never is a poll interval that is longer than any benchmark.
const never = 10000 * time.Hour

type instance struct{ *providerinstance.Instance }

// startInstance starts an instance and waits until it is ready. The instance keeps its
// files in the directory of that name, where a later instance can find them.
func (b *bench) startInstance(ctx context.Context, name string, workers int, args ...string) (*instance, error) {
	dir := filepath.Join(b.dir, name)

	env, err := b.environ(dir)
	if err != nil {
		return nil, err
	}

	args = append(args, "--lease-namespace="+namespace, "--cli="+b.cli, fmt.Sprintf("--max-reconcile-rate=%d", workers))

	started, err := providerinstance.Start(name, dir, b.provider, env, args...)
	if err != nil {
		return nil, err
	}

	i := &instance{Instance: started}

	ctx, cancel := i.whileRunning(ctx)
	defer cancel()

	err = wait.Until(ctx, wait.Patience, func() error { return i.Ready(ctx) })
	if err != nil {
		i.Kill()
	}

	return i, errors.Wrapf(err, "instance %s is not ready", name)
}

// withInstance starts an instance, and stops it when use has returned.
func (b *bench) withInstance(ctx context.Context, name string, workers int, use func(i *instance) error, args ...string) error {
	i, err := b.startInstance(ctx, name, workers, args...)
	if err != nil {
		return err
	}
	defer i.Kill()

	if err := use(i); err != nil {
		return err
	}

	return i.stop()
}

// whileRunning returns a context that ends when the instance does.
func (i *instance) whileRunning(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)

	go func() {
		select {
		case <-i.Ended():
			cancel()
		case <-ctx.Done():
		}
	}()

	return ctx, cancel
}

func (i *instance) stop() error { return i.Terminate(wait.Patience) }

// A reading has the resources that an instance has used since its start.
type reading struct {
	spent

	at       time.Time
	requests float64
	plans    float64
	rss      uint64
}

func (i *instance) read(ctx context.Context) (reading, error) {
	r := reading{at: time.Now()}

	s, err := scrape(ctx, i.Metrics)
	if err != nil {
		return r, err
	}

	const runs = "provider_terraform_cli_runs_total"

	r.Runs = s.sum(runs, "")
	r.plans = s.sum(runs, "plan")
	r.requests = s.sum("rest_client_requests_total", "")

	r.Own, r.Children, r.rss, err = readProc(i.PID())

	return r, err
}

func (r reading) since(before reading) spent {
	return spent{
		Wall:     r.at.Sub(before.at).Seconds(),
		Runs:     r.Runs - before.Runs,
		Own:      r.Own - before.Own,
		Children: r.Children - before.Children,
	}
}

// idle waits until the instance has done the supplied number of reconciles, and its queues
// are empty. The number is needed because the queues are also empty right after the start.
func (i *instance) idle(ctx context.Context, reconciles int) error {
	ctx, cancel := i.whileRunning(ctx)
	defer cancel()

	quiet := 0

	return wait.Until(ctx, 10*wait.Patience, func() error {
		// The interval is long, because each scrape costs the instance CPU time.
		if err := wait.For(ctx, time.Second/2); err != nil {
			return err
		}

		s, err := scrape(ctx, i.Metrics)
		if err != nil {
			return err
		}

		if done := s.sum("controller_runtime_reconcile_total", ""); done < float64(reconciles) {
			return errors.Errorf("%g of %d reconciles are done", done, reconciles)
		}

		if busy := s.sum("controller_runtime_active_workers", "") + s.sum("workqueue_depth", ""); busy > 0 {
			quiet = 0

			return errors.Errorf("%g reconciles are left", busy)
		}

		// An item may be on its way from the queue to a worker.
		if quiet++; quiet < 3 {
			return errors.New("not idle for long enough")
		}

		return nil
	})
}
