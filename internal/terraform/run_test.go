// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package terraform

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// soon is more than the time in which an immediate effect happens.
const soon = 20 * time.Second

func TestEnvironmentOfARun(t *testing.T) {
	t.Setenv("LEAK", "1")
	t.Setenv("TF_WORKSPACE", "leak")
	c := findStub(t, Options{})

	cases := map[string]struct {
		reason string
		ws     Workspace
		cmd    command
		want   []string
	}{
		"Explicit": {
			reason: "the environment is that of the workspace and nothing else",
			ws:     Workspace{Env: []string{"STUB=env", "A=1"}},
			want:   []string{"STUB=env", "A=1"},
		},
		"InWorkspace": {
			reason: "the environment has the name of the workspace",
			ws:     Workspace{Name: "mine", Env: []string{"STUB=env"}},
			cmd:    command{inWorkspace: true},
			want:   []string{"STUB=env", "TF_WORKSPACE=mine"},
		},
		"DefaultWorkspace": {
			reason: "no name is the default, even if another workspace was selected in the directory",
			ws:     Workspace{Env: []string{"STUB=env"}},
			cmd:    command{inWorkspace: true},
			want:   []string{"STUB=env", "TF_WORKSPACE=default"},
		},
		"WithoutWorkspace": {
			reason: "a command that must not run in a workspace selects none",
			ws:     Workspace{Name: "mine", Env: []string{"STUB=env"}},
			want:   []string{"STUB=env"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tc.ws.Dir = t.TempDir()
			tc.cmd.args = []string{"env"}

			out, err := c.run(t.Context(), tc.ws, tc.cmd)
			if err != nil {
				t.Fatal(err)
			}

			if diff := cmp.Diff(tc.want, strings.Fields(string(out))); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}

	if env := (command{}).environ(Workspace{}); env == nil {
		t.Error("a nil environment would be that of this process")
	}
}

func TestOverlongLine(t *testing.T) {
	t.Parallel()
	c, ws := findStub(t, Options{}), stubWorkspace(t, "long")

	var got []string

	ws.Log = func(line string) { got = append(got, line) }
	if _, err := c.Destroy(t.Context(), ws, DestroyOptions{}); err != nil {
		t.Fatalf("a line that is too long must not be fatal: %v", err)
	}

	if diff := cmp.Diff([]string{"short"}, got); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

func TestLog(t *testing.T) {
	t.Parallel()
	c := findStub(t, Options{})
	ws := stubWorkspace(t, "say",
		"STUB_STDOUT={\"@message\":\"\\nInterrupt received.\\nPlease wait\\n\"}\nnot JSON\n",
		"STUB_STDERR=on stderr\n\n")

	var got []string

	ws.Log = func(line string) { got = append(got, line) }

	if _, err := c.Destroy(t.Context(), ws, DestroyOptions{}); err != nil {
		t.Fatal(err)
	}
	// Stdout and stderr are two streams: only the order within each is known.
	slices.SortStableFunc(got, func(a, b string) int {
		return strings.Index(a, "stderr") - strings.Index(b, "stderr")
	})

	want := []string{"Interrupt received.", "Please wait", "not JSON", "on stderr"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}

	got = nil

	if _, err := c.PullState(t.Context(), ws); err == nil {
		t.Fatal("the stub does not answer with a state")
	}

	if diff := cmp.Diff([]string{"on stderr"}, got); diff != "" {
		t.Errorf("a state must not be logged: -want, +got:\n%s", diff)
	}
}

func TestObserver(t *testing.T) {
	t.Parallel()

	type run struct {
		Op     string
		Failed bool
	}

	var got []run

	c := findStub(t, Options{Observe: func(op string, took time.Duration, err error) {
		if took <= 0 {
			t.Errorf("%s took %s", op, took)
		}

		got = append(got, run{Op: op, Failed: err != nil})
	}})
	// Only the way in which the runs end matters.
	_, _ = c.Plan(t.Context(), stubWorkspace(t, "say", "STUB_CODE=2"), PlanOptions{Out: filepath.Join(t.TempDir(), "plan")})
	_, _ = c.Destroy(t.Context(), stubWorkspace(t, "say", "STUB_CODE=2"), DestroyOptions{})
	_, _ = c.PullState(t.Context(), stubWorkspace(t, "say"))

	want := []run{{Op: "version"}, {Op: "plan"}, {Op: "destroy", Failed: true}, {Op: "state pull"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

// FuzzLineWriter checks that the result does not depend on the division of the output into
// writes.
func FuzzLineWriter(f *testing.F) {
	f.Add("a\nbb\n\nccc", 1)
	f.Add(strings.Repeat("x", 20)+"\ny\n", 7)
	f.Add("\n\n", 2)
	f.Fuzz(func(t *testing.T, text string, size int) {
		split := func(size int) []string {
			var lines []string

			w := &lineWriter{max: 16, line: func(line []byte) { lines = append(lines, string(line)) }}

			for rest := text; rest != ""; {
				n := min(size, len(rest))
				_, _ = w.Write([]byte(rest[:n]))
				rest = rest[n:]
			}

			w.flush()

			return lines
		}
		if diff := cmp.Diff(split(len(text)+1), split(max(1, size))); diff != "" {
			t.Errorf("-whole, +in pieces of %d:\n%s", size, diff)
		}
	})
}
