// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Command release builds a release, pushes it to a registry and signs it. make release runs it.
//
// A release is one package for Crossplane with an image of the provider for each architecture, which is also the image
// of an installation without a package. Everything is built before anything is pushed, and the tag is written last.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := command(ctx, os.Args[1:], os.Stdout)

	stop()

	switch {
	case errors.Is(err, flag.ErrHelp):
		os.Exit(2)
	case err != nil:
		fmt.Fprintf(os.Stderr, "make release: %v\n", err)
		os.Exit(1)
	}
}

func command(ctx context.Context, args []string, out io.Writer) error {
	o, err := parseOptions(args)
	if err != nil {
		return err
	}

	o.outputs = o.buildOutputs

	return publish(ctx, o, out)
}

// publish makes a release.
func publish(ctx context.Context, o *options, out io.Writer) error {
	r, err := check(ctx, o)
	if err != nil || o.check {
		return err
	}

	r.log = out

	index, err := r.build(ctx)
	if err != nil {
		return err
	}

	if !o.push {
		return nil
	}

	return r.pushAll(ctx, index)
}
