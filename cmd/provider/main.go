// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// The provider runs Terraform or OpenTofu for the Workspaces of a Crossplane
// control plane.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/crossplane-contrib/provider-terraform/internal/app"
	"github.com/crossplane-contrib/provider-terraform/internal/module/fetch"
)

// gcPercent is by how much the heap may grow between two garbage collections, in percent of the
// live heap. An instance with 10,000 Workspaces has a largest RSS of 190 MB with Go's default of
// 100, of 140 to 155 MB with 25, and of 135 to 144 MB with 20. For that a poll costs the provider
// 8 ms of CPU time instead of the 6 ms with 100 (make bench).
const gcPercent = 20

func main() {
	// The program starts itself again in a separate process to fetch a module.
	if handled, code := fetch.Main(context.Background(), os.Args, os.Stdin, os.Stdout); handled {
		os.Exit(code)
	}

	if err := run(); err != nil {
		fmt.Fprintf(os.Stderr, "%s: error: %v\n", filepath.Base(os.Args[0]), err)
		os.Exit(1)
	}
}

func run() error {
	o, err := app.ParseOptions(os.Args[0], os.Args[1:], os.Stdout)
	if err != nil {
		return err
	}

	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}

	return app.Run(ctrl.SetupSignalHandler(), o)
}
