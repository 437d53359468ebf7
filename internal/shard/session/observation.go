// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/utils/ptr"
)

// An observation is what a process knows of the Lease of another session.
type observation struct {
	// ended says that the Lease said so. That never changes.
	ended bool

	// read says that it was read, and missing that it was not there. since is when this version, or that
	// there was none, was first seen, by the clock of this process.
	read, missing bool
	version       version
	since         time.Time

	// count is the highest count of renewals, or -1. duration is how long the session may live without a
	// renewal: the duration of that version or, of a version that does not raise the count, the longest of
	// all versions, because it may be an older copy.
	count             int32
	duration, longest time.Duration

	// changed says that the Lease has changed since it was first seen: its process was alive then.
	changed bool
}

func newObservation() observation { return observation{count: -1} }

// see records the Lease that was read, or nil if there was none. now is when the answer arrived.
func (o *observation) see(l *coordinationv1.Lease, now time.Time) {
	switch {
	case o.ended:
		return
	case l == nil:
		if !o.read || !o.missing {
			o.since = now
		}

		o.read, o.missing, o.version = true, true, version{}

		return
	case o.read && o.version == versionOf(l):
		return
	}

	o.ended = hasEnded(l)
	o.changed = o.changed || o.read
	o.read, o.missing, o.version, o.since = true, false, versionOf(l), now
	o.longest = max(o.longest, durationOf(l))
	o.duration = o.longest

	if count := ptr.Deref(l.Spec.LeaseTransitions, -1); count > o.count {
		o.count, o.duration = count, durationOf(l)
	}
}

// expired says whether the process of the session has no run and will never have one again. The Lease
// has to be unchanged when that is written, so that the process learns of it. atLeast is the shortest
// duration of any session, and named the longest one of this session, as far as it is known.
func (o *observation) expired(now time.Time, atLeast, named time.Duration) bool {
	if o.missing {
		return o.read && now.Sub(o.since) >= max(named, o.longest, atLeast)
	}

	return o.read && now.Sub(o.since) >= max(o.duration, atLeast)
}
