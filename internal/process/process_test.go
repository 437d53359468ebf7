// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-terraform/test/wait"
)

// TestRun runs programs that leave processes behind, which must end as well.
func TestRun(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		script string
	}{
		"Child":     {reason: "A child is in the group of the program.", script: "sleep 3600 & echo left; exit 3"},
		"Daemon":    {reason: "A daemon has a session of its own.", script: "(setsid sleep 3600 &); echo left; exit 3"},
		"Family":    {reason: "The children of a daemon have no other parent than the daemon.", script: "(setsid sh -c 'sleep 3600 & sleep 3600 & wait' &); echo left; exit 3"},
		"Restarted": {reason: "A daemon starts again what was killed.", script: "(setsid sh -c 'while true; do setsid sleep 3600; done' &); echo left; exit 3"},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()

			cmd := shell(t, tc.script)
			cmd.Stdout = w

			started, err := Run(cmd, NewMark())
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
				t.Errorf("%s\nRun(...): output %q", tc.reason, got)
			}
		})
	}
}

// TestOrphans has a program with a daemon, and one that ends meanwhile.
func TestOrphans(t *testing.T) {
	t.Parallel()

	in, gate := io.Pipe()
	ready, out := io.Pipe()
	mark := NewMark()
	cmd := shell(t, "(setsid sleep 3600 >/dev/null &); echo ready; read gate")
	cmd.Stdin, cmd.Stdout = in, out

	done := make(chan struct{})

	go func() {
		defer close(done)

		_, _ = Run(cmd, mark) // The shell fails at the end of its input.
	}()

	if _, err := io.ReadFull(ready, make([]byte, len("ready\n"))); err != nil {
		t.Fatal(err)
	}

	// The subshell, which is the parent, may not have ended.
	if err := wait.UntilTrue(t.Context(), "the daemon is an orphan", func() bool { return slices.Equal(mark.Orphans(), []string{"sleep"}) }); err != nil {
		t.Fatal(err)
	}

	if _, err := Run(shell(t, "(setsid sleep 3600 >/dev/null 2>&1 &)"), NewMark()); err != nil {
		t.Fatal(err)
	}

	if diff := cmp.Diff([]string{"sleep"}, mark.Orphans()); diff != "" {
		t.Errorf("after the end of another program: -want, +got:\n%s", diff)
	}

	if err := gate.Close(); err != nil {
		t.Fatal(err)
	}

	<-done

	if left := mark.Orphans(); len(left) > 0 {
		t.Errorf("after the end of the program: %q", left)
	}
}

func shell(t *testing.T, script string) *exec.Cmd {
	t.Helper()

	cmd := exec.CommandContext(t.Context(), "sh", "-c", script)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}

	return cmd
}

func TestRunNothing(t *testing.T) {
	t.Parallel()

	if started, err := Run(exec.CommandContext(t.Context(), "/nothing/there"), NewMark()); started || err == nil {
		t.Errorf("Run(...) of a program that is not there: started %t, error %v", started, err)
	}
}

func TestTail(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		writes []string
		want   string
	}{
		"Empty":     {reason: "Nothing was written."},
		"Fits":      {reason: "All of it fits.", writes: []string{"ab\n", "cd"}, want: "ab\ncd"},
		"Cut":       {reason: "Whole lines are removed at the front.", writes: []string{"aaaa\n", "bbbb\n", "cccc\n", "dd\n"}, want: "cccc\ndd\n"},
		"CutExact":  {reason: "A line that fits exactly stays.", writes: []string{"aaaa\n", "bbbb\n", "cccc\n"}, want: "bbbb\ncccc\n"},
		"CutOne":    {reason: "A line is removed for one byte.", writes: []string{"aaaa\n", "bbbb\nc"}, want: "bbbb\nc"},
		"CutTwice":  {reason: "Removed lines stay removed.", writes: []string{strings.Repeat("a", 25), "aaaa\nb", "b\n"}, want: "bb\n"},
		"TooLong":   {reason: "A line that does not fit is removed as well.", writes: []string{"a\n", strings.Repeat("b", 20) + "\n"}},
		"OneWrite":  {reason: "The size of a write does not matter.", writes: []string{strings.Repeat("a\n", 50)}, want: "a\na\na\na\na\n"},
		"NoNewline": {reason: "A line without end is removed.", writes: []string{strings.Repeat("b", 50)}},
		"Redacted":  {reason: "A secret is hidden before it is cut.", writes: []string{"aaaa sec\nret bb\n"}, want: "* bb\n"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			end := &Tail{Max: 10, Redact: func(text string) string { return strings.ReplaceAll(text, "sec\nret", "\n*") }}
			for _, s := range tc.writes {
				if n, err := end.Write([]byte(s)); n != len(s) || err != nil {
					t.Errorf("Write(%q): got %d, %v", s, n, err)
				}

				if len(end.kept) > 2*end.Max {
					t.Errorf("Write(%q): want at most %d bytes in memory, got %d", s, 2*end.Max, len(end.kept))
				}
			}

			if diff := cmp.Diff(tc.want, end.String()); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}

			if diff := cmp.Diff(tc.want, end.String()); diff != "" {
				t.Errorf("asked again: -want, +got:\n%s", diff)
			}
		})
	}
}
