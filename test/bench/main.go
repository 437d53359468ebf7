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
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

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
