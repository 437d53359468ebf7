// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"fmt"
	"os"
	"syscall"
	"testing"
)

// stubVariable selects what the test binary does instead of a fetch.
const stubVariable = "FETCH_TEST_STUB"

func TestMain(m *testing.M) {
	if os.Getenv(stubVariable) == "crash" {
		fmt.Fprintln(os.Stderr, "panic: at the disco\n\ngoroutine 1 [running]")
		syscall.Exit(2) // os.Exit would wait a second for data races.
	}

	os.Exit(m.Run())
}
