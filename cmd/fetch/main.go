// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// The program fetch downloads one module. The provider starts it for each fetch: see the package
// internal/module/fetch. It is a program of its own because it links the clients of AWS and GCS,
// which would take 20 MB of memory in each instance of the provider.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/crossplane-contrib/provider-terraform/internal/module/fetch/child"
)

func main() {
	handled, code := child.Main(context.Background(), os.Args, os.Stdin, os.Stdout)
	if !handled {
		fmt.Fprintln(os.Stderr, "This program downloads modules for crossplane-terraform-provider, which starts it.")

		code = 2
	}

	os.Exit(code)
}
