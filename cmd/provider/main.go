// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// The provider runs Terraform or OpenTofu for the Workspaces of a Crossplane
// control plane.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/crossplane-contrib/provider-terraform/internal/app"
)

func main() {
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
		tuneGC()
	}

	return app.Run(ctrl.SetupSignalHandler(), o)
}
