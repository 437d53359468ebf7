// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"fmt"
	"hash/fnv"
	"slices"
)

// A guarded Workspace has approval: Destroy. A person approves whatever waits, after a while.

// guarded says whether a Workspace is. A copy has the specification of its original.
func (w *wanted) guarded() bool {
	name := w.name
	if w.of != "" {
		name = w.of
	}

	h := fnv.New32a()
	_, _ = h.Write([]byte(name))

	return w.flavour == plain && h.Sum32()%2 == 0
}

// An approval is the approval of a plan, or of a deletion. The time is that at which it was seen to wait.
type approval struct {
	uid  string
	time int64
}

// unapproved returns destructions by guarded Workspaces that no person has approved: without an approval since the state
// has last changed before the run.
func unapproved(all []*resource, guarded map[string]bool, approvals []approval, runs []run, versions []version, c clock) []violation {
	var found []violation

	for _, r := range all {
		for _, d := range r.destructions {
			if !guarded[d.uid] || d.by == nil || slices.ContainsFunc(approvals, func(a approval) bool { return a.allows(d, runs, versions) }) {
				continue
			}

			found = append(found, violation{
				workspace: d.by.workspace,
				time:      d.time,
				instances: instancesOf(d.by),
				text:      fmt.Sprintf("%s was destroyed at %s by %s, and nobody has approved that since its state changed", r.id, c.at(d.time), d.by.actor()),
			})

			break
		}
	}

	return found
}

// allows says whether an approval is for the state from which a destruction began: since then, no other run of the Workspace
// has changed the state. A version alone does not say that: it may be observed long after it was written.
func (a approval) allows(d destruction, runs []run, versions []version) bool {
	if a.uid != d.uid || a.time >= d.time {
		return false
	}

	return !slices.ContainsFunc(runs, func(r run) bool {
		if r.uid != d.uid || r.start <= a.time || r.start >= d.by.start || r.command == "plan" {
			return false
		}

		before, after := 0, 0

		for _, v := range versions {
			if v.state != d.by.state || v.time >= d.by.start {
				continue
			}

			if after = max(after, v.serial); v.time <= r.start {
				before = max(before, v.serial)
			}
		}

		return after > before
	})
}
