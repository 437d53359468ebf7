// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"github.com/crossplane-contrib/provider-terraform/test/chaos/record"
)

// sluggish is the environment variable that says after how long a CLI reacts to an
// interrupt.
const sluggish = "CHAOS_SLUGGISH"

// supervise starts the CLI and passes an interrupt on to it only after some time, as if
// it was busy with a call that cannot be interrupted. The CLI dies with this process,
// and it is in its process group. An interrupt is written down in the supplied file.
func supervise(delay time.Duration, file, uid, cli string, args, env []string) error {
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)

	cmd := exec.Command(cli, args...) //nolint:gosec,noctx // The test has chosen the CLI, and this process ends it.
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = env, os.Stdin, os.Stdout, os.Stderr
	// The first interrupt is a signal to this process only, not to its group.
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}

	// The kernel sends Pdeathsig when the thread ends that started the process.
	runtime.LockOSThread()

	defer runtime.UnlockOSThread()

	if err := cmd.Start(); err != nil {
		return err
	}

	go func() {
		for range interrupts {
			// If it cannot be written down the verdicts are stricter.
			_ = record.Append(file, record.Event{Kind: record.Interrupt, Time: time.Now().UnixNano(), UID: uid, PID: os.Getpid()})

			time.AfterFunc(delay, func() { _ = cmd.Process.Signal(os.Interrupt) })
		}
	}()

	err := cmd.Wait()

	if exit := (&exec.ExitError{}); errors.As(err, &exit) {
		return exitError(max(exit.ExitCode(), 1))
	}

	return err
}

// An exitError ends this process with the status of the CLI.
type exitError int

func (e exitError) Error() string { return "the CLI has failed" }
