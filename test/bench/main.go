// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// The benchmark measures the cost of the provider beside the bare CLI, and the effect of
// shards: with real instances, a real API server and a real CLI, on this machine.
//
// It prints one table. With -out it also writes benchmarks.json, its charts and the table
// of benchmarks.md into a directory. With -draw it measures nothing and draws the existing
// benchmarks.json. The table shows missed targets. The exit code is 0 if everything was
// measured.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

func main() {
	// The libraries return errors with the same information as their logs.
	ctrllog.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	err := run(ctx, os.Args[1:], os.Stdout)

	stop()

	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	o, err := parseOptions(args)
	if err != nil {
		return err
	}

	if o.draw {
		r, err := readReport(o.out)
		if err != nil {
			return err
		}

		return publish(r, o.out)
	}

	r, err := measure(ctx, o, out)

	// The measurements before an error are printed.
	if len(r.rows()) > 1 {
		err = errors.Join(err, printTable(out, r))
	}

	if err != nil || o.out == "" {
		return err
	}

	return publish(r, o.out)
}

// parts of the benchmark, in the order in which they run.
func parts() []string { return []string{"cost", "existing", "waiting", "scaling", "memory", "elastic"} }

const (
	// pollRate is how many polls per second the instance and the bare CLI make, of all Workspaces.
	pollRate = 6

	// split is how many shards share the Workspaces in memory.
	split = 4
)

type options struct {
	sizes

	// out is the directory to write to, "" for none.
	out   string
	draw  bool
	parts []string
}

type sizes struct {
	// workspaces of the part about cost, and polls of each of them.
	workspaces, polls int

	// rates of an instance that creates a few Workspaces at once, and overdue is how many are
	// polled at once.
	rates        []int
	few, overdue int

	// shards to run slow applies on at the same time: each number once. slow is how
	// many Workspaces each of them has, and takes how long each apply waits.
	shards []int
	slow   int
	takes  time.Duration

	// held are numbers of Workspaces in memory.
	held []int
}

func fullSizes() sizes {
	return sizes{
		workspaces: 120, polls: 2, rates: []int{1, 2, 4}, few: 20, overdue: 100,
		shards: []int{1, 2, 3, 4}, slow: 6, takes: 10 * time.Second, held: []int{1000, 5000, 10000},
	}
}

func quickSizes() sizes {
	return sizes{
		workspaces: 24, polls: 1, rates: []int{2}, few: 8, overdue: 20,
		shards: []int{1, 4}, slow: 2, takes: 3 * time.Second, held: []int{1000},
	}
}

func parseOptions(args []string) (*options, error) {
	o := &options{parts: parts(), sizes: fullSizes()}
	workspaces := 0

	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	quick := f.Bool("quick", false, "smaller sizes, for a run of less than ten minutes")
	f.StringVar(&o.out, "out", "", "write benchmarks.json, charts and the table of benchmarks.md to this `directory`")
	f.BoolVar(&o.draw, "draw", false, "measure nothing, draw the existing benchmarks.json")
	f.Func("parts", "parts to measure: "+strings.Join(parts(), ","), func(s string) error {
		o.parts = strings.Split(s, ",")

		for _, part := range o.parts {
			if !slices.Contains(parts(), part) {
				return errors.Errorf("there is no part %q", part)
			}
		}

		return nil
	})
	f.Func("n", "`Workspaces` of which the cost is measured: by default 120, or 24 with -quick", func(s string) (err error) {
		workspaces, err = strconv.Atoi(s)
		if err == nil && workspaces < 1 {
			err = errors.New("it must be 1 or greater")
		}

		return err
	})

	if err := f.Parse(args); err != nil {
		return nil, err
	}

	if o.draw && o.out == "" {
		return nil, errors.New("-draw needs -out: the directory of benchmarks.json")
	}

	if *quick {
		o.sizes = quickSizes()
	}

	if workspaces > 0 {
		o.workspaces = workspaces
	}

	return o, nil
}
