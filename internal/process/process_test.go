// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// TestRun runs a program that leaves a child behind, which must end as well.
func TestRun(t *testing.T) {
	t.Parallel()

	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()

	cmd := exec.CommandContext(t.Context(), "sh", "-c", "sleep 3600 & echo left; exit 3")
	cmd.Stdout = w
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}

	started, err := Run(cmd)
	if !started || err == nil || cmd.ProcessState.ExitCode() != 3 {
		t.Errorf("Run(...): want exit code 3, got %t and %v", started, err)
	}

	if err := w.Close(); err != nil {
		t.Fatal(err)
	}

	// The read ends when the last process that could write has ended.
	out, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}

	if got := strings.TrimSpace(string(out)); got != "left" {
		t.Errorf("Run(...): output %q", got)
	}
}

func TestRunNothing(t *testing.T) {
	t.Parallel()

	if started, err := Run(exec.CommandContext(t.Context(), "/nothing/there")); started || err == nil {
		t.Errorf("Run(...) of a program that is not there: started %t, error %v", started, err)
	}
}
