// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-terraform/test/wait"
)

// asParent makes the test binary start a process and then wait to be killed.
const asParent = "TEST_AS_PARENT"

func TestMain(m *testing.M) {
	if os.Getenv(asParent) != "" {
		hang()
	}

	os.Exit(m.Run()) //nolint:forbidigo // This is the main function of tests.
}

// hang starts a process that does not end by itself, prints its ID and does not end either.
func hang() {
	p, err := Start("script", os.DevNull, os.Environ(), "sleep", "3600")
	if err != nil {
		return
	}

	fmt.Fprintln(os.Stdout, p.PID())

	select {}
}

func TestTerminate(t *testing.T) {
	t.Parallel()

	const loop = `; echo ready; while :; do sleep 0.01; done`

	cases := map[string]struct {
		reason   string
		trap     string
		patience time.Duration
		want     string
	}{
		"GoodOrder": {reason: "A process that ends after SIGTERM with exit code 0 ends well.", trap: `trap 'exit 0' TERM`, patience: time.Minute},
		"Code":      {reason: "The error has the exit code.", trap: `trap 'exit 3' TERM`, patience: time.Minute, want: "script ended with exit status 3"},
		"Killed":    {reason: "A process that does not end is killed.", trap: `trap '' TERM`, patience: time.Millisecond, want: "script ended with signal: killed"},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			log := filepath.Join(t.TempDir(), "log")

			p, err := Start("script", log, os.Environ(), "sh", "-c", tc.trap+loop)
			if err != nil {
				t.Fatal(err)
			}

			if err := wait.Until(t.Context(), wait.Patience, func() error {
				text, err := os.ReadFile(log)
				if err == nil && string(text) != "ready\n" {
					err = fmt.Errorf("the log is %q", text)
				}

				return err
			}); err != nil {
				t.Fatal(err)
			}

			got := ""
			if err := p.Terminate(tc.patience); err != nil {
				got = err.Error()
			}

			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nTerminate(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestWhileRunning(t *testing.T) {
	t.Parallel()

	p, err := Start("script", os.DevNull, os.Environ(), "sleep", "3600")
	if err != nil {
		t.Fatal(err)
	}

	ctx, cancel := p.WhileRunning(t.Context())
	defer cancel()

	if err := ctx.Err(); err != nil {
		t.Errorf("the context ended before the process: %v", err)
	}

	p.Kill()

	if err := wait.Within(wait.Soon, func() { <-ctx.Done() }); err != nil {
		t.Error(err)
	}
}

// TestOrphan kills a program that has started a process, which is to die, too.
func TestOrphan(t *testing.T) {
	t.Parallel()

	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}

	cmd := exec.CommandContext(t.Context(), self)

	cmd.Env = append(os.Environ(), asParent+"=1")

	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}

	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}

	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}

	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}

	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}

	_ = cmd.Wait() // It was killed.

	if err := wait.Until(t.Context(), wait.Soon, func() error {
		if stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat")); err == nil && !strings.Contains(string(stat), ") Z ") {
			return fmt.Errorf("process %d is still there", pid)
		}

		return nil
	}); err != nil {
		t.Error(err)
	}
}
