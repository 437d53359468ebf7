// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package process runs programs together with their process group. When the program ends,
// the rest of the group is killed. When this process ends, the program is killed.
package process

import (
	"errors"
	"os/exec"
	"runtime"

	"golang.org/x/sys/unix"
)

// Run starts a command, waits for its end, and then kills the rest of its process group. The
// command must be set to start its own group or session, and to get a signal when its parent
// dies. Run returns whether the command was started, and the error of Start or Wait.
func Run(cmd *exec.Cmd) (started bool, err error) {
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

	return true, cmd.Wait()
}
