// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/utils/ptr"
)

// A verdict is what a read of the own Lease says about the last renewal.
type verdict int

const (
	// over: the session has ended, or its Lease is not the one that this process has written last.
	over verdict = iota

	// again: a person has edited the Lease. The renewal is to be repeated on this version.
	again

	// renewed: an earlier request has renewed it.
	renewed
)

// renewals are what a process knows of its own Lease. The Lease counts them in leaseTransitions.
type renewals struct {
	version version
	count   int32

	// start and duration are those of the last renewal.
	start, duration time.Duration

	// attempted says that a request with the next count was sent. first is when the first of these
	// started, and shortest the shortest duration of them.
	attempted bool
	first     time.Duration
	shortest  time.Duration
}

// renewed records the Lease that was created or renewed by a request that started at the supplied time.
func (r *renewals) renewed(l *coordinationv1.Lease, start, duration time.Duration) {
	*r = renewals{version: versionOf(l), count: ptr.Deref(l.Spec.LeaseTransitions, 0), start: start, duration: duration}
}

// attempt records that a renewal with the supplied duration starts at the supplied time.
func (r *renewals) attempt(now, duration time.Duration) {
	if !r.attempted {
		r.attempted, r.first, r.shortest = true, now, duration
	}

	r.shortest = min(r.shortest, duration)
}

// least returns the shortest duration that the Lease may have now.
func (r *renewals) least() time.Duration {
	if r.attempted {
		return min(r.duration, r.shortest)
	}

	return r.duration
}

// refused decides about the Lease that was read after a conflict, or nil if there is none. It may have been
// renewed by any of the requests that were sent: the one that was repeated by client-go, or one whose
// answer was lost.
//
// If the last renewal is so old that others may have ended the session, a conflict is the end: a person may
// have put back a copy of the Lease since.
func (r *renewals) refused(l *coordinationv1.Lease, now time.Duration, t Timing) verdict {
	if l == nil || l.GetUID() != r.version.uid || hasEnded(l) {
		return over
	}

	v := again

	switch count := ptr.Deref(l.Spec.LeaseTransitions, -1); {
	case count == r.count:
		r.version = versionOf(l)
	case r.attempted && count == r.count+1:
		r.renewed(l, r.first, max(min(r.shortest, durationOf(l)), t.Duration))

		v = renewed
	default:
		return over
	}

	if now >= r.start+t.fenced(r.duration) {
		return over
	}

	return v
}
