// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/crossplane-contrib/provider-terraform/test/chaos/record"
)

const uid = "7b7d1c46-55a4-4c2f-9a6f-0e0f5d1f4a11"

// A bench runs the recorder.
type bench struct {
	program, dir, root string
}

func newBench(t *testing.T) *bench {
	t.Helper()

	b := &bench{program: filepath.Join(t.TempDir(), "recorder"), dir: t.TempDir(), root: t.TempDir()}

	if out, err := exec.Command("go", "build", "-o", b.program, ".").CombinedOutput(); err != nil {
		t.Fatalf("cannot build recorder: %v: %s", err, out)
	}

	for _, dir := range []string{filepath.Join(b.dir, "locks"), filepath.Join(b.root, uid), filepath.Join(b.root, "elsewhere")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatalf("cannot make directory: %v", err)
		}
	}

	return b
}

// A cli is the replacement of the CLI: a shell.
type cli struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout io.Reader
}

// start runs a shell script in the workdir as instance, and returns when it says so.
func (b *bench) start(t *testing.T, instance, script string) *cli {
	t.Helper()

	cmd := exec.Command(b.program, b.dir, instance, "/bin/sh", "-c", "echo started; "+script)
	cmd.Dir = filepath.Join(b.root, uid)

	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}

	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}

	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}

	var line string
	if _, err := fmt.Fscanln(stdout, &line); err != nil {
		t.Fatalf("the CLI did not start: %v", err)
	}

	return &cli{cmd: cmd, stdin: stdin, stdout: stdout}
}

// end closes the input of a CLI, which then ends.
func (c *cli) end(t *testing.T) {
	t.Helper()

	if err := c.stdin.Close(); err != nil {
		t.Fatal(err)
	}

	// How it ends does not matter.
	_ = c.cmd.Wait()
}

func (b *bench) events(t *testing.T) []record.Event {
	t.Helper()

	events, err := record.Read(filepath.Join(b.dir, "runs"))
	if err != nil {
		t.Fatal(err)
	}

	return events
}

func (b *bench) held(t *testing.T, pid int) bool {
	t.Helper()

	held, err := record.Held(filepath.Join(b.dir, "locks"), uid, pid)
	if err != nil {
		t.Fatal(err)
	}

	return held
}

// TestBeside shows that a run sees exactly the other runs that have not ended.
func TestBeside(t *testing.T) {
	t.Parallel()

	const untilTold = "read line"

	b := newBench(t)
	first := b.start(t, "a#1", untilTold)
	second := b.start(t, "b#1", untilTold)
	third := b.start(t, "c#1", untilTold)
	second.end(t)
	fourth := b.start(t, "b#2", untilTold)
	first.end(t)
	third.end(t)
	fourth.end(t)
	fifth := b.start(t, "a#2", untilTold)
	fifth.end(t)

	event := func(c *cli, instance string, fresh bool, beside ...*cli) record.Event {
		e := record.Event{Kind: record.Start, UID: uid, PID: c.cmd.Process.Pid, Parent: os.Getpid(), Instance: instance, Command: "-c", Root: b.root, State: "disk/" + filepath.Join(b.root, uid) + "/default", Fresh: fresh}
		for _, other := range beside {
			e.Beside = append(e.Beside, other.cmd.Process.Pid)
		}

		return e
	}
	want := []record.Event{
		event(first, "a#1", true),
		event(second, "b#1", false, first),
		event(third, "c#1", false, first, second),
		event(fourth, "b#2", false, first, third),
		event(fifth, "a#2", false),
	}

	if diff := cmp.Diff(want, b.events(t), cmpopts.IgnoreFields(record.Event{}, "Time"), cmpopts.SortSlices(func(a, b int) bool { return a < b })); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

// TestEnd shows that a run counts as ended when the CLI itself has ended, for any reason,
// even if a child of it is left.
func TestEnd(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		script string
		end    func(*cli) error
	}{
		"ByItself": {
			reason: "The CLI ends.",
			script: "read line",
			end:    func(c *cli) error { return c.stdin.Close() },
		},
		"Killed": {
			reason: "The CLI is killed.",
			script: "read line",
			end:    func(c *cli) error { return c.cmd.Process.Kill() },
		},
		"LeavesChild": {
			reason: "The CLI is killed while its child goes on.",
			// A shell without job control gives its background processes /dev/null as
			// their input 0.
			script: "exec 3<&0; cat <&3 & wait",
			end:    func(c *cli) error { return c.cmd.Process.Kill() },
		},
	}

	b := newBench(t)

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := b.start(t, "a#1", tc.script)
			pid := c.cmd.Process.Pid

			if !b.held(t, pid) {
				t.Errorf("%s\nthe run counts as ended before it has", tc.reason)
			}

			if err := tc.end(c); err != nil {
				t.Fatal(err)
			}

			// Wait would close the pipe that the remaining child reads.
			if _, err := c.cmd.Process.Wait(); err != nil {
				t.Fatal(err)
			}

			if b.held(t, pid) {
				t.Errorf("%s\nthe run does not count as ended", tc.reason)
			}

			c.stdin.Close()

			if _, err := io.Copy(io.Discard, c.stdout); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestFresh shows that a workdir is fresh again once it was deleted.
func TestFresh(t *testing.T) {
	t.Parallel()

	b := newBench(t)
	workdir := filepath.Join(b.root, uid)

	for range 2 {
		b.start(t, "a#1", "true").end(t)
		b.start(t, "a#1", "true").end(t)

		if err := os.RemoveAll(workdir); err != nil {
			t.Fatal(err)
		}

		if err := os.Mkdir(workdir, 0o700); err != nil {
			t.Fatal(err)
		}
	}

	got := []bool{}
	for _, e := range b.events(t) {
		got = append(got, e.Fresh)
	}

	if diff := cmp.Diff([]bool{true, false, true, false}, got); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

// TestElsewhere shows that a run that is for no Workspace is not recorded.
func TestElsewhere(t *testing.T) {
	t.Parallel()

	b := newBench(t)
	cmd := exec.Command(b.program, b.dir, "a#1", "/bin/echo", "version")
	cmd.Dir = filepath.Join(b.root, "elsewhere")

	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}

	if diff := cmp.Diff("version\n", string(out)); diff != "" {
		t.Errorf("output: -want, +got:\n%s", diff)
	}

	if got := b.events(t); len(got) != 0 {
		t.Errorf("recorded %v", got)
	}
}

func TestCommand(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		args   []string
		want   string
	}{
		"OneWord":  {reason: "Most commands are one word.", args: []string{"plan", "-json"}, want: "plan"},
		"Alone":    {reason: "A command may have no arguments.", args: []string{"state"}, want: "state"},
		"TwoWords": {reason: "Some commands have commands.", args: []string{"state", "pull", "-x"}, want: "state pull"},
		"PlanFile": {reason: "Other arguments are no commands.", args: []string{"apply", "file"}, want: "apply"},
		"Flag":     {reason: "Flags are no commands.", args: []string{"workspace", "-x"}, want: "workspace"},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if diff := cmp.Diff(tc.want, command(tc.args)); diff != "" {
				t.Errorf("%s\ncommand(%q): -want, +got:\n%s", tc.reason, tc.args, diff)
			}
		})
	}
}
