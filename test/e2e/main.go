// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// E2e installs the provider as users do, and tries what it promises: on a real node, with the real
// Crossplane, its CLI and its package manager.
//
// Everything runs in namespaces of its own, and nothing of it remains on the machine. That needs root. Where the
// machine allows no node, pods are processes, and only a part of it is tried.
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

	"github.com/crossplane-contrib/provider-terraform/test/e2e/sandbox"
)

func main() {
	if code, ok := sandbox.Enter(os.Args[1:]); ok {
		os.Exit(code)
	}

	// The libraries return errors with the same information as their logs.
	ctrllog.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	err := run(ctx, os.Args[1:], os.Stdout)

	stop()

	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	o, err := parseOptions(args)
	if err != nil {
		return err
	}

	if o.check {
		return o.checkMachine(io.Discard)
	}

	if o.inside {
		o.level = levelNode

		return tell(ctx, o, out)
	}

	return prepare(ctx, o, args, out)
}
