// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A note is one external event.
type note struct {
	// time in nanoseconds since 1970.
	time int64

	// end is the end of a fault that lasts. It is 0 if it never ended.
	end int64

	// kind of fault. It is empty for other notes.
	kind kind

	// subject is the name of a Workspace or of an instance, without the number of the
	// process, empty for all.
	subject string

	// spareCLI says that a trouble of the network did not affect the CLI.
	spareCLI bool

	// killed is the process of an instance, as numbered names it, if the note is that
	// it was ended by SIGKILL: by a fault, or by itself.
	killed string

	// ended is the process of an instance if the note is that it has ended, however.
	ended string

	// failed says that the process failed at its last SIGTERM.
	failed bool

	text string
}

// A violation is a broken rule.
type violation struct {
	workspace string

	// others are the names of more Workspaces that have to do with it.
	others []string

	// time in nanoseconds since 1970.
	time int64

	// instances are the ones involved, with the numbers of their processes.
	instances []string

	text string
}

// lookBack is for how long before a violation faults are shown.
const lookBack = 20 * time.Second

// before returns the notes that may explain a violation: those about its Workspace, its
// instances or all of them.
func before(notes []note, v violation) []note {
	subjects := append([]string{"", v.workspace}, v.others...)
	for _, i := range v.instances {
		subjects = append(subjects, unnumbered(i))
	}

	var found []note

	for _, n := range notes {
		if n.time <= v.time && n.time > v.time-int64(lookBack) && slices.Contains(subjects, n.subject) {
			found = append(found, n)
		}
	}

	return found
}

// clock writes down times relative to the start of the test, as the journal does.
type clock int64

func (c clock) at(nanoseconds int64) string {
	return fmt.Sprintf("%+.3fs", time.Duration(nanoseconds-int64(c)).Seconds())
}

// A journal holds notes. It prints each new note. It is safe for concurrent use.
type journal struct {
	clock clock
	out   io.Writer

	mu    sync.Mutex
	notes []note
}

func newJournal(out io.Writer) *journal {
	return &journal{clock: clock(time.Now().UnixNano()), out: out}
}

// add adds a note about an event that begins now. The returned function ends it.
func (j *journal) add(n note) func() {
	j.mu.Lock()
	defer j.mu.Unlock()

	n.time = time.Now().UnixNano()
	j.notes = append(j.notes, n)
	fmt.Fprintf(j.out, "%9s %s\n", j.clock.at(n.time), n.text)

	i := len(j.notes) - 1

	return func() {
		j.mu.Lock()
		defer j.mu.Unlock()

		now := time.Now().UnixNano()
		j.notes[i].end = now
		fmt.Fprintf(j.out, "%9s over: %s\n", j.clock.at(now), n.text)
	}
}

// all returns all notes so far.
func (j *journal) all() []note {
	j.mu.Lock()
	defer j.mu.Unlock()

	return slices.Clone(j.notes)
}

// killed returns the times when processes of an instance were seen to be killed.
func killed(notes []note) map[string]int64 {
	at := map[string]int64{}

	for _, n := range notes {
		// The fault comes before the observation of the death, which may be late.
		if _, known := at[n.killed]; n.killed != "" && !known {
			at[n.killed] = n.time
		}
	}

	return at
}

// ended returns the times when processes of an instance were seen to have ended, for any
// reason.
func ended(notes []note) map[string]int64 {
	at := killed(notes)

	for _, n := range notes {
		if n.ended != "" {
			at[n.ended] = n.time
		}
	}

	return at
}

// numbered returns the name of the nth process of an instance, and unnumbered that of
// the instance.
func numbered(name string, n int) string { return name + "#" + strconv.Itoa(n) }

func unnumbered(process string) string {
	name, _, _ := strings.Cut(process, "#")

	return name
}
