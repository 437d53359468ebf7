// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package plugincache

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"testing"
)

// envProcess makes the test binary initialize one directory instead of running tests.
const envProcess = "PLUGINCACHE_TEST_PROCESS"

// A job is the input of such a process.
type job struct {
	Root     string   `json:"root"`
	Private  string   `json:"private"`
	Env      []string `json:"env"`
	Registry string   `json:"registry"`
	CLI      string   `json:"cli"`
}

func TestMain(m *testing.M) {
	if data := os.Getenv(envProcess); data != "" {
		os.Exit(work(data))
	}

	os.Exit(m.Run())
}

// work on a job, and return the exit code.
func work(data string) int {
	j := job{}
	if err := json.Unmarshal([]byte(data), &j); err != nil {
		fmt.Fprintln(os.Stderr, err)

		return 1
	}

	p := &place{cli: cli{path: j.CLI}, run: Run{Root: j.Root, Dir: j.Root, Private: j.Private, Env: j.Env, Registry: j.Registry}}
	if err := p.init(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)

		return 1
	}

	return 0
}
