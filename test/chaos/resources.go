// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"cmp"
	"fmt"
	"slices"
)

// A resource is one thing that a module has created, in all records.
type resource struct {
	id        string
	workspace string

	// begun is when its creation began, and by is the process of the CLI.
	begun int64
	by    int

	// finished says that all of its creation was done.
	finished bool

	// destroyed is when its destruction began, 0 if it never did.
	destroyed int64

	// saved says that some version of the state has it, and tainted that it is
	// tainted in the last one that has it.
	saved, tainted bool

	// seen is when the first version of the state that has it was, 0 if none was.
	seen int64
}

// resources returns all resources in the order in which their creation began.
func resources(ledger []entry, versions []version) []*resource {
	var all []*resource

	byID := map[string]*resource{}

	for _, e := range ledger {
		r := byID[e.id]
		if r == nil {
			r = &resource{id: e.id, workspace: e.workspace, begun: e.time, by: e.pid}
			byID[e.id] = r
			all = append(all, r)
		}

		switch e.what {
		case created:
			r.finished = true
		case destroying:
			// A run that is killed before it saves the state leaves the destruction to be
			// repeated. Only what is in the state is ever destroyed.
			r.destroyed, r.saved = cmp.Or(r.destroyed, e.time), true
		}
	}

	for _, v := range versions {
		for id, tainted := range v.things {
			r := byID[id]
			if r == nil {
				continue
			}

			r.saved, r.tainted = true, tainted
			r.seen = cmp.Or(r.seen, v.time)
		}
	}

	return all
}

// createdTwice returns the creations of what existed already: a resource that is in
// the state, untainted, and whose destruction has not begun; or one that another
// process is creating. Every Workspace here has one resource at a time.
func createdTwice(all []*resource, runs []run, c clock) []violation {
	var found []violation

	for i, r := range all {
		for _, other := range all[:i] {
			if other.workspace != r.workspace {
				continue
			}

			why := inTheWay(other, r, runs)
			if why == "" {
				continue
			}

			found = append(found, violation{
				workspace: r.workspace,
				time:      r.begun,
				instances: creators(runs, other, r),
				text: fmt.Sprintf("%s was created at %s by %s\nalthough there was %s, created at %s by %s, %s",
					r.id, c.at(r.begun), creator(runs, r), other.id, c.at(other.begun), creator(runs, other), why),
			})
		}
	}

	return found
}

// inTheWay says why the creation of r must not have begun while there was other. It
// is empty if it may.
func inTheWay(other, r *resource, runs []run) string {
	switch {
	case known(runs, other, r) && (other.destroyed == 0 || other.destroyed > r.begun):
		return "which was in the state and not destroyed"
	case other.by != r.by && !other.finished && running(runs, other, r):
		return "which was being created"
	default:
		return ""
	}
}

// known says whether the run that created r had to know of other. Nobody can know of what
// is in no state yet: its creation was cut short by a SIGKILL, or its state is still on
// the disk of somebody else, or it is lost, which is another verdict. A run holds the lock
// of the state until it ends: what others were seen to have stored by then was there
// before. A resource that is tainted is replaced without another word.
func known(runs []run, other, r *resource) bool {
	by := r.begun
	if run := creation(runs, r); run != nil {
		by = max(by, run.end)
	}

	return other.seen != 0 && other.seen <= by && !other.tainted
}

// running says whether the run that created other had not ended when the creation of r
// began. It may have been seen to end too late, so the two runs must overlap as well.
func running(runs []run, other, r *resource) bool {
	first, second := creation(runs, other), creation(runs, r)
	if first == nil || second == nil {
		return false
	}

	overlap := slices.Contains(second.beside, first.pid) || slices.Contains(first.beside, second.pid)

	return overlap && (first.end == 0 || first.end > r.begun)
}

// creation returns the run that created the resource, nil if it is not known. A
// provisioner whose run was killed before it asked for its parent has another parent: it
// is from the last run that could create anything.
func creation(runs []run, r *resource) *run {
	var last *run

	for i := range slices.Backward(runs) {
		by := &runs[i]
		if by.workspace != r.workspace || by.start > r.begun {
			continue
		}

		if by.pid == r.by {
			return by
		}

		if last == nil && by.command == "apply" {
			last = by
		}
	}

	return last
}

func creator(runs []run, r *resource) string {
	if by := creation(runs, r); by != nil {
		return by.instance
	}

	return "nobody who wrote it down"
}

func creators(runs []run, rs ...*resource) []string {
	var names []string

	for _, r := range rs {
		if by := creation(runs, r); by != nil {
			names = append(names, by.instance)
		}
	}

	return names
}
