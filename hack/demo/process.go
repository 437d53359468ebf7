// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/test/process"
)

// A loggedProcess is a process with a log. It dies with the demo, however that ends.
type loggedProcess struct {
	*process.Process

	log      log
	patience time.Duration

	// asked says that the program was asked to end.
	asked atomic.Bool
}

// A command describes a program to start.
type command struct {
	path string
	args []string

	// env is the whole environment of the program.
	env []string

	// log of its output, which has a name for messages.
	log log

	// patience is how long the program may take to end once it was asked to.
	patience time.Duration

	// ended is called when the program ends before it was asked to. It may be nil.
	ended func(error)
}

// start starts a program that runs until it ends or is asked to.
func (c command) start() (*loggedProcess, error) {
	out, err := c.log.open()
	if err != nil {
		return nil, err
	}
	defer out.Close() //nolint:errcheck // Nothing was written here: the process has its own handle.

	p := &loggedProcess{log: c.log, patience: c.patience}
	if p.Process, err = process.Start(c.log.name, out, c.env, c.path, c.args...); err != nil {
		return nil, err
	}

	go func() {
		if how := p.How(); c.ended != nil && !p.asked.Load() {
			c.ended(errors.Errorf("%s ended by itself: %s", p.Name, how))
		}
	}()

	return p, nil
}

// terminate asks the program to end, kills it when it does not, and returns an error
// unless it ended with exit code 0.
func (p *loggedProcess) terminate() error {
	p.asked.Store(true)

	return p.Terminate(p.patience)
}

// kill kills the program, and all processes that it has started.
func (p *loggedProcess) kill() {
	p.asked.Store(true)
	p.Kill()
}

// wait waits until the program has ended, which has to be with exit code 0. If the
// supplied context ends first, it sends SIGTERM.
func (p *loggedProcess) wait(ctx context.Context) error {
	select {
	case <-p.Ended():
	case <-ctx.Done():
	}

	if err := p.terminate(); ctx.Err() == nil {
		return err
	}

	return context.Cause(ctx)
}

// A log is the file with the output of a named program.
type log struct{ name, path string }

func (l log) open() (*os.File, error) {
	return os.OpenFile(l.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
}

// tail returns the last lines of the log.
func (l log) tail(lines int) string {
	data, err := os.ReadFile(l.path)
	if err != nil {
		return err.Error()
	}

	all := strings.Split(string(bytes.TrimSpace(data)), "\n")
	if n := len(all) - lines; n > 0 {
		all = append([]string{fmt.Sprintf("(%d lines before)", n)}, all[n:]...)
	}

	return strings.Join(all, "\n")
}
