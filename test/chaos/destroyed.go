// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"fmt"
	"maps"
	"slices"
)

// A fate records the end of Workspaces, by UID.
type fate struct {
	// names of all that ever were.
	names map[string]string

	// removed is the time of the request to delete it, and gone the time when the object
	// was missing.
	removed, gone map[string]int64

	// orphaned are the Workspaces that were deleted without their finalizers. Their
	// resources are left for another Workspace.
	orphaned map[string]bool

	// lost is when the working directory of a Workspace without a backend was removed.
	lost map[string]int64

	// used are the states of the Workspaces that are there at the end.
	used map[string]bool
}

// unused returns when the workdirs of Workspaces were no longer needed.
func (f fate) unused() map[string]int64 {
	all := maps.Clone(f.removed)
	maps.Copy(all, f.lost)

	for uid := range f.orphaned {
		all[uid] = f.gone[uid]
	}

	return all
}

// destroyedUnderAnother returns the destructions of a resource by a Workspace that did not
// create it, while its creator existed. It returns only the first one for each pair of
// Workspaces, because there may be many.
func destroyedUnderAnother(all []*resource, f fate, c clock) []violation {
	var found []violation

	known := map[[2]string]bool{}

	for _, r := range all {
		for _, d := range r.destructions {
			gone, left := f.gone[r.uid]
			pair := [2]string{r.uid, d.uid}

			if d.uid == r.uid || left && gone <= d.time || known[pair] {
				continue
			}

			known[pair] = true

			found = append(found, violation{
				workspace: r.workspace,
				others:    besides(r.workspace, f.names[d.uid]),
				time:      d.time,
				instances: instancesOf(r.by, d.by),
				text: fmt.Sprintf("%s was created at %s by %s, which was still there,\nand destroyed at %s by %s",
					r.id, c.at(r.begun), r.by.actor(), c.at(d.time), d.by.actor()),
			})

			break
		}
	}

	return found
}

// destroyedTwice returns the resources that were destroyed again although the first
// destruction had got into the state, or while it was going on. A destruction that got
// into no state is repeated.
func destroyedTwice(all []*resource, versions []version, c clock) []violation {
	var found []violation

	for _, r := range all {
		if len(r.destructions) < 2 {
			continue
		}

		first, second := r.destructions[0], r.destructions[1]
		why := ""

		switch {
		case first.by == second.by:
		case first.by != nil && second.by != nil && (first.by.end == 0 || first.by.end-int64(moment) > second.time):
			why = "while the first was going on"
		case slices.ContainsFunc(versions, func(v version) bool {
			_, there := v.things[r.id]

			return v.state == r.state && !there && v.time > first.time && v.time < second.time-int64(moment)
		}):
			why = "although the state had no longer had it"
		}

		if why == "" {
			continue
		}

		found = append(found, violation{
			workspace: r.workspace,
			others:    besides(r.workspace, second.by.subject()),
			time:      second.time,
			instances: instancesOf(first.by, second.by),
			text: fmt.Sprintf("%s was destroyed at %s by %s\nand again at %s by %s, %s",
				r.id, c.at(first.time), first.by.actor(), c.at(second.time), second.by.actor(), why),
		})
	}

	return found
}

// leftBehind returns the resources that were in a state and not destroyed although the
// Workspace that had created them was deleted. It says nothing of a Workspace that was
// deleted without its finalizers.
func leftBehind(all []*resource, versions []version, f fate, notes []note, c clock) []violation {
	var found []violation

	for _, r := range all {
		gone, left := f.gone[r.uid]
		if !left || f.orphaned[r.uid] || !r.saved || r.destroyed() != 0 || replacedTainted(r, versions) || inherited(r, f, notes) {
			continue
		}

		found = append(found, violation{
			workspace: r.workspace,
			time:      gone,
			instances: instancesOf(r.by),
			text: fmt.Sprintf("%s was created at %s by %s, which was deleted at %s and gone at %s.\nIt was never destroyed",
				r.id, c.at(r.begun), r.by.actor(), c.at(f.removed[r.uid]), c.at(gone)),
		})
	}

	return found
}

// inherited says whether another Workspace has a resource now, because the instance that created it ended before it
// could record whose it is: both had begun to create something in the same empty state. A person decides that by
// deleting one of them, and what is in the state stays.
func inherited(r *resource, f fate, notes []note) bool {
	if r.by == nil || !f.used[r.state] {
		return false
	}

	at, ok := ended(notes)[r.by.instance]

	return ok && at < r.busy+int64(respite)
}

// replacedTainted says whether a resource was tainted when it left the state: the CLI does
// not announce the destruction of a tainted resource.
func replacedTainted(r *resource, versions []version) bool {
	if !r.tainted || len(r.versions) == 0 {
		return false
	}

	last := r.versions[len(r.versions)-1]

	return slices.ContainsFunc(versions, func(v version) bool { return v.state == last.state && v.time > last.time })
}

// createdAfterLoss returns the resources that were created for a Workspace without a
// backend after the only record of its interrupted creation was lost.
func createdAfterLoss(all []*resource, f fate, c clock) []violation {
	var found []violation

	for _, r := range all {
		at, ok := f.lost[r.uid]
		if !ok || r.begun < at {
			continue
		}

		i := slices.IndexFunc(all, func(other *resource) bool {
			return other.uid == r.uid && other.begun < at && (other.destroyed() == 0 || other.destroyed() > at)
		})
		if i < 0 {
			continue
		}

		found = append(found, violation{
			workspace: r.workspace,
			time:      r.begun,
			instances: instancesOf(r.by),
			text: fmt.Sprintf("%s was created at %s by %s\nalthough the creation of %s had begun at %s, and the directory with the state was lost at %s",
				r.id, c.at(r.begun), r.by.actor(), all[i].id, c.at(all[i].begun), c.at(at)),
		})
	}

	return found
}
