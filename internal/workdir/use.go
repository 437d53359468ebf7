// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workdir

import (
	"context"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

const (
	// useName is the file that whoever uses the directory has locked, and has recorded the
	// use in. The lock ends with the process, however that ends; the record does not.
	useName = ".crossplane-use"

	// useRetry is how often to look whether a sweep, which takes no time, is over.
	useRetry = 20 * time.Millisecond
)

// Use keeps Sweep and Remove away from the directory, also those of other processes,
// until the returned function is called. On another machine, which may not see the lock,
// that lasts no longer than the root was told that a use takes. Where files cannot be
// locked Sweep does nothing, but Remove goes by what other machines have recorded.
func (d *Dir) Use(ctx context.Context) (done func(), err error) {
	root, err := d.open()
	if err != nil {
		return nil, err
	}

	release, err := d.use(ctx, root)
	if err != nil {
		_ = root.Close()

		return nil, err
	}

	return func() {
		release()

		_ = root.Close()
	}, nil
}

func (d *Dir) use(ctx context.Context, root *os.Root) (release func(), err error) {
	f, err := openUse(root)
	if err != nil {
		return nil, err
	}

	for {
		err := lock(f, unix.LOCK_SH)
		if !errors.Is(err, unix.EWOULDBLOCK) {
			erase, err := d.root.record(root)
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

			return nil, errors.Wrap(ctx.Err(), "interrupted while secrets are removed from the working directory")
		case <-time.After(useRetry):
		}
	}
}

// Sweep calls fn for the directory of every Workspace that nobody uses, and that
// nobody can use until fn returns. One that fails does not keep it from the others. It
// returns how long it is until there is nothing left that another machine may be using,
// zero if there is nothing.
func (r *Root) Sweep(fn func(*Dir) error) (time.Duration, error) {
	uids, err := r.List()
	if err != nil {
		return 0, err
	}

	var (
		wait time.Duration
		errs []error
	)

	for _, uid := range uids {
		d := &Dir{root: r, uid: uid}

		left, err := d.unused(false, fn)
		if !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, errors.Wrapf(err, "cannot sweep working directory %s", uid))
		}

		wait = max(wait, left)
	}

	return wait, errors.Join(errs...)
}

// unused calls fn if nobody uses the directory, and keeps everybody from it until fn
// returns. Where files cannot be locked nobody knows: guess says what to do then. It
// returns for how long another machine may still be using it.
func (d *Dir) unused(guess bool, fn func(*Dir) error) (time.Duration, error) {
	root, err := d.open()
	if err != nil {
		return 0, err
	}
	defer root.Close() //nolint:errcheck // Nothing is written through it.

	f, err := openUse(root)
	if err != nil {
		return 0, err
	}
	defer f.Close() //nolint:errcheck // That unlocks it; nothing is written.

	err = lock(f, unix.LOCK_EX)
	if errors.Is(err, unix.EWOULDBLOCK) || err != nil && !guess {
		return 0, nil
	}

	if left := d.root.usedFor(d.uid, readRecord(f)); left > 0 {
		return left, nil
	}

	return 0, fn(d)
}

func openUse(root *os.Root) (*os.File, error) {
	f, err := root.OpenFile(useName, os.O_RDWR|os.O_CREATE, 0o600)

	return f, errors.Wrap(err, "cannot open the file that says who uses the working directory")
}

// lock a file if that is possible at once.
func lock(f *os.File, how int) error {
	for {
		err := unix.Flock(int(f.Fd()), how|unix.LOCK_NB)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
