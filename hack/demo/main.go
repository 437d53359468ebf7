// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// The demo runs two real instances, each with its own shard, a real API server and a real
// CLI on this machine. It needs no setup. With --elastic the instances assign the
// Workspaces to themselves, one more joins, and one is killed.
//
// It prints a line with a check mark only after it has observed the event. With --once it
// ends after the last of them, and its exit code is 0 if it observed all. All its files
// are in one directory below _output/demo, and its processes die with it.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/go-logr/logr"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// exitInterrupted is the exit code that a shell reports for a program that SIGINT ended.
const exitInterrupted = 130

// errInterrupted is the error of a demo that the user ended.
var errInterrupted = errors.New("interrupted")

func main() {
	d, draw := &demo{screen: newScreen(os.Stdout)}, false

	flag.BoolVar(&d.once, "once", false, "end after everything was seen; the exit code is 0 only then")
	flag.BoolVar(&d.elastic, "elastic", false, "show shards that assign the Workspaces to themselves")
	flag.BoolVar(&d.approve, "approve", false, "show plans that wait until a person approves them")
	flag.StringVar(&d.cli, "cli", "tofu", "the Terraform or OpenTofu that the instances run")
	flag.StringVar(&d.picture, "picture", "", "write what --elastic saw to elastic.json in this `directory`, and draw it there")
	flag.BoolVar(&draw, "draw", false, "run nothing, draw the existing elastic.json in the directory of --picture")
	flag.Parse()

	// The libraries return errors with the same information as their logs.
	ctrllog.SetLogger(logr.Discard())

	var err error

	switch {
	case draw && d.picture == "", d.picture != "" && !draw && !d.elastic:
		err = errors.New("--draw needs --picture, and --picture needs --elastic or --draw")
	case draw:
		err = redraw(d.picture)
	default:
		err = run(d)
	}

	switch {
	case err == nil:
	case errors.Is(err, errInterrupted):
		os.Exit(exitInterrupted)
	default:
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

// redraw draws the record in the supplied directory again.
func redraw(dir string) error {
	r, err := readRecord(dir)
	if err != nil {
		return err
	}

	return r.publish(dir)
}

// run runs the demo until it has ended or a signal ends it.
func run(d *demo) error {
	ending := []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, ending...)
	// SIGPIPE comes when the reader of the output is gone. By default it would kill the
	// demo without any cleanup.
	signal.Notify(signals, syscall.SIGPIPE)

	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)

	go func() {
		<-signals
		// A second signal ends the demo at once, with all processes that it has started,
		// but leaves its directory.
		signal.Reset(ending...)
		cancel(errInterrupted)
	}()

	return d.run(ctx)
}
