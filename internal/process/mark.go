// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// markVariable is the environment variable of a Mark.
const markVariable = "CROSSPLANE_PROVIDER_TERRAFORM_RUN"

// endTimeout limits the wait for the end of killed processes: the kernel may keep one in a system call.
const endTimeout = time.Second

// A Mark is a variable in the environment of a program. All processes that the program starts inherit
// it, also those that leave the process group. A process escapes it that clears its environment, or
// whose environment this process may not read because it has another user.
type Mark string

// NewMark returns a unique Mark.
func NewMark() Mark { return Mark(markVariable + "=" + rand.Text()) }

// Orphans returns the names of the marked programs whose parent has ended, in order.
func (m Mark) Orphans() []string {
	var names []string

	for _, pid := range m.orphans() {
		// The name is not an argument, so that it is no secret.
		if name, err := os.ReadFile(procFile(pid, "comm")); err == nil {
			names = append(names, strings.TrimSpace(string(name)))
		}
	}

	slices.Sort(names)

	return slices.Compact(names)
}

// killOrphans kills the marked processes whose parent has ended, and waits for their end. Their
// children become orphans by that.
func (m Mark) killOrphans() {
	deadline := time.Now().Add(endTimeout)

	for again := true; again; {
		again = m.killOnce(deadline) && time.Now().Before(deadline)
	}
}

// killOnce returns whether it killed a process.
func (m Mark) killOnce(deadline time.Time) bool {
	var killed []int

	for _, pid := range m.orphans() {
		if fd, ok := m.kill(pid); ok {
			killed = append(killed, fd)
		}
	}

	// All were killed before: one could start another one again.
	for _, fd := range killed {
		awaitEnd(fd, time.Until(deadline))
	}

	return len(killed) > 0
}

// kill kills a process that has the mark, and returns a file descriptor of it.
func (m Mark) kill(pid int) (fd int, ok bool) {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return 0, false
	}

	// It may have ended, and another process may have got its ID before there was a descriptor.
	if !m.marks(pid) || unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0) != nil {
		_ = unix.Close(fd)

		return 0, false
	}

	return fd, true
}

// awaitEnd waits for the end of a process, and closes its file descriptor. The memory of a process, which
// has the mark, ends before its children get their new parent. Then the process ends.
func awaitEnd(fd int, limit time.Duration) {
	for {
		_, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, max(int(limit.Milliseconds()), 0)) //nolint:gosec // Descriptors are small.
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}

	// In a container without an init process, it is a child of this process.
	_ = unix.Waitid(unix.P_PIDFD, fd, nil, unix.WEXITED|unix.WNOHANG, nil)
	_ = unix.Close(fd)
}

func (m Mark) orphans() []int {
	return slices.DeleteFunc(orphans(), func(pid int) bool { return !m.marks(pid) })
}

// marks says whether a process has the mark. One that has ended has no environment.
func (m Mark) marks(pid int) bool {
	env, err := os.ReadFile(procFile(pid, "environ"))

	return err == nil && bytes.Contains(env, []byte(m))
}

// orphans returns the children of the processes that get the orphans among the descendants of this one:
// the init process, or an ancestor. These are few, unlike all processes.
func orphans() []int {
	pids := childrenOf(1)
	for pid := os.Getppid(); pid > 1; pid = parentOf(pid) {
		pids = append(pids, childrenOf(pid)...)
	}

	return pids
}

// childrenOf returns the children of the main thread of a process. The kernel makes orphans its children, not those of another thread,
// unless it has ended (find_alive_thread in kernel/exit.c). In Go and in tini, the process ends with it.
func childrenOf(pid int) []int {
	text, _ := os.ReadFile(procFile(pid, fmt.Sprintf("task/%d/children", pid))) // The process may have ended.

	var pids []int

	for word := range strings.FieldsSeq(string(text)) {
		if child, err := strconv.Atoi(word); err == nil {
			pids = append(pids, child)
		}
	}

	return pids
}

// parentOf returns the parent of a process, or 0.
func parentOf(pid int) int {
	stat, _ := os.ReadFile(procFile(pid, "stat")) // The process may have ended.

	var (
		state  string
		parent int
	)

	// The name of the program is in parentheses, and may have some.
	_, _ = fmt.Sscan(string(stat[bytes.LastIndexByte(stat, ')')+1:]), &state, &parent)

	return parent
}

func procFile(pid int, name string) string { return fmt.Sprintf("/proc/%d/%s", pid, name) }
