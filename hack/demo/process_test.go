// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// asDemo makes the test binary start a process and then wait to be killed.
const asDemo = "TEST_AS_DEMO"

func TestMain(m *testing.M) {
	if path := os.Getenv(asDemo); path != "" {
		hang(path)
	}

	os.Exit(m.Run()) //nolint:forbidigo // This is the main function of tests.
}

// hang starts a process that does not end by itself, prints its ID and does not end
// either.
func hang(path string) {
	p, err := sh(path, "while :; do sleep 1; done").start()
	if err != nil {
		os.Stdout.WriteString(err.Error()) //nolint:errcheck // The reader finds out.

		return
	}

	os.Stdout.WriteString(strconv.Itoa(p.PID()) + "\n") //nolint:errcheck // The reader finds out.

	select {}
}

// sh returns the command of a shell script with a patience of a minute.
func sh(path, script string) command {
	return command{path: "sh", args: []string{"-c", script}, env: os.Environ(), log: log{name: "script", path: path}, patience: time.Minute}
}

func TestTerminate(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason   string
		script   string
		patience time.Duration
		want     string
	}{
		"GoodOrder": {
			reason:   "A process that ends after SIGTERM with exit code 0 ends well.",
			script:   `trap 'exit 0' TERM; echo ready; while :; do sleep 0.01; done`,
			patience: time.Minute,
		},
		"Code": {
			reason:   "The error has the exit code.",
			script:   `trap 'exit 3' TERM; echo ready; while :; do sleep 0.01; done`,
			patience: time.Minute,
			want:     "script ended with exit status 3",
		},
		"Killed": {
			reason:   "A process that does not end is killed.",
			script:   `trap '' TERM; echo ready; while :; do sleep 0.01; done`,
			patience: time.Millisecond,
			want:     "script ended with signal: killed",
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			c := sh(filepath.Join(t.TempDir(), "log"), tc.script)
			c.patience = tc.patience
			c.ended = func(err error) { t.Errorf("%s\nended was called with %v", tc.reason, err) }

			p, err := c.start()
			if err != nil {
				t.Fatalf("%s\nstart(): %v", tc.reason, err)
			}

			if err := until(t.Context(), func(string) {}, func(context.Context) error {
				if p.log.tail(1) != "ready" {
					return errors.New("not ready")
				}

				return nil
			}); err != nil {
				t.Fatalf("%s\nno output: %v", tc.reason, err)
			}

			got := ""
			if err := p.terminate(); err != nil {
				got = err.Error()
			}

			if got != tc.want {
				t.Errorf("%s\nterminate(): %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

func TestEnded(t *testing.T) {
	t.Parallel()

	ended := make(chan error)
	c := sh(filepath.Join(t.TempDir(), "log"), "exit 3")
	c.ended = func(err error) { ended <- err }

	if _, err := c.start(); err != nil {
		t.Fatalf("start(): %v", err)
	}

	if err := <-ended; !strings.Contains(err.Error(), "script ended by itself: exit status 3") {
		t.Errorf("A process that ends by itself is reported, but as %v", err)
	}
}

func TestWaitInterrupted(t *testing.T) {
	t.Parallel()

	p, err := sh(filepath.Join(t.TempDir(), "log"), "while :; do sleep 1; done").start()
	if err != nil {
		t.Fatalf("start(): %v", err)
	}

	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errBoom)

	if err := p.wait(ctx); !errors.Is(err, errBoom) {
		t.Errorf("wait() with a context that has ended: %v, want %v", err, errBoom)
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
	cmd.Env = append(os.Environ(), asDemo+"="+filepath.Join(t.TempDir(), "log"))

	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}

	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}

	line := make([]byte, 32)

	n, err := io.ReadAtLeast(out, line, 2)
	if err != nil {
		t.Fatal(err)
	}

	pid, err := strconv.Atoi(string(bytes.TrimSpace(line[:n])))
	if err != nil {
		t.Fatal(err)
	}

	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}

	_ = cmd.Wait() // It was killed.

	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()

	if err := until(ctx, func(string) {}, func(context.Context) error {
		if alive(pid) {
			return errors.Errorf("process %d is still there", pid)
		}

		return nil
	}); err != nil {
		t.Error(err)

		_ = syscall.Kill(-pid, syscall.SIGKILL) // Ours.
	}
}

// alive says whether there is such a process. A zombie is dead.
func alive(pid int) bool {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))

	return err == nil && !strings.Contains(string(stat), ") Z ")
}
