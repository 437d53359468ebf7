// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workdir

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// useName is the file that a process locks while it uses the directory, and in which it
	// marks the use. The lock ends with the process in any case, the mark does not.
	useName = ".crossplane-use"

	// useRetry is the interval of attempts while a sweep, which is short, has the directory.
	useRetry = 20 * time.Millisecond
)

// Use prevents Sweep and Remove, of this process and of others, from touching the directory until
// the returned function is called. Another machine may not see the lock: there the directory is
// protected no longer than the longest use of the root. On a file system without locks Sweep does
// nothing, but Remove relies on the marks of other machines.
func (d *Dir) Use(ctx context.Context) (done func(), err error) {
	f, err := d.openUse()
	if err != nil {
		return nil, err
	}

	for {
		err := lock(f, unix.LOCK_SH)
		if !errors.Is(err, unix.EWOULDBLOCK) {
			erase, err := d.markUse()
			if err != nil {
				_ = f.Close()

				return nil, err
			}

			return func() {
				erase()

				_ = f.Close()
			}, nil
		}

		select {
		case <-ctx.Done():
			_ = f.Close()

			return nil, fmt.Errorf("interrupted while secrets are removed from the working directory: %w", ctx.Err())
		case <-time.After(useRetry):
		}
	}
}

// Sweep calls fn for the directory of every Workspace that is not in use, and prevents
// its use until fn returns. An error for one directory does not stop the others, but the end of ctx
// does. Sweep returns how long another machine may still be using a directory, zero if none may.
func (r *Root) Sweep(ctx context.Context, fn func(*Dir) error) (time.Duration, error) {
	uids, err := r.List()
	if err != nil {
		return 0, err
	}

	var (
		wait time.Duration
		errs []error
	)

	for _, uid := range uids {
		if ctx.Err() != nil {
			return wait, errors.Join(append(errs, ctx.Err())...)
		}

		left, err := r.unused(uid, false, fn)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, fmt.Errorf("cannot sweep working directory %s: %w", uid, err))
		}

		wait = max(wait, left)
	}

	return wait, errors.Join(errs...)
}

// unused calls fn if the directory of a Workspace is not in use, and prevents its use until fn
// returns. On a file system without locks this is unknown: guess decides then. unused returns how
// long another machine may still be using the directory.
func (r *Root) unused(uid string, guess bool, fn func(*Dir) error) (time.Duration, error) {
	d, err := r.open(uid)
	if err != nil {
		return 0, err
	}
	defer d.Close() //nolint:errcheck // Nothing is written through it.

	f, err := d.openUse()
	if err != nil {
		return 0, err
	}
	defer f.Close() //nolint:errcheck // That unlocks it; nothing is written.

	err = lock(f, unix.LOCK_EX)
	if errors.Is(err, unix.EWOULDBLOCK) || err != nil && !guess {
		return 0, nil
	}

	if left := r.usedFor(uid, readMark(f)); left > 0 {
		return left, nil
	}

	return 0, fn(d)
}

func (d *Dir) openUse() (*os.File, error) {
	f, err := d.dir.OpenFile(useName, os.O_RDWR|os.O_CREATE, 0o600)

	if err != nil {
		return nil, fmt.Errorf("cannot open the file that says who uses the working directory: %w", err)
	}

	return f, nil
}

// lock locks a file if that is possible at once.
func lock(f *os.File, how int) error {
	for {
		err := unix.Flock(int(f.Fd()), how|unix.LOCK_NB)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
