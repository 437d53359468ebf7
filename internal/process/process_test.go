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

	"github.com/google/go-cmp/cmp"
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
