// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package process runs programs together with their process group. When the program ends,
// the rest of the group is killed, and what has left the group if it has a Mark. When this process
// ends, the program is killed.
package process

import (
	"errors"
	"os/exec"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"
)

// Run starts a command, waits for its end, and then kills the rest of its process group and, unless
// mark is empty, all other processes that have the mark from it. The command must be set to start its
// own group or session, and to get a signal when its parent dies. Run returns whether the command was
// started, and the error of Start or Wait.
func Run(cmd *exec.Cmd, mark Mark) (started bool, err error) {
	if mark != "" {
		cmd.Env = append(cmd.Environ(), string(mark))
	}

	// Pdeathsig fires when the thread that forked ends, not when the process does, and Go ends
	// idle threads. The lock keeps the thread until the child has ended.
	runtime.LockOSThread()

	defer runtime.UnlockOSThread()

	if err := cmd.Start(); err != nil {
		return false, err
	}

	for {
		// WNOWAIT leaves the zombie in place. While it exists, its id, which is also that of its
		// group, cannot become that of another process.
		err := unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}

	_ = unix.Kill(-cmd.Process.Pid, unix.SIGKILL)

	// Wait would wait until they close the output.
	if mark != "" {
		mark.killOrphans()
	}

	return true, cmd.Wait()
}

// A Tail keeps the end of the data that is written to it.
type Tail struct {
	Max int // The approximate number of bytes that are kept.

	// Redact hides secrets, unless it is nil. The rest of a secret that was cut before would not
	// be recognized.
	Redact func(string) string

	kept  []byte
	isCut bool
}

// Write keeps the end of p.
func (t *Tail) Write(p []byte) (int, error) {
	t.kept = append(t.kept, p...)
	if len(t.kept) > 2*t.Max { // A cut copies, so it is done rarely.
		t.cut()
	}

	return len(p), nil
}

func (t *Tail) cut() {
	if len(t.kept) <= t.Max {
		return
	}

	if t.Redact != nil {
		t.kept = append(t.kept[:0], t.Redact(string(t.kept))...)
	}

	// One byte more is kept. If it is a line feed, the first line of the end is whole.
	if excess := len(t.kept) - t.Max; excess > 0 {
		t.kept = append(t.kept[:0], t.kept[excess-1:]...)
		t.isCut = true
	}
}

// String returns the end without a partial first line, which could contain a part of a secret.
func (t *Tail) String() string {
	t.cut()

	text := string(t.kept)
	if t.isCut {
		_, text, _ = strings.Cut(text, "\n")
	}

	return text
}
