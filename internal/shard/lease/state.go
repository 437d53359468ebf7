// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package lease holds the Lease of this instance and tells which other instances
// are alive, by theirs.
package lease

import (
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

// A State is what is known of an instance.
type State string

// The states of an instance.
const (
	// Alive is an instance that may be running: it holds its Lease, and that was
	// renewed not too long ago.
	Alive State = "alive"

	// Dead is an instance that runs nothing any more, and never will.
	Dead State = "dead"

	// Unknown is an instance whose Lease could not be read. It may be alive.
	Unknown State = "unknown"
)

// identitySeparator is between the host and the random part of an identity.
const identitySeparator = "_"

// HostOf returns the name of the host of the process with the supplied identity,
// empty if the identity does not have the form that NewIdentity gives it.
func HostOf(identity string) string {
	i := strings.LastIndex(identity, identitySeparator)

	return identity[:max(i, 0)]
}

// An observation is what was seen of a Lease, and since when it has been like that.
type observation struct {
	// holder of the Lease, empty if nobody holds it or there is none.
	holder string

	// version of the Lease: another one whenever it was renewed.
	version version

	// since is when this version was first seen here, by the clock of this process.
	// What the holder wrote into the Lease comes from another machine's clock.
	since time.Time

	// duration after which a Lease that was not renewed has expired.
	duration time.Duration
}

type version struct {
	uid      types.UID
	resource string
}

// next returns the observation after the previous one, given the Lease as it is
// now, nil if there is none. A Lease that somebody deletes still counts until it
// would have expired: its holder makes it again, and was never dead.
func (o observation) next(l *coordinationv1.Lease, now time.Time) observation {
	if l == nil {
		return o
	}

	v := version{uid: l.GetUID(), resource: l.GetResourceVersion()}
	if v == o.version {
		return o
	}

	return observation{
		holder:   ptr.Deref(l.Spec.HolderIdentity, ""),
		version:  v,
		since:    now,
		duration: time.Duration(ptr.Deref(l.Spec.LeaseDurationSeconds, 0)) * time.Second,
	}
}

// held returns who holds the Lease, empty if nobody does (any more).
func (o observation) held(now time.Time) string {
	if now.Sub(o.since) >= o.duration {
		return ""
	}

	return o.holder
}

// state of the instance with the supplied identity.
func (o observation) state(identity string, now time.Time) State {
	if identity != "" && o.held(now) == identity {
		return Alive
	}

	return Dead
}
