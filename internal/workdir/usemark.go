// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workdir

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

const (
	// maxUse is the longest duration in a valid mark: the content of a directory is not trusted.
	maxUse = 24 * time.Hour

	// maxMark is the size of the largest mark.
	maxMark = 4 << 10

	// bootID changes whenever the machine starts. It is the same in all its containers.
	bootID = "/proc/sys/kernel/random/boot_id"
)

// A useMark is in a directory while it is used. On some file systems, several machines see the same
// files but not the locks of one another. The mark of another machine is honored even if the lock
// seems to be free.
type useMark struct {
	// Host is the machine whose kernel holds the lock while the machine runs.
	Host string `json:"host"`

	// Nonce is unique to each use.
	Nonce string `json:"nonce"`

	// Longest is the longest duration of the use.
	Longest time.Duration `json:"longest"`
}

// hostID returns the boot ID of the kernel of this machine. If it cannot be read, every process
// counts as a separate host.
func hostID() string {
	data, err := os.ReadFile(bootID)
	if id := strings.TrimSpace(string(data)); err == nil && id != "" {
		return id
	}

	return rand.Text()
}

// markUse writes the mark of a use to the locked file, and returns a function that erases it.
func (d *Dir) markUse() (erase func(), err error) {
	u := useMark{Host: d.root.host, Nonce: rand.Text(), Longest: d.root.longest}

	data, err := json.Marshal(u)
	if err == nil {
		err = d.writeMark(data)
	}

	if err != nil {
		return nil, fmt.Errorf("cannot record that the working directory is used: %w", err)
	}

	return func() {
		// Another use may have begun in the meantime.
		if f, err := d.openUse(); err == nil {
			defer f.Close() //nolint:errcheck // Nothing depends on it: the mark gets old.

			if string(readMark(f)) == string(data) {
				_ = f.Truncate(0)
			}
		}
	}, nil
}

// writeMark replaces the content of the locked file, but not the file. Other machines see the mark
// when the file is closed.
func (d *Dir) writeMark(data []byte) error {
	f, err := d.openUse()
	if err != nil {
		return err
	}

	err = f.Truncate(0)
	if err == nil {
		_, err = f.Write(data)
	}

	return errors.Join(err, f.Close())
}

// readMark returns the mark, within its limits.
func readMark(f *os.File) []byte {
	data := make([]byte, maxMark)

	n, err := f.ReadAt(data, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		// A mark never has this content.
		return []byte(err.Error())
	}

	return data[:n]
}

// usedFor returns how long another machine may still use a directory that is not locked,
// according to the supplied mark. It relies on the observations of this process, not on times
// that other machines have written.
func (r *Root) usedFor(uid string, data []byte) time.Duration {
	u := useMark{}
	broken := json.Unmarshal(data, &u) != nil
	// The lock covers uses on this machine.
	if len(data) == 0 || !broken && u.Host == r.host {
		r.dropSighting(uid)

		return 0
	}

	longest := u.Longest
	if broken || longest < 0 || longest > maxUse {
		longest = maxUse
	}

	// The sighting of an expired mark stays, or the time would count anew.
	return max(longest-r.seenFor(uid, string(data)), 0)
}

// seenFor returns how long this mark has been seen in the directory.
func (r *Root) seenFor(uid, mark string) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()

	s, ok := r.seen[uid]
	if !ok || s.mark != mark {
		s = sighting{mark: mark, since: time.Now()}
		r.seen[uid] = s
	}

	return time.Since(s.since)
}

// dropSighting drops the sighting of a directory: nothing uses it, or it was removed.
func (r *Root) dropSighting(uid string) {
	r.mu.Lock()
	defer r.mu.Unlock()

	delete(r.seen, uid)
}

// A sighting is the mark of another machine, and the time since which it was seen.
type sighting struct {
	mark  string
	since time.Time
}
