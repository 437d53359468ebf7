// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// A process is a program that the demo started. It is in a process group of its
// own, so that a Ctrl-C reaches the demo only, and it dies with the demo, however
// that ends.
type process struct {
	name string
	log  string
	cmd  *exec.Cmd
	stop context.CancelFunc

	// ended is closed when the process has ended. What cmd.ProcessState says is
	// valid from then on.
	ended chan struct{}
}

// A command is what to start.
type command struct {
	// name for messages.
	name string

	path string
	args []string

	// env is the whole environment of the process.
	env []string

	// log is the file that its output goes to.
	log string

	// patience is how long the process may take to end once it was asked to.
	patience time.Duration

	// ended is called when the process ends before it was asked to. It may be nil.
	ended func(error)
}

// start starts a process that runs until it ends or is asked to, whatever becomes
// of the supplied context.
func (c command) start(ctx context.Context) (*process, error) {
	log, err := os.OpenFile(c.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close() //nolint:errcheck // Nothing was written here: the process has its own handle.

	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))

	cmd := exec.CommandContext(ctx, c.path, c.args...) //nolint:gosec // Which program this is has been decided by the demo.
	cmd.Env = c.env
	cmd.Stdout = log
	cmd.Stderr = log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	// The whole group: it is a go build with its compilers, too.
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = c.patience

	p := &process{name: c.name, log: c.log, cmd: cmd, stop: stop, ended: make(chan struct{})}
	started := make(chan error)

	go func() {
		// The kernel sends Pdeathsig when the thread that started the process ends,
		// so that thread must not end before.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()

		if err := cmd.Start(); err != nil {
			started <- err
			return
		}
		started <- nil

		_ = cmd.Wait() // It tells no more than cmd.ProcessState.
		close(p.ended)

		if ctx.Err() == nil && c.ended != nil {
			c.ended(errors.Errorf("%s ended by itself: %s", c.name, cmd.ProcessState))
		}
	}()

	if err := <-started; err != nil {
		stop()
		return nil, errors.Wrapf(err, "cannot start %s", c.name)
	}

	return p, nil
}

// terminate asks the process to end, kills it when it does not, and returns an
// error unless it ended with exit code 0.
func (p *process) terminate() error {
	p.stop()
	<-p.ended

	if !p.cmd.ProcessState.Success() {
		return errors.Errorf("%s ended with %s", p.name, p.cmd.ProcessState)
	}

	return nil
}

// wait waits until the process has ended by itself, which has to be with exit
// code 0. It asks the process to end when the supplied context does.
func (p *process) wait(ctx context.Context) error {
	select {
	case <-p.ended:
	case <-ctx.Done():
	}

	if err := p.terminate(); ctx.Err() == nil {
		return err
	}

	return context.Cause(ctx)
}

// tail returns the last lines of what the process has printed.
func (p *process) tail(lines int) string {
	data, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}

	all := strings.Split(string(bytes.TrimSpace(data)), "\n")
	if n := len(all) - lines; n > 0 {
		all = append([]string{fmt.Sprintf("(%d lines before)", n)}, all[n:]...)
	}

	return strings.Join(all, "\n")
}
