// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package process runs the programs that a test needs beside it.
package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A Process is a program that was started here. It dies with this process, however
// that ends.
type Process struct {
	// Name for people.
	Name string

	cmd   *exec.Cmd
	ended chan struct{}
}

// Start a program with the supplied environment. The process has a name for messages. Its
// output is added to the file log.
func Start(name, log string, env []string, path string, args ...string) (*Process, error) {
	return StartOn("", name, log, env, path, args...)
}

// StartOn starts a program like Start. The program and its children see the supplied host
// name, as in a container. Without the right to change it, or with an empty name, they see
// that of this machine.
func StartOn(host, name, log string, env []string, path string, args ...string) (*Process, error) {
	out, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600) //nolint:gosec // Tests choose the file.
	if err != nil {
		return nil, err
	}
	defer out.Close() //nolint:errcheck // Nothing was written here: the process has its own handle.

	p := &Process{Name: name, cmd: exec.Command(path, args...), ended: make(chan struct{})} //nolint:gosec,noctx // Tests choose the program and end it themselves.
	p.cmd.Env = env
	p.cmd.Stdout = out
	p.cmd.Stderr = out
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}

	started := make(chan error)

	go func() {
		// The kernel sends Pdeathsig when the thread that started the process ends,
		// so that thread must not end before.
		runtime.LockOSThread()

		// A thread with another host name must not run anything else: it ends with this
		// function.
		if host == "" {
			defer runtime.UnlockOSThread()
		}

		err := enterHost(host)
		if err == nil {
			err = p.cmd.Start()
		}

		started <- err

		if err == nil {
			// The ProcessState has the result of Wait, too.
			_ = p.cmd.Wait()
		}

		close(p.ended)
	}()

	if err := <-started; err != nil {
		return p, fmt.Errorf("cannot start %q: %w", path, err)
	}

	return p, nil
}

// enterHost puts the thread, and the processes that it starts, on a host of the supplied
// name, unless that is empty.
func enterHost(name string) error {
	if name == "" {
		return nil
	}

	err := unix.Unshare(unix.CLONE_NEWUTS)
	if errors.Is(err, unix.EPERM) {
		return nil
	}

	if err != nil {
		return err
	}

	return unix.Sethostname([]byte(name))
}

// PID of the process.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Ended is closed when the process has ended.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// Running says whether the process has not ended.
func (p *Process) Running() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// WhileRunning returns a context that also ends when the process does.
func (p *Process) WhileRunning(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)

	go func() {
		select {
		case <-p.ended:
			cancel()
		case <-ctx.Done():
		}
	}()

	return ctx, cancel
}

// Signal sends a signal unless the process has ended.
func (p *Process) Signal(s syscall.Signal) {
	if p.Running() {
		// It may have ended now.
		_ = p.cmd.Process.Signal(s)
	}
}

// Kill kills the process and waits until it has ended.
func (p *Process) Kill() {
	p.Signal(syscall.SIGKILL)
	<-p.ended
}

// Terminate sends SIGTERM and waits until the process has ended. It kills the process
// after the supplied time. It returns an error unless the exit code is 0.
func (p *Process) Terminate(patience time.Duration) error {
	p.Signal(syscall.SIGTERM)

	select {
	case <-p.ended:
	case <-time.After(patience):
		p.Kill()
	}

	if how := p.How(); how != "exit status 0" {
		return fmt.Errorf("%s ended with %s", p.Name, how)
	}

	return nil
}

// How waits for the end of the process and describes it.
func (p *Process) How() string {
	<-p.ended

	return p.cmd.ProcessState.String()
}
