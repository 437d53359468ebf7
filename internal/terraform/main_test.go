// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package terraform

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/crossplane-contrib/provider-terraform/test/filesystem"
	"github.com/crossplane-contrib/provider-terraform/test/program"
)

// TestMain makes the test binary a CLI when it is started as one: `go test` passes only flags to
// it.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-") {
		syscall.Exit(stub(os.Args[1:])) // os.Exit would wait a second for data races.
	}

	os.Exit(m.Run())
}

// stub is a CLI with the behavior that the variable STUB names.
func stub(args []string) int {
	if args[0] == "version" {
		fmt.Println("Terraform v1.2.3-stub")

		return 0
	}

	switch os.Getenv("STUB") {
	case "say":
		fmt.Print(os.Getenv("STUB_STDOUT"))
		fmt.Fprint(os.Stderr, os.Getenv("STUB_STDERR"))
		code, _ := strconv.Atoi(os.Getenv("STUB_CODE"))

		return code
	case "env":
		for _, kv := range os.Environ() {
			fmt.Println(kv)
		}

		return 0
	case "long":
		fmt.Println(`{"@message":"` + strings.Repeat("x", maxLine) + `"}`)
		fmt.Println(`{"@message":"short"}`)

		return 0
	case "polite":
		interrupted := make(chan os.Signal, 1)
		signal.Notify(interrupted, os.Interrupt)
		fmt.Println("ready")
		<-interrupted

		if code, err := strconv.Atoi(os.Getenv("STUB_CODE")); err == nil {
			return code
		}

		fmt.Fprintln(os.Stderr, "Error: operation canceled")

		return 1
	case "stubborn":
		signal.Ignore(os.Interrupt)

		child := exec.Command("sleep", "600")
		if err := child.Start(); err != nil {
			return 1
		}

		fmt.Println("pid", child.Process.Pid)
		fmt.Println("pid", os.Getpid())
		fmt.Println("ready")

		select {}
	case "parent":
		c, err := Find(context.Background(), os.Args[0], Options{})
		if err != nil {
			return 1
		}

		env := []string{"STUB=stubborn", "PATH=" + os.Getenv("PATH")}
		_, err = c.Destroy(context.Background(), Workspace{Dir: os.TempDir(), Env: env, Log: func(line string) { fmt.Println(line) }}, nil, nil)
		fmt.Println(err)
	}

	return 0
}

// findStub returns the test binary as a CLI.
func findStub(t *testing.T, o Options) *CLI {
	t.Helper()

	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}

	c, err := Find(t.Context(), self, o)
	if err != nil {
		t.Fatal(err)
	}

	return c
}

// stubWorkspace returns a workspace in which the stub has the supplied behavior.
func stubWorkspace(t *testing.T, do string, env ...string) Workspace {
	t.Helper()

	return Workspace{Dir: t.TempDir(), Env: append(env, "STUB="+do, "PATH="+os.Getenv("PATH"))}
}

// forEachCLI runs test with the real OpenTofu, and with the real Terraform if
// there is one.
func forEachCLI(t *testing.T, test func(t *testing.T, c *CLI)) {
	t.Helper()
	t.Parallel()
	t.Run("OpenTofu", func(t *testing.T) {
		t.Parallel()

		c, err := Find(t.Context(), program.Need(t, "TOFU_BIN"), Options{})
		if err != nil {
			t.Fatal(err)
		}

		test(t, c)
	})
	t.Run("Terraform", func(t *testing.T) {
		t.Parallel()

		path, ok := program.CLIs(t)["terraform"]
		if !ok {
			t.Skip("there is no terraform on PATH")
		}

		c, err := Find(t.Context(), path, Options{})
		if err != nil {
			t.Fatal(err)
		}

		test(t, c)
	})
}

// newWorkspace returns a workspace named "ws" whose module is the given files.
func newWorkspace(t *testing.T, files map[string]string) Workspace {
	t.Helper()
	ws := Workspace{Dir: t.TempDir(), Name: "ws", Env: Environ([]string{"PATH=" + os.Getenv("PATH")})}
	filesystem.Write(t, ws.Dir, files)

	return ws
}

// mustPlan plans into the file "plan".
func mustPlan(t *testing.T, c *CLI, ws Workspace, args ...string) *Plan {
	t.Helper()

	p, err := c.Plan(t.Context(), ws, PlanOptions{Out: filepath.Join(ws.Dir, "plan"), Args: args})
	if err != nil {
		t.Fatalf("plan: %v", err)
	}

	return p
}

// mustApply plans and applies that plan.
func mustApply(t *testing.T, c *CLI, ws Workspace, args ...string) *Applied {
	t.Helper()
	p := mustPlan(t, c, ws, args...)

	a, err := c.Apply(t.Context(), ws, ApplyOptions{PlanFile: p.File})
	if err != nil {
		t.Fatalf("apply: %v", err)
	}

	return a
}

func mustPull(t *testing.T, c *CLI, ws Workspace) *State {
	t.Helper()

	s, err := c.PullState(t.Context(), ws)
	if err != nil {
		t.Fatalf("state pull: %v", err)
	}

	return s
}

// A childProcess is a process whose end a test observes.
type childProcess struct {
	pid, fd int
}

// watch returns the process with this id, which must be alive.
func watch(t *testing.T, pid int) childProcess {
	t.Helper()

	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		t.Fatalf("process %d: %v", pid, err)
	}

	t.Cleanup(func() {
		_ = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
		_ = unix.Close(fd)
	})

	return childProcess{pid: pid, fd: fd}
}

// ends reports whether the process ends in time.
func (p childProcess) ends(within time.Duration) bool {
	fds := []unix.PollFd{{Fd: int32(p.fd), Events: unix.POLLIN}}
	for {
		n, err := unix.Poll(fds, int(within.Milliseconds()))
		if err != unix.EINTR {
			return n == 1
		}
	}
}

// A started is a run in progress, which has printed "ready".
type started struct {
	children []childProcess // Whose ids it has said.
	done     <-chan error
}

// start starts run with a Log, and returns once that gets the line "ready", maybe
// after lines such as "pid 1234". Lines of a provisioner have a prefix.
func start(t *testing.T, ws Workspace, run func(Workspace) error) started {
	t.Helper()

	var s started

	pids := make(chan int, 10)
	ready := make(chan struct{})
	ws.Log = func(line string) {
		if _, pid, ok := strings.Cut(line, "pid "); ok {
			if n, err := strconv.Atoi(pid); err == nil {
				pids <- n
			}
		}

		if line == "ready" || strings.HasSuffix(line, "(local-exec): ready") {
			close(ready)
		}
	}
	done := make(chan error, 1)

	s.done = done
	go func() { done <- run(ws) }()

	select {
	case <-ready:
	case err := <-done:
		t.Fatalf("the run ended before it was ready: %v", err)
	}

	close(pids)

	for pid := range pids {
		s.children = append(s.children, watch(t, pid))
	}

	return s
}
