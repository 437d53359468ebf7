// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"io"
	"os/exec"
	"runtime"
	"syscall"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// A process is a program that the test has started. It dies with the test, however
// that ends.
type process struct {
	name string
	cmd  *exec.Cmd

	// ended is closed when the process has ended.
	ended chan struct{}
}

// startProcess starts a program with the supplied environment, as a process that has a
// name for people. What it prints goes to out.
func startProcess(name string, out io.Writer, env []string, path string, args ...string) (*process, error) {
	p := &process{name: name, cmd: exec.Command(path, args...), ended: make(chan struct{})}
	p.cmd.Env = env
	p.cmd.Stdout = out
	p.cmd.Stderr = out
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}

	started := make(chan error)

	go func() {
		// The kernel sends Pdeathsig when the thread that started the process ends,
		// so that thread must not end before.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()

		err := p.cmd.Start()
		started <- err

		if err == nil {
			// What Wait says is in the ProcessState, too.
			_ = p.cmd.Wait()
		}

		close(p.ended)
	}()

	return p, errors.Wrapf(<-started, "cannot start %q", path)
}

// running says whether the process has not ended.
func (p *process) running() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// signal sends a signal unless the process has ended.
func (p *process) signal(s syscall.Signal) {
	if p.running() {
		// It may have ended now.
		_ = p.cmd.Process.Signal(s)
	}
}

// kill kills the process and waits until it has ended.
func (p *process) kill() {
	p.signal(syscall.SIGKILL)
	<-p.ended
}

// how says how the process has ended.
func (p *process) how() string {
	<-p.ended

	return p.cmd.ProcessState.String()
}
