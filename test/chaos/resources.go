// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A resource is one resource of a module, in all records.
type resource struct {
	id string

	// uid is that of the Workspace that created it, and workspace its name.
	uid, workspace string

	// state that it belongs to. It is not known if the run is not.
	state string

	// begun is the time when its creation began. It is followed by the run that created
	// it, nil if it is not known.
	begun int64
	by    *run

	// finished says that all of its creation was done. busy is when that was, or when its
	// creation began if it was not.
	finished bool
	busy     int64

	// destructions are the times at which its destruction began, in order. There may be
	// more than one.
	destructions []destruction

	// saved says that some version of the state has the resource, and tainted that it is
	// tainted in the last such version.
	saved, tainted bool

	// seen is the time of the first version of the state that has the resource, 0 if there
	// is none. versions are all versions that have it.
	seen     int64
	versions []version
}

// A destruction of a resource is a run that destroyed it.
type destruction struct {
	time int64
	uid  string
	by   *run
}

// destroyed is the time when the destruction of the resource began, 0 if there was none.
func (r *resource) destroyed() int64 {
	if len(r.destructions) == 0 {
		return 0
	}

	return r.destructions[0].time
}

// onDisk says whether the state is on a disk, where its versions are not observed.
func (r *resource) onDisk() bool { return strings.HasPrefix(r.state, "disk/") }

// resources returns all resources in the order in which their creation began.
func resources(ledger []entry, versions []version, runs []run) []*resource {
	var all []*resource

	byID := map[string]*resource{}

	for _, e := range ledger {
		by := doer(runs, e)

		r := byID[e.id]
		if r == nil {
			r = &resource{id: e.id, uid: e.uid, begun: e.time, busy: e.time, by: by}
			byID[e.id] = r
			all = append(all, r)

			if by != nil {
				r.workspace, r.state = by.workspace, by.state
			}
		}

		switch e.what {
		case created:
			r.finished, r.busy = true, e.time
		case destroying:
			// Only resources in the state are destroyed.
			r.destructions, r.saved = append(r.destructions, destruction{time: e.time, uid: e.uid, by: by}), true
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
			r.versions = append(r.versions, v)
		}
	}

	return all
}

// doer returns the run of an entry of the ledger. It is nil if that is not known.
func doer(runs []run, e entry) *run {
	if i := lastRun(runs, e.uid, e.pid, e.time); i >= 0 {
		return &runs[i]
	}

	return nil
}

// createdTwice returns the creations of existing resources: a resource that is in the
// state, untainted, and whose destruction has not begun; or one that another process is
// creating. Every state here has one resource at a time.
func createdTwice(all []*resource, versions []version, c clock) []violation {
	var found []violation

	for i, r := range all {
		for _, other := range all[:i] {
			if other.state != r.state || r.state == "" {
				continue
			}

			why := inTheWay(other, r, versions)
			if why == "" {
				continue
			}

			found = append(found, violation{
				workspace: r.workspace,
				others:    besides(r.workspace, other.workspace),
				time:      r.begun,
				instances: instancesOf(other.by, r.by),
				text: fmt.Sprintf("%s was created at %s by %s\nalthough there was %s, created at %s by %s, %s",
					r.id, c.at(r.begun), r.by.actor(), other.id, c.at(other.begun), other.by.actor(), why),
			})
		}
	}

	return found
}

// inTheWay says why the creation of r must not have begun while there was other. It
// is empty if it may.
func inTheWay(other, r *resource, versions []version) string {
	switch {
	case known(other, r, versions) && (other.destroyed() == 0 || other.destroyed() > r.begun):
		return "which was in the state and not destroyed"
	case !other.finished && running(other, r):
		return "which was being created"
	default:
		return ""
	}
}

// known says whether the run that created r had to know of other. A run cannot know of a
// resource that is in no state: its creation was interrupted by a SIGKILL, or its state is
// still on another disk, or the state is lost, which is another verdict. A run holds the
// lock of the state until it ends: versions that other runs were seen to store by then
// were stored before. A tainted resource is replaced without an announcement.
func known(other, r *resource, versions []version) bool {
	by := r.begun
	if r.by != nil {
		by = max(by, r.by.end)
	}

	// That the state has lost it before is another verdict, too.
	for _, v := range versions {
		if _, there := v.things[other.id]; v.state == other.state && !there && v.time > other.seen && v.time < r.begun {
			return false
		}
	}

	return other.seen != 0 && other.seen <= by && !other.tainted
}

// running says whether the run that created other had not ended when the creation of r
// began.
func running(other, r *resource) bool {
	first, second := other.by, r.by
	if first == nil || second == nil || first == second {
		return false
	}

	// Runs for one Workspace see one another.
	if first.uid == second.uid {
		return (slices.Contains(second.beside, first.pid) || slices.Contains(first.beside, second.pid)) && (first.end == 0 || first.end > r.begun)
	}

	// The end of other runs may have been observed too late.
	return first.end == 0 || first.end-int64(moment) > r.begun
}

// actor names the instance and the Workspace of a run.
func (r *run) actor() string {
	if r == nil {
		return "a run that was not written down"
	}

	return fmt.Sprintf("%s for %s", r.instance, cmp.Or(r.workspace, r.uid))
}

// besides returns the names without the supplied one.
func besides(name string, names ...string) []string {
	var others []string

	for _, n := range names {
		if n != name && n != "" {
			others = append(others, n)
		}
	}

	return others
}

// instancesOf returns the processes that runs are of, each once.
func instancesOf(runs ...*run) []string {
	var names []string

	for _, r := range runs {
		if r != nil && !slices.Contains(names, r.instance) {
			names = append(names, r.instance)
		}
	}

	return names
}

// subject is the name of the Workspace of a run.
func (r *run) subject() string {
	if r == nil {
		return ""
	}

	return r.workspace
}
