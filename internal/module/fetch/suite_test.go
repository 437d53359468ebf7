// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"context"
	"fmt"
	"os"
	"syscall"
	"testing"
)

// stubVariable selects what the test binary does instead of a fetch.
const stubVariable = "FETCH_TEST_STUB"

func TestMain(m *testing.M) {
	switch os.Getenv(stubVariable) {
	case "crash":
		fmt.Fprintln(os.Stderr, "panic: at the disco\n\ngoroutine 1 [running]")
		syscall.Exit(2) // os.Exit would wait a second for data races.
	case "recurse":
		_, err := Run(context.Background(), os.Args[0], nil, Request{})
		fmt.Fprintln(os.Stderr, err)
		syscall.Exit(1)
	}

	os.Exit(m.Run())
}
