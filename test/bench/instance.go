// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/procfs"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	providerinstance "github.com/crossplane-contrib/provider-terraform/test/instance"
	"github.com/crossplane-contrib/provider-terraform/test/monitoring"
	"github.com/crossplane-contrib/provider-terraform/test/wait"
)

// never is a poll interval that is longer than any benchmark.
const never = 10000 * time.Hour

type instance struct{ *providerinstance.Instance }

// startInstance starts an instance and waits until it is ready. The instance keeps its
// files in the directory of that name, where a later instance can find them.
func (b *bench) startInstance(ctx context.Context, name string, workers int, args ...string) (*instance, error) {
	dir := filepath.Join(b.dir, name)
	plugins := filepath.Join(dir, "plugins")

	if err := os.MkdirAll(plugins, 0o700); err != nil {
		return nil, err
	}

	variables := append([]string{"TF_CLI_CONFIG_FILE=" + b.cliConfig(), "TF_PLUGIN_CACHE_DIR=" + plugins}, b.variables...)
	args = append(args, "--lease-namespace="+namespace, "--cli="+b.cli, fmt.Sprintf("--max-reconcile-rate=%d", workers))

	started, err := providerinstance.Start(name, dir, b.provider, b.plane.Kubeconfig, variables, args...)
	if err != nil {
		return nil, err
	}

	i := &instance{Instance: started}

	ctx, cancel := i.WhileRunning(ctx)
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

func (i *instance) stop() error { return i.Terminate(wait.Patience) }

// cliRuns is the metric that counts the runs of the CLI, by command.
const cliRuns = "provider_terraform_cli_runs_total"

// until reads the metrics of the instance, after a pause each time, until check returns nil.
func (i *instance) until(ctx context.Context, pause time.Duration, check func(s series) error) error {
	ctx, cancel := i.WhileRunning(ctx)
	defer cancel()

	return wait.Until(ctx, 10*wait.Patience, func() error {
		if err := wait.For(ctx, pause); err != nil {
			return err
		}

		s, err := scrape(ctx, i.Metrics)
		if err != nil {
			return err
		}

		return check(s)
	})
}

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

	r.Runs = s.sum(cliRuns, "")
	r.plans = s.sum(cliRuns, "plan")
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

// readIdle reads after the instance has done the supplied number of reconciles.
func (i *instance) readIdle(ctx context.Context, reconciles int) (reading, error) {
	if err := i.idle(ctx, reconciles); err != nil {
		return reading{}, err
	}

	return i.read(ctx)
}

// idle waits until the instance has done the supplied number of reconciles, and its queues
// are empty. The number is needed because the queues are also empty right after the start.
func (i *instance) idle(ctx context.Context, reconciles int) error {
	quiet := 0

	// The pause is long, because each scrape costs the instance CPU time.
	return i.until(ctx, time.Second/2, func(s series) error {
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

// clockTick is the unit of times in /proc, which is the same on every Linux that Go
// runs on.
const clockTick = 0.01

// readProc returns the CPU time of a process, that of all its children that have ended, and its
// largest RSS.
func readProc(pid int) (own, children float64, rss uint64, err error) {
	p, err := procfs.NewProc(pid)
	if err != nil {
		return 0, 0, 0, err
	}

	stat, err := p.Stat()
	if err != nil {
		return 0, 0, 0, err
	}

	status, err := p.NewStatus()

	return stat.CPUTime(), float64(stat.CUTime+stat.CSTime) * clockTick, status.VmHWM, err
}

// series are the samples of all time series of a process.
type series model.Vector

// scrape reads the metrics at the supplied URL.
func scrape(ctx context.Context, url string) (series, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}

	// The compressors of HTTP answers are kept for reuse. They take most of a megabyte of
	// the memory that is to be measured.
	req.Header.Set("Accept-Encoding", "identity")

	rsp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer rsp.Body.Close() //nolint:errcheck // Nothing was written to it.

	text, err := io.ReadAll(rsp.Body)
	if err != nil {
		return nil, err
	}

	samples, err := monitoring.Parse(string(text))

	return series(samples), err
}

// sum of all series of a name, or of those of the supplied command, if it is not empty.
func (s series) sum(name, command string) float64 {
	total := 0.0

	for _, sample := range s {
		if string(sample.Metric[model.MetricNameLabel]) == name && (command == "" || string(sample.Metric["command"]) == command) {
			total += float64(sample.Value)
		}
	}

	return total
}
