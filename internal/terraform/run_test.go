// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package terraform

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// soon is more than the time in which an immediate effect happens.
const soon = 20 * time.Second

// TestCommands checks the arguments of each command, the last of which take precedence.
func TestCommands(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		got    command
		op     string
		want   []string
		global bool // It runs without the workspace.
	}{
		"Init": {
			reason: "it runs without the workspace", got: initCommand(InitOptions{}), op: "init", global: true,
			want: []string{"init", "-input=false", "-no-color"},
		},
		"InitFull": {
			reason: "the user's arguments win", op: "init",
			got:  initCommand(InitOptions{BackendConfigFile: "/d/b", Args: []string{"-upgrade", "-backend-config=x"}, State: true}),
			want: []string{"init", "-input=false", "-no-color", "-backend-config=/d/b", "-upgrade", "-backend-config=x"},
		},
		"Plan": {
			reason: "these are always there", got: planCommand(PlanOptions{Out: "f"}), op: "plan",
			want: []string{"plan", "-json", "-detailed-exitcode", "-input=false", "-lock=false", "-out=f"},
		},
		"PlanFull": {
			reason: "the arguments win over the lock, but not over the path of the plan", op: "plan",
			got:  planCommand(PlanOptions{Out: "f", Args: []string{"-var-file=a", "-var=x=1", "-lock=true", "-out=g"}}),
			want: []string{"plan", "-json", "-detailed-exitcode", "-input=false", "-lock=false", "-var-file=a", "-var=x=1", "-lock=true", "-out=g", "-out=f"},
		},
		"PlanLocked": {
			reason: "a plan that takes the lock does so in any case", op: "plan",
			got:  planCommand(PlanOptions{Out: "f", Args: []string{"-lock=false"}, Lock: true}),
			want: []string{"plan", "-json", "-detailed-exitcode", "-input=false", "-lock=false", "-lock=true", "-out=f"},
		},
		"ApplySaved": {
			reason: "the plan is the last argument", op: "apply",
			got:  applyCommand(ApplyOptions{PlanFile: "f", Args: []string{"-parallelism=3"}}),
			want: []string{"apply", "-json", "-input=false", "-parallelism=3", "f"},
		},
		"Apply": {
			reason: "without a saved plan it has to be approved", op: "apply",
			got:  applyCommand(ApplyOptions{Args: []string{"-var-file=a", "-var=x=1"}}),
			want: []string{"apply", "-json", "-input=false", "-var-file=a", "-var=x=1", "-auto-approve"},
		},
		"Destroy": {
			reason: "it is approved, and the user's arguments win", op: "destroy",
			got:  destroyCommand([]string{"-target=x"}),
			want: []string{"destroy", "-json", "-auto-approve", "-input=false", "-target=x"},
		},
		"DeleteWorkspace": {
			reason: "a name is never a flag", got: deleteWorkspaceCommand("-force", nil), op: "workspace delete", global: true,
			want: []string{"workspace", "delete", "-no-color", "--", "-force"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			want := command{op: tc.op, args: tc.want, inWorkspace: !tc.global}
			if diff := cmp.Diff(want, tc.got, cmp.AllowUnexported(command{})); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

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
		"Planning": {
			reason: "the arguments of all commands are those of people",
			ws:     Workspace{Env: []string{"STUB=env", "TF_CLI_ARGS=-input=false"}},
			cmd:    command{op: opPlan},
			want:   []string{"STUB=env", "TF_CLI_ARGS=-input=false"},
		},
		"ReadingState": {
			reason: "other commands refuse most of them",
			ws:     Workspace{Env: []string{"STUB=env", "TF_CLI_ARGS=-input=false -lock=false", "TF_CLI_ARGS_state_pull=-x"}},
			cmd:    command{op: "state pull"},
			want:   []string{"STUB=env", "TF_CLI_ARGS_state_pull=-x", "TF_CLI_ARGS="},
		},
		"PushingState": {
			reason: "a command that takes the lock may have to leave that",
			ws:     Workspace{Env: []string{"STUB=env", "TF_CLI_ARGS=-input=false --lock=false -parallelism 3 -lock-timeout 5s"}},
			cmd:    command{op: opStatePush},
			want:   []string{"STUB=env", "TF_CLI_ARGS='--lock=false'", "'-lock-timeout'", "'5s'"},
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

			// The mark of the run differs each time: see process.Mark.
			got := slices.DeleteFunc(strings.Fields(string(out)), func(kv string) bool {
				return strings.HasPrefix(kv, "CROSSPLANE_PROVIDER_TERRAFORM_RUN=")
			})
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}

	if env := c.environ(command{}, Workspace{}); env == nil {
		t.Error("a nil environment would be that of this process")
	}
}

func TestOverlongLine(t *testing.T) {
	t.Parallel()
	c, ws := findStub(t, Options{}), stubWorkspace(t, "long")

	var got []string

	ws.Log = func(line string) { got = append(got, line) }
	if _, err := c.Destroy(t.Context(), ws, nil, nil); err != nil {
		t.Fatalf("a line that is too long must not be fatal: %v", err)
	}

	if diff := cmp.Diff([]string{"short"}, got); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

// TestLimitedBuffer ensures that a buffer limits what os/exec copies into it: the output of a process.
func TestLimitedBuffer(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason   string
		text     string
		want     string
		overflow bool
	}{
		"Fits":    {reason: "Text up to the limit is kept.", text: "0123456789", want: "0123456789"},
		"TooLong": {reason: "Longer text is not kept in memory.", text: "0123456789a", overflow: true},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			b := &limitedBuffer{max: 10}
			echo := exec.CommandContext(t.Context(), "printf", "%s", tc.text)
			echo.Stdout = b

			if err := echo.Run(); err != nil {
				t.Fatal(err)
			}

			if got := b.text.String(); got != tc.want || b.overflow != tc.overflow {
				t.Errorf("%s\ngot %q, overflow %t", tc.reason, got, b.overflow)
			}
		})
	}
}

// TestLargeEnvironment has more text in the environment than a process can have.
func TestLargeEnvironment(t *testing.T) {
	t.Parallel()

	c, ws := findStub(t, Options{}), stubWorkspace(t, "long")

	for n := range 80 {
		ws.Env = append(ws.Env, fmt.Sprintf("TF_VAR_%d=%s", n, strings.Repeat("x", 100<<10)))
	}

	_, err := c.PullState(t.Context(), ws)
	if err == nil || !strings.HasPrefix(err.Error(), "the environment is too large for a process: make the values of spec.forProvider.env smaller") {
		t.Errorf("want an error that names the field, got %v", err)
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

	if _, err := c.Destroy(t.Context(), ws, nil, nil); err != nil {
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
	_, _ = c.Destroy(t.Context(), stubWorkspace(t, "say", "STUB_CODE=2"), nil, nil)
	_, _ = c.PullState(t.Context(), stubWorkspace(t, "say"))

	want := []run{{Op: "version"}, {Op: "plan"}, {Op: "destroy", Failed: true}, {Op: "state pull"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

func TestLineWriter(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		writes []string
		want   []string
	}{
		"Whole":          {reason: "one write, one line", writes: []string{"abc\n"}, want: []string{"abc"}},
		"Split":          {reason: "a line may come in pieces", writes: []string{"a", "b", "c\nd", "\n"}, want: []string{"abc", "d"}},
		"Several":        {reason: "a write may hold several lines, empty ones too", writes: []string{"a\n\nb\n"}, want: []string{"a", "", "b"}},
		"NoBreakAtEnd":   {reason: "the last line needs no break", writes: []string{"a\nb"}, want: []string{"a", "b"}},
		"NothingAtEnd":   {reason: "a break ends a line and begins none", writes: []string{"a\n"}, want: []string{"a"}},
		"Longest":        {reason: "a line of the maximum length is kept", writes: []string{"12345678\n"}, want: []string{"12345678"}},
		"TooLong":        {reason: "a line that is too long is dropped, the next one is not", writes: []string{"123456789\nb\n"}, want: []string{"b"}},
		"TooLongInParts": {reason: "as above, in pieces", writes: []string{"12345", "6789", "0", "\nb\n"}, want: []string{"b"}},
		"TooLongAtEnd":   {reason: "as above, as the last line", writes: []string{"a\n123456789"}, want: []string{"a"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			var got []string

			w := &lineWriter{max: 8, line: func(line []byte) { got = append(got, string(line)) }}
			for _, s := range tc.writes {
				if n, err := w.Write([]byte(s)); n != len(s) || err != nil {
					t.Fatalf("%s: wrote %d of %d bytes: %v", tc.reason, n, len(s), err)
				}
			}

			w.flush()

			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
