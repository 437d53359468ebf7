// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workdir

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// useName is the file that a process locks while it uses the directory, and in which it marks the
	// use. Unlike the mark, the lock always ends with the process.
	useName = "use"

	// useRetry is the interval of attempts while a sweep has the directory.
	useRetry = 20 * time.Millisecond

	// maxUse is the longest duration in a valid mark, which a module can write.
	maxUse = 24 * time.Hour

	// maxMark is the size of the largest mark.
	maxMark = 4 << 10

	// bootID changes whenever the machine starts. It is the same in all its containers.
	bootID = "/proc/sys/kernel/random/boot_id"
)

// A useMark is in a directory while it is used. On some file systems, several machines see the same
// files but not the locks of one another: the mark of another machine counts although the lock is free.
type useMark struct {
	// Host is the machine whose kernel holds the lock while the machine runs.
	Host string `json:"host"`

	// Nonce is unique to each use.
	Nonce string `json:"nonce"`

	// Longest is the longest duration of the use.
	Longest time.Duration `json:"longest"`
}

// A sighting is the mark of another machine, and the time since which it was seen.
type sighting struct {
	mark  string
	since time.Time
}

// hostID returns the boot ID of this machine. Without it, every process counts as a separate host.
func hostID() string {
	data, err := os.ReadFile(bootID)
	if id := strings.TrimSpace(string(data)); err == nil && id != "" {
		return id
	}

	return rand.Text()
}

// Use prevents Sweep and Remove, of this process and of others, from touching the directory until
// the returned function is called. Another machine may not see the lock: there the directory is
// protected for the longest use of the root. On a file system without locks Sweep does nothing, but
// Remove relies on the marks of other machines.
func (d *Dir) Use(ctx context.Context) (done func(), err error) {
	f, err := d.openUse()
	if err != nil {
		return nil, err
	}

	for errors.Is(lock(f, unix.LOCK_SH), unix.EWOULDBLOCK) {
		select {
		case <-ctx.Done():
			_ = f.Close()

			return nil, fmt.Errorf("interrupted while secrets are removed from the working directory: %w", ctx.Err())
		case <-time.After(useRetry):
		}
	}

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

// markUse writes the mark of a use to the locked file, and returns a function that erases it.
func (d *Dir) markUse() (erase func(), err error) {
	mark, _ := json.Marshal(useMark{Host: d.root.host, Nonce: rand.Text(), Longest: d.root.longest}) // Plain types can be encoded.

	// It replaces the content, and not the file. Other machines see it when the file is closed.
	if err := d.records.WriteFile(useName, mark, 0o600); err != nil {
		return nil, fmt.Errorf("cannot record that the working directory is used: %w", err)
	}

	return func() {
		f, err := d.openUse()
		if err != nil {
			return // The mark gets old.
		}
		defer f.Close() //nolint:errcheck // Nothing depends on it either.

		// Another use may have begun in the meantime.
		if string(readMark(f)) == string(mark) {
			_ = f.Truncate(0)
		}
	}, nil
}

// Sweep calls fn for the directory of every Workspace that is not in use, and prevents its use until
// fn returns. An error for one directory does not stop the others, but the end of ctx does. Sweep
// returns how long another machine may still be using a directory.
func (r *Root) Sweep(ctx context.Context, fn func(*Dir) error) (time.Duration, error) {
	uids, err := r.List()
	if err != nil {
		return 0, err
	}

	var wait time.Duration

	// Without a directory, they may have the plan of a killed run.
	recorded, err := namesWith(r.dir, recordsDir, "")
	errs := []error{err}

	for _, uid := range recorded {
		errs = append(errs, r.removeOrphanedRecords(uid))
	}

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

// unused is Sweep for one directory. On a file system without locks, guess says whether to call fn.
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

// usedFor returns how long another machine may still use a directory that is not locked, according to
// its mark. It counts from the time at which this process first saw the mark: clocks differ.
func (r *Root) usedFor(uid string, mark []byte) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()

	u := useMark{}
	broken := json.Unmarshal(mark, &u) != nil
	// The lock covers uses on this machine.
	if len(mark) == 0 || !broken && u.Host == r.host {
		delete(r.seen, uid)

		return 0
	}

	if broken || u.Longest < 0 || u.Longest > maxUse {
		u.Longest = maxUse
	}

	// The sighting of an expired mark stays, or the time would count anew.
	s, ok := r.seen[uid]
	if !ok || s.mark != string(mark) {
		s = sighting{mark: string(mark), since: time.Now()}
		r.seen[uid] = s
	}

	return max(u.Longest-time.Since(s.since), 0)
}

func (d *Dir) openUse() (*os.File, error) {
	f, err := d.records.OpenFile(useName, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("cannot open the file that says who uses the working directory: %w", err)
	}

	return f, nil
}

// readMark returns at most maxMark bytes of the mark.
func readMark(f *os.File) []byte {
	data := make([]byte, maxMark)

	n, err := f.ReadAt(data, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		// A mark never has this content.
		return []byte(err.Error())
	}

	return data[:n]
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
