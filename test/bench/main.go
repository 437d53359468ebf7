// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// The benchmark measures what the provider costs beside the bare CLI, and what shards
// bring: real instances, a real API server and a real CLI, on this machine.
//
// It prints one table. With -out it also writes benchmarks.json, the charts that are
// drawn from it and the table of benchmarks.md into a directory; -draw does only that,
// from the benchmarks.json there is. Targets that were missed are said so in the table;
// the exit code says whether everything was measured.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/go-logr/logr"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

func main() {
	// What the libraries here have to say is in the errors they return.
	ctrllog.SetLogger(logr.Discard())

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

	// What was measured before an error was not in vain.
	if len(r.rows()) > 1 {
		err = errors.Join(err, printTable(out, r))
	}

	if err != nil {
		return err
	}

	if o.out == "" {
		return nil
	}

	if err := r.write(o.out); err != nil {
		return err
	}

	return publish(r, o.out)
}
