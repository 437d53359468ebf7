// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package child

import (
	"context"
	"os"
	"syscall"
	"testing"
)

// TestMain makes the test binary the process that fetches a module, when it is started as one.
func TestMain(m *testing.M) {
	if handled, code := Main(context.Background(), os.Args, os.Stdin, os.Stdout); handled {
		syscall.Exit(code) // os.Exit would wait a second for data races.
	}

	os.Exit(m.Run())
}
