// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package record

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// maxPID is more than any process id.
const maxPID = 1 << 30

// Hold marks this process as a run for the Workspace with the supplied UID, and returns
// the ids of the other processes that have such a mark now.
//
// The mark is a POSIX record lock of the byte at the process id, in a file per Workspace
// below dir. The kernel keeps such a lock when the process becomes another program.
// Children do not inherit it: a sleep that a killed CLI leaves behind is not a run. The
// kernel drops the lock when the process ends for any reason, before its parent can know.
// So every run has a mark exactly while it runs, and no two clock readings are compared.
// Each run is marked before it looks for other marks. So, of two runs that overlap, the
// one with the later mark sees the other.
func Hold(dir, uid string) ([]int, error) {
	// Not os.Open: the file has to stay open when this process becomes the CLI.
	fd, err := unix.Open(filepath.Join(dir, uid), unix.O_RDWR|unix.O_CREAT, 0o600)
	if err != nil {
		return nil, fmt.Errorf("cannot open lock file: %w", err)
	}

	own := int64(os.Getpid())
	if err := unix.FcntlFlock(uintptr(fd), unix.F_SETLK, lock(own, own+1)); err != nil {
		return nil, fmt.Errorf("cannot lock: %w", err)
	}

	return holders(uintptr(fd), 0, maxPID)
}

// Held says whether the process with the supplied id still is a run for the Workspace
// with the supplied UID.
func Held(dir, uid string, pid int) (bool, error) {
	f, err := os.OpenFile(filepath.Join(dir, uid), os.O_RDWR, 0) //nolint:gosec // The test has chosen the directory.
	if err != nil {
		return false, fmt.Errorf("cannot open lock file: %w", err)
	}
	defer f.Close() //nolint:errcheck // Nothing was written to it.

	pids, err := holders(f.Fd(), int64(pid), int64(pid)+1)

	return len(pids) > 0, err
}

// Busy says whether any run for the Workspace with the supplied UID has not ended.
func Busy(dir, uid string) (bool, error) {
	f, err := os.OpenFile(filepath.Join(dir, uid), os.O_RDWR, 0) //nolint:gosec // The test has chosen the directory.
	if os.IsNotExist(err) {
		return false, nil
	}

	if err != nil {
		return false, fmt.Errorf("cannot open lock file: %w", err)
	}

	defer f.Close() //nolint:errcheck // Nothing was written to it.

	pids, err := holders(f.Fd(), 0, maxPID)

	return len(pids) > 0, err
}

// holders returns the ids of the other processes that hold a byte in [from, to).
func holders(fd uintptr, from, to int64) ([]int, error) {
	if from >= to {
		return nil, nil
	}

	// The answer is any one lock in the way.
	l := lock(from, to)
	if err := unix.FcntlFlock(fd, unix.F_GETLK, l); err != nil {
		return nil, fmt.Errorf("cannot ask for locks: %w", err)
	}

	if l.Type == unix.F_UNLCK {
		return nil, nil
	}

	before, err := holders(fd, from, l.Start)
	if err != nil {
		return nil, err
	}

	after, err := holders(fd, l.Start+1, to)

	return append(append(before, int(l.Pid)), after...), err
}

func lock(from, to int64) *unix.Flock_t {
	return &unix.Flock_t{Type: unix.F_WRLCK, Whence: io.SeekStart, Start: from, Len: to - from}
}
