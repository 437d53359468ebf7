// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package fence

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// These are the roles of the process that a test starts.
const (
	role         = "FENCE_TEST_ROLE"
	roleArmed    = "armed"
	rolePutOff   = "put off"
	roleDisarmed = "disarmed"
	rolePast     = "past"
)

// soon is the time that a fence waits in these tests. late is how long a process lives that moves
// the deadline.
const (
	soon = 200 * time.Millisecond
	late = 3 * soon
)

func TestMain(m *testing.M) {
	if r, ok := os.LookupEnv(role); ok {
		if err := play(r); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2) //nolint:forbidigo // This process is not the test.
		}

		os.Exit(0) //nolint:forbidigo // This process is not the test.
	}

	os.Exit(m.Run()) //nolint:forbidigo // It is the main of the tests.
}

// play acts as a fenced process.
func play(r string) error {
	f, err := New()
	if err != nil {
		return err
	}

	now, err := f.Now()
	if err != nil {
		return err
	}

	after := map[string]time.Duration{roleArmed: soon, rolePutOff: soon, roleDisarmed: soon, rolePast: -soon}[r]
	if err := f.Arm(now + after); err != nil {
		return err
	}

	switch r {
	case rolePutOff:
		err = f.Arm(now + time.Hour)
	case roleDisarmed:
		err = f.Disarm()
	}

	if err != nil {
		return err
	}

	if _, err := os.Stdout.WriteString("ready\n"); err != nil {
		return err
	}

	// The fence decides how this ends: the process must live for longer.
	if r == roleArmed || r == rolePast {
		select {}
	}

	for {
		n, err := f.Now()
		if err != nil || n > now+late {
			return err
		}
	}
}

func TestFence(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		role   string
		stop   bool
		killed bool
	}{
		"Armed":    {reason: "The deadline was not moved.", role: roleArmed, killed: true},
		"Stopped":  {reason: "A stopped process is killed, too: otherwise it would continue with outdated knowledge.", role: roleArmed, stop: true, killed: true},
		"Past":     {reason: "A process that learns too late that it was in time is killed.", role: rolePast, killed: true},
		"PutOff":   {reason: "The last deadline counts.", role: rolePutOff},
		"Disarmed": {reason: "A process that has disarmed its fence may take its time to end.", role: roleDisarmed},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			cmd := exec.CommandContext(t.Context(), os.Args[0])

			cmd.Env = append(os.Environ(), role+"="+tc.role)
			cmd.Stderr = os.Stderr

			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}

			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}

			// The process may be killed before it prints anything.
			_ = bufio.NewScanner(out).Scan()

			if tc.stop {
				if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
					t.Fatal(err)
				}
			}

			_ = cmd.Wait()

			status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
			if !ok {
				t.Fatalf("%T is no wait status", cmd.ProcessState.Sys())
			}

			if got := status.Signaled() && status.Signal() == syscall.SIGKILL; got != tc.killed {
				t.Errorf("%s\nprocess ended with %s, want killed %t", tc.reason, cmd.ProcessState, tc.killed)
			}
		})
	}
}
