// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"context"
	"os"
	"syscall"
	"testing"

	"github.com/crossplane-contrib/provider-terraform/internal/module/fetch"
)

// TestMain makes the test binary the process that fetches a module, when it is started as one.
func TestMain(m *testing.M) {
	if handled, code := fetch.Main(context.Background(), os.Args, os.Stdin, os.Stdout); handled {
		syscall.Exit(code) // os.Exit would wait a second for data races.
	}

	os.Exit(m.Run())
}
