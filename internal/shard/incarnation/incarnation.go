// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package incarnation lets a process prove that an earlier process in the same pod is dead, and
// that the Lease has not changed since.
//
// Each process has a process file, in a file system in memory. The containers of a pod share that
// file system. It survives a container restart. It is lost with the pod or a reboot. Therefore a
// process that finds the file runs on the same kernel as the process that made it.
//
// The process holds a lock on its file, and all of its children inherit the lock. The kernel
// releases it when the last of them has ended. A process that is stopped, or cannot end, keeps
// it.
//
// The file has the version of the Lease that the process wrote last. A Lease of any other
// version was changed since, and another instance may have taken it: the death of the process
// says nothing then. A Lease may name the process again, because a person has restored it.
package incarnation

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// Dir is the directory of the process files in a pod.
const Dir = "/dev/shm"

const (
	// prefix begins the names of process files. Identities are unique.
	prefix = "crossplane-provider-terraform-"

	// maxSize is longer than a process file.
	maxSize = 512
)

// ProcessFiles are the files of the processes in this pod. Begin and Wrote must not be called
// concurrently.
type ProcessFiles struct {
	dir string

	// own is the file of this process.
	own *os.File
}

// New returns the ProcessFiles in the supplied directory.
func New(dir string) *ProcessFiles { return &ProcessFiles{dir: dir} }

// Begin makes the file of this process, if there is none. Children that start later inherit the
// lock. Without a file, this process cannot be proven to be dead.
func (p *ProcessFiles) Begin(identity string) (err error) {
	if p.own != nil {
		return nil
	}

	root, err := os.OpenRoot(p.dir)
	if err != nil {
		return fmt.Errorf("cannot open directory of process files: %w", err)
	}
	defer root.Close() //nolint:errcheck // Nothing is written through it.

	own, err := root.OpenFile(prefix+identity, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("cannot make process file: %w", err)
	}

	if err := hold(root, identity); err != nil {
		return errors.Join(err, own.Close(), root.Remove(prefix+identity))
	}

	p.own = own

	return nil
}

// hold locks the file of this process until the process ends. Children get a descriptor that they
// cannot write to.
func hold(root *os.Root, identity string) error {
	f, err := open(root, identity)
	if err != nil {
		return fmt.Errorf("cannot open process file: %w", err)
	}
	defer f.Close() //nolint:errcheck // Nothing is written through it.

	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return fmt.Errorf("cannot lock process file: %w", err)
	}

	// The duplicate keeps the lock, and children inherit it. The garbage collector closes an os.File
	// that is not used any more, and does not know of the duplicate.
	if _, err := unix.Dup(int(f.Fd())); err != nil {
		return fmt.Errorf("cannot lock process file: %w", err)
	}

	return nil
}

// Wrote notes the version of the Lease that this process has just written.
func (p *ProcessFiles) Wrote(version string) error {
	if p.own == nil {
		return nil
	}

	// An earlier version may be longer. What follows the end of the line does not count.
	if _, err := p.own.WriteAt([]byte(version+"\n"), 0); err != nil {
		return fmt.Errorf("cannot write process file: %w", err)
	}

	return nil
}

// Last returns the version of the Lease that the process with the supplied identity wrote last.
// It is empty unless that process and all of its children have ended.
func (p *ProcessFiles) Last(identity string) string {
	root, err := os.OpenRoot(p.dir)
	if err != nil {
		return ""
	}
	defer root.Close() //nolint:errcheck // Nothing is written through it.

	f, err := open(root, identity)
	if err != nil {
		return ""
	}
	defer f.Close() //nolint:errcheck // That unlocks it; nothing is written.

	// Any error means that the process may be alive. Several processes may look at once.
	if unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB) != nil {
		return ""
	}

	text, err := io.ReadAll(io.LimitReader(f, maxSize))
	if err != nil {
		return ""
	}

	version, _, complete := bytes.Cut(text, []byte("\n"))
	if !complete {
		return ""
	}

	return string(version)
}

// Remove removes the file of a process.
func (p *ProcessFiles) Remove(identity string) {
	root, err := os.OpenRoot(p.dir)
	if err != nil {
		return
	}
	defer root.Close() //nolint:errcheck // Nothing is written through it.

	// A process file that stays is small, and does no harm.
	_ = root.Remove(prefix + identity)
}

// open opens a process file. It fails for one that another user made, or that another kernel may
// see.
func open(root *os.Root, identity string) (*os.File, error) {
	f, err := root.OpenFile(prefix+identity, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}

	if err := check(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}

	return f, nil
}

func check(f *os.File) error {
	var (
		st unix.Stat_t
		fs unix.Statfs_t
	)

	if err := errors.Join(unix.Fstat(int(f.Fd()), &st), unix.Fstatfs(int(f.Fd()), &fs)); err != nil {
		return err
	}

	switch {
	case fs.Type != unix.TMPFS_MAGIC:
		return errors.New("the file system is not in the memory of this kernel")
	case st.Mode&unix.S_IFMT != unix.S_IFREG:
		return errors.New("it is no regular file")
	case int(st.Uid) != os.Geteuid():
		return errors.New("it belongs to another user")
	default:
		return nil
	}
}
