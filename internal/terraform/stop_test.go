// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package terraform

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-terraform/internal/process"
	"github.com/crossplane-contrib/provider-terraform/test/wait"
)

func TestInterrupt(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		err    error
		want   string
	}{
		"Canceled": {reason: "cancellation interrupts", err: context.Canceled, want: "interrupted: operation canceled"},
		"Deadline": {reason: "so does a deadline", err: context.DeadlineExceeded, want: "interrupted, because its time was up (--timeout): operation canceled"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, ctx := findStub(t, Options{}), newEnding(t.Context())
			s := start(t, stubWorkspace(t, "polite"), func(ws Workspace) error {
				_, err := c.Destroy(ctx, ws, nil, nil)

				return err
			})

			ctx.end(tc.err)

			err := <-s.done
			if !errors.Is(err, tc.err) {
				t.Errorf("%s: want %v, got %v", tc.reason, tc.err, err)
			}

			if diff := cmp.Diff(tc.want, err.Error()); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestInterruptedWithSuccess(t *testing.T) {
	t.Parallel()
	c := findStub(t, Options{})

	cases := map[string]struct {
		reason string
		run    func(context.Context, Workspace) error
		want   error
	}{
		"Apply": {
			reason: "a completed plan has its result",
			run: func(ctx context.Context, ws Workspace) error {
				_, err := c.Apply(ctx, ws, ApplyOptions{})

				return err
			},
		},
		"Plan": {
			reason: "a plan that was interrupted may be incomplete",
			run: func(ctx context.Context, ws Workspace) error {
				_, err := c.Plan(ctx, ws, PlanOptions{Out: filepath.Join(ws.Dir, "plan")})

				return err
			},
			want: context.Canceled,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			s := start(t, stubWorkspace(t, "polite", "STUB_CODE=0"), func(ws Workspace) error { return tc.run(ctx, ws) })

			cancel()

			if err := <-s.done; !errors.Is(err, tc.want) {
				t.Errorf("%s: want %v, got %v", tc.reason, tc.want, err)
			}
		})
	}
}

// An ending context ends on request, with the supplied error.
type ending struct {
	context.Context //nolint:containedctx // It is a context.

	done chan struct{}
	err  error
}

func newEnding(parent context.Context) *ending {
	return &ending{Context: parent, done: make(chan struct{})}
}

func (e *ending) end(err error)         { e.err = err; close(e.done) }
func (e *ending) Done() <-chan struct{} { return e.done }
func (e *ending) Err() error {
	select {
	case <-e.done:
		return e.err
	default:
		return nil
	}
}

func TestStop(t *testing.T) {
	t.Parallel()
	stop, cancel := context.WithCancel(t.Context())
	c := findStub(t, Options{Stop: stop})
	ws := stubWorkspace(t, "polite")
	s := start(t, ws, func(ws Workspace) error {
		_, err := c.Destroy(t.Context(), ws, nil, nil)

		return err
	})

	cancel()

	if err := <-s.done; !errors.Is(err, context.Canceled) {
		t.Errorf("want the run to be interrupted, got %v", err)
	}

	ws.Log = func(line string) { t.Errorf("a run was started after the stop: %s", line) }

	_, err := c.Destroy(t.Context(), ws, nil, nil)
	if !errors.Is(err, context.Canceled) || err.Error() != "interrupted" {
		t.Errorf("want a new run to be refused, got %v", err)
	}
}

func TestNotStarted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	c := findStub(t, Options{})

	cancel()

	if _, err := c.PullState(ctx, stubWorkspace(t, "say")); !errors.Is(err, context.Canceled) {
		t.Errorf("want no run with a context that is done, got %v", err)
	}

	ws := stubWorkspace(t, "say")

	ws.Dir = filepath.Join(ws.Dir, "missing")
	if _, err := c.PullState(t.Context(), ws); err == nil || !strings.Contains(err.Error(), "missing") {
		t.Errorf("want an error that names the directory, got %v", err)
	}
}

func TestKillAfterGracePeriod(t *testing.T) {
	t.Parallel()
	c := findStub(t, Options{Grace: 100 * time.Millisecond})
	ctx, cancel := context.WithCancel(t.Context())

	s := start(t, stubWorkspace(t, "stubborn"), func(ws Workspace) error {
		_, err := c.Destroy(ctx, ws, nil, nil)

		return err
	})
	if len(s.children) != 2 {
		t.Fatalf("the stub names itself and its child, got %d", len(s.children))
	}

	cancel()

	err := <-s.done
	if !errors.Is(err, context.Canceled) {
		t.Errorf("want %v, got %v", context.Canceled, err)
	}

	if diff := cmp.Diff("interrupted (signal: killed)", err.Error()); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}

	for _, p := range s.children {
		if !p.ends(soon) {
			t.Errorf("process %d outlived the run", p.pid)
		}
	}
}

func TestRunDiesWithThisProcess(t *testing.T) {
	t.Parallel()

	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}

	parent := exec.CommandContext(t.Context(), self, "parent")
	parent.Env = []string{"STUB=parent", "PATH=" + os.Getenv("PATH")}

	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}

	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}

	var run childProcess

	lines := bufio.NewScanner(out)
	for lines.Scan() && lines.Text() != "ready" {
		pid, err := strconv.Atoi(strings.TrimPrefix(lines.Text(), "pid "))
		if err != nil {
			t.Fatal(err)
		}

		run = watch(t, pid) // The last one is the CLI itself.
	}

	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}

	if !run.ends(soon) {
		t.Error("the run outlived the process that started it")
	}

	_ = parent.Wait()
}

// sleeper has a provisioner that runs until it is killed. Its child does, too.
const sleeper = `
resource "terraform_data" "before" {}
resource "terraform_data" "sleeper" {
  depends_on = [terraform_data.before]
  provisioner "local-exec" {
    command = "sleep 600 & echo pid $!; echo ready; wait"
  }
}`

func TestInterruptedApply(t *testing.T) {
	forEachCLI(t, func(t *testing.T, c *CLI) {
		ws := newWorkspace(t, map[string]string{"main.tf": sleeper})
		p := mustPlan(t, c, ws)
		ctx, cancel := context.WithCancel(t.Context())

		s := start(t, ws, func(ws Workspace) error {
			_, err := c.Apply(ctx, ws, ApplyOptions{PlanFile: p.File})

			return err
		})
		if len(s.children) != 1 {
			t.Fatalf("the provisioner names its child, got %d", len(s.children))
		}

		cancel()

		err := <-s.done
		if !errors.Is(err, context.Canceled) {
			t.Errorf("want %v, got %v", context.Canceled, err)
		}

		if !strings.HasPrefix(err.Error(), "interrupted: main.tf:5: terraform_data.sleeper: local-exec provisioner error: ") ||
			!strings.HasSuffix(err.Error(), "; execution halted") {
			t.Errorf("want the message of the CLI about the interruption, got %v", err)
		}

		for _, p := range s.children {
			if !p.ends(soon) {
				t.Errorf("process %d outlived the run", p.pid)
			}
		}

		if got := mustPull(t, c, ws).Managed; got != 2 {
			t.Errorf("want both resources in the state, got %d", got)
		}

		locks, err := filepath.Glob(filepath.Join(ws.Dir, "terraform.tfstate.d/ws/.*.lock.info"))
		if err != nil || len(locks) > 0 {
			t.Errorf("want no lock to be left, got %q, %v", locks, err)
		}

		if _, err := c.Destroy(t.Context(), ws, nil, nil); err != nil {
			t.Errorf("want the state to be usable at once, got %v", err)
		}
	})
}

// daemon has a provisioner that starts a process in a session of its own. Its output goes to the supplied
// place. The provisioner ends after the last exec of that process: during one it shows no environment, and so no mark.
func daemon(output string) map[string]string {
	return map[string]string{"main.tf": `
resource "terraform_data" "daemon" {
  provisioner "local-exec" {
    command = "setsid nohup sleep 600 ` + output + ` & until [ $(cat /proc/$!/comm) = sleep ] && grep -qz PATH /proc/$!/environ; do :; done; echo pid $!; echo ready"
  }
}`}
}

// TestDaemon has a process that leaves the group of its run, and that the run does not wait for.
func TestDaemon(t *testing.T) {
	forEachCLI(t, func(t *testing.T, c *CLI) {
		ws := newWorkspace(t, daemon(">/dev/null 2>&1"))
		p := mustPlan(t, c, ws)
		s := start(t, ws, func(ws Workspace) error {
			_, err := c.Apply(t.Context(), ws, ApplyOptions{PlanFile: p.File})

			return err
		})

		if err := <-s.done; err != nil {
			t.Error(err)
		}

		expectEnded(t, s)
	})
}

// TestAwaitedDaemon has a process that keeps the output of its provisioner, which waits for it.
func TestAwaitedDaemon(t *testing.T) {
	forEachCLI(t, func(t *testing.T, c *CLI) {
		ws := newWorkspace(t, daemon("2>&1"))
		p := mustPlan(t, c, ws)
		ctx, cancel := context.WithCancel(t.Context())

		ws.Mark = process.NewMark()
		s := start(t, ws, func(ws Workspace) error {
			_, err := c.Apply(ctx, ws, ApplyOptions{PlanFile: p.File})

			return err
		})

		// Its parent prints "ready" before it ends, and it has another name until it is sleep.
		if err := wait.UntilTrue(t.Context(), "the mark finds the daemon", func() bool { return slices.Equal(ws.Mark.Orphans(), []string{"sleep"}) }); err != nil {
			t.Error(err)
		}

		select {
		case err := <-s.done:
			t.Errorf("the provisioner has not waited: %v", err)
		default:
		}

		cancel()

		if err := <-s.done; !errors.Is(err, context.Canceled) {
			t.Errorf("want %v, got %v", context.Canceled, err)
		}

		expectEnded(t, s)
	})
}

func expectEnded(t *testing.T, s started) {
	t.Helper()

	if len(s.children) != 1 {
		t.Fatalf("the provisioner names its child, got %d", len(s.children))
	}

	if !s.children[0].ends(soon) {
		t.Errorf("process %d outlived the run", s.children[0].pid)
	}
}
