// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// first is the first argument of the first process of a sandbox. The others are the directories of
// the sandbox, and the arguments of the program.
const first = "first-process-of-a-sandbox"

// Enter makes this process the first one of a sandbox if Run has started it as such. It then runs
// the program and returns its exit code, and true.
func Enter(args []string) (int, bool) {
	if len(args) < 3 || args[0] != first {
		return 0, false
	}

	code, err := enter(args[1], args[2], args[3:])
	if err != nil {
		_, _ = os.Stderr.WriteString("sandbox: " + err.Error() + "\n")

		return 1, true
	}

	return code, true
}

func enter(dir, log string, args []string) (int, error) {
	if os.Getpid() != 1 {
		return 0, errors.New("it is not the first process of a PID namespace")
	}

	for _, d := range []string{"home", "tmp"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o700); err != nil {
			return 0, err
		}
	}

	if err := errors.Join(mount(dir, log), unix.Sethostname([]byte("node"))); err != nil {
		return 0, err
	}

	program, err := os.Executable()
	if err != nil {
		return 0, err
	}

	// The first process of a namespace gets only the signals that it handles.
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)

	cmd := exec.Command(program, args...) //nolint:gosec,noctx // It is this program. A signal ends it.
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr

	if err := cmd.Start(); err != nil {
		return 0, err
	}

	go func() {
		for s := range signals {
			// It may have ended.
			_ = cmd.Process.Signal(s)
		}
	}()

	return reap(cmd.Process.Pid)
}

// reap waits for all processes that have lost their parent, until the supplied one ends. It returns
// its exit code. Then the kernel ends all other processes.
func reap(pid int) (int, error) {
	for {
		var status syscall.WaitStatus

		ended, err := syscall.Wait4(-1, &status, 0, nil)
		if err != nil && !errors.Is(err, syscall.EINTR) {
			return 0, err
		}

		switch {
		case ended != pid:
		case status.Exited():
			return status.ExitStatus(), nil
		case status.Signaled():
			return 128 + int(status.Signal()), nil
		}
	}
}
