// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package incarnation lets a process prove that an earlier process in the same pod is dead.
//
// Each process has a process file, in a file system in memory. The containers of a pod share that
// file system. It survives a container restart. It is lost with the pod or a reboot. Therefore a
// process that finds the file runs on the same kernel as the process that made it.
//
// The process holds a lock on its file, and all of its children inherit the lock. The kernel
// releases it when the last of them has ended. A process that is stopped, or cannot end, keeps
// it. A later process that gets the lock keeps the file, and the identity that is in its name.
package incarnation

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// Dir is the directory of the process files in a pod.
const Dir = "/dev/shm"

const (
	// prefix begins the names of process files. Identities are unique.
	prefix = "crossplane-provider-terraform-"

	// maxSize is longer than a process file.
	maxSize = 1024
)

// A ProcessFile is the file of one process. This process has its lock. Its methods must not be called
// concurrently.
type ProcessFile struct {
	root *os.Root
	file *os.File

	// Identity of the process.
	Identity string

	// Scope of the process: only processes of one scope follow each other. Session is the session that it
	// opened last, or empty.
	Scope, Session string
}

// Create makes the file of this process. Children that start later inherit the lock. Without a file, this
// process cannot be proven to be dead.
func Create(dir, identity, scope string) (*ProcessFile, error) {
	p, err := in(dir, identity)
	if err != nil {
		return nil, fmt.Errorf("cannot open directory of process files: %w", err)
	}

	made, err := p.root.OpenFile(prefix+identity, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		p.Close()

		return nil, fmt.Errorf("cannot make process file: %w", err)
	}

	p.Scope = scope

	if err := errors.Join(made.Close(), p.open(), p.Record(""), p.Keep()); err != nil {
		p.Remove()

		return nil, fmt.Errorf("cannot make process file: %w", err)
	}

	return p, nil
}

// Dead returns the files in a directory of the processes of a scope that have ended, and all of their
// children. Each has to be kept, closed or removed.
func Dead(dir, scope string) []*ProcessFile {
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}

	var dead []*ProcessFile

	for _, f := range files {
		identity, ok := strings.CutPrefix(f.Name(), prefix)
		if !ok {
			continue
		}

		p, err := in(dir, identity)
		if err != nil {
			continue
		}

		// The scope never changes. Without the lock, the session may.
		if p.read() != nil || p.Scope != scope || p.open() != nil || p.read() != nil {
			p.Close()

			continue
		}

		dead = append(dead, p)
	}

	return dead
}

func in(dir, identity string) (*ProcessFile, error) {
	root, err := os.OpenRoot(dir)

	return &ProcessFile{root: root, Identity: identity}, err
}

// open opens the file and locks it. It fails if the process may be alive, or for a file that another user
// made, or that another kernel may see. Children get a descriptor that they cannot write to.
func (p *ProcessFile) open() (err error) {
	if p.file, err = p.root.OpenFile(prefix+p.Identity, os.O_RDONLY|unix.O_NONBLOCK, 0); err != nil {
		return err
	}

	if err := check(p.file); err != nil {
		return err
	}

	return unix.Flock(int(p.file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
}

// read reads the scope and the session.
func (p *ProcessFile) read() error {
	f, err := p.root.OpenFile(prefix+p.Identity, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // Nothing is written through it.

	if err := check(f); err != nil {
		return err
	}

	text, err := io.ReadAll(io.LimitReader(f, maxSize))
	if err != nil {
		return err
	}

	// What follows the second line is left of a longer text.
	lines := strings.SplitN(string(text), "\n", 3)
	if len(lines) < 3 {
		return errors.New("the process file is not complete")
	}

	p.Scope, p.Session = lines[0], lines[1]

	return nil
}

// Keep keeps the lock until this process and all of its children have ended.
func (p *ProcessFile) Keep() error {
	// Children inherit the duplicate. The garbage collector closes an os.File that is not used any more, and
	// does not know of the duplicate.
	if _, err := unix.Dup(int(p.file.Fd())); err != nil {
		return fmt.Errorf("cannot keep the lock on the process file: %w", err)
	}

	return nil
}

// Record notes the session that this process is about to open.
func (p *ProcessFile) Record(session string) error {
	p.Session = session

	f, err := p.root.OpenFile(prefix+p.Identity, os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("cannot write process file: %w", err)
	}

	_, err = f.WriteString(p.Scope + "\n" + session + "\n")
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("cannot write process file: %w", err)
	}

	return nil
}

// Close gives up the lock, unless it is kept.
func (p *ProcessFile) Close() {
	if p.file != nil {
		_ = p.file.Close()
	}

	_ = p.root.Close()
}

// Remove removes the file. One that stays is small, and does no harm.
func (p *ProcessFile) Remove() {
	_ = p.root.Remove(prefix + p.Identity)
	p.Close()
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
