// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package lease holds the Lease of this instance, and decides from the Leases of other instances
// which of them are alive.
//
// A Lease can be deleted, emptied, or replaced by an old copy of it while its holder works.
// Its current content is therefore no proof that an instance is dead. These are the
// rules for instances that want to take a Lease or a claim:
//
//  1. An identity belongs to one process and is never used again.
//  2. The holder of a Lease writes its identity to the front of the annotation "holders". A
//     holder that releases the Lease, when no run is left, also writes it to "released-by",
//     which the next holder removes.
//  3. An instance that is named in "holders" after the first one, or in "released-by", is
//     dead. A Lease from before its death does not name it there, nor does a backup of such a Lease.
//  4. An instance that was seen to hold a Lease is dead when the Lease has not changed for
//     its duration, by the clock of the observer. If the Lease is deleted, empty, has
//     another holder or is older than before, the instance may have renewed it until then,
//     with a longer duration: the longest duration counts from when that was noticed, even
//     if the instance counted as dead already.
//  5. The first one in "holders" of an empty Lease that it did not release counts as seen.
//  6. An instance that was never seen to hold the Lease, and is not named by it, is dead one
//     duration after its state was first requested.
//  7. An instance takes a Lease when all others that it has seen or found in it are dead. If
//     it has never seen the Lease, it waits for two retry periods, in which a live holder
//     would make it again.
//  8. A holder that reads another holder in its Lease ends at once.
//  9. A holder that could not renew its Lease until the renew deadline interrupts its runs.
//     It is killed before others may take the Lease: see [Timing].
//  10. An instance takes a Lease at once if the kernel says that the holder and all of its
//     children have ended, and if the Lease has not been written since the last write of
//     that holder: see [ProcessFiles]. The death of the holder alone is no proof that the Lease
//     is free. The Lease may come from a backup, and another instance may have taken it
//     meanwhile.
package lease

import (
	"slices"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/crossplane-contrib/provider-terraform/internal/shard"
)

// A State says whether an instance is alive.
type State string

// The states of an instance.
const (
	// Alive is an instance that may be running: it renewed its Lease recently enough, or it was never
	// seen to hold the Lease and its state was first requested recently.
	Alive State = "alive"

	// Dead is an instance that runs nothing and never will again.
	Dead State = "dead"

	// Unknown is the state of an instance whose Lease could not be read. It may be alive.
	Unknown State = "unknown"
)

// identitySeparator separates the host and the random part of an identity.
const identitySeparator = "_"

// HostOf returns the name of the host of the process with the supplied identity. It is empty if
// the identity does not have the form of NewIdentity.
func HostOf(identity string) string {
	i := strings.LastIndex(identity, identitySeparator)

	return identity[:max(i, 0)]
}

// A sighting is the knowledge about one instance.
type sighting struct {
	// until is the time until which it may be alive, by the clock of this process. The times in
	// the Lease come from the clock of another machine.
	until time.Time

	// renewed is the latest time of renewal that it wrote, and duration the last duration.
	renewed  time.Time
	duration time.Duration

	// asked says that it was never seen to hold the Lease.
	asked bool
}

// An observation is the knowledge about a Lease.
type observation struct {
	// fallback is the duration of a Lease without one, and of one whose last duration is unknown.
	fallback time.Duration

	// version of the Lease at the last read. Every write changes it.
	version version

	// holder of the Lease at the last read. missing says that there was no Lease.
	holder  string
	missing bool

	// blank is the time since which the Lease is missing, or empty, without a known holder.
	blank time.Time

	// names of the instances that held it, the latest first.
	names []string

	// ended are the instances that the Lease named as dead at the last read.
	ended []string

	// duration of the Lease at the last read.
	duration time.Duration

	// seen are the instances that held it or whose state was requested, by identity.
	seen map[string]sighting
}

// newObservation returns an empty observation of a Lease. Its timing is like the supplied one.
func newObservation(t Timing) observation {
	return observation{fallback: t.Longest(), seen: map[string]sighting{}}
}

type version struct {
	uid      types.UID
	resource string
}

func versionOf(l *coordinationv1.Lease) version {
	return version{uid: l.GetUID(), resource: l.GetResourceVersion()}
}

func (v version) String() string { return string(v.uid) + "/" + v.resource }

// see records the current Lease, or nil if there is none.
func (o *observation) see(l *coordinationv1.Lease, now time.Time) {
	if l == nil {
		if !o.missing {
			o.extend(now)
		}

		if len(o.names) == 0 && o.blank.IsZero() {
			o.blank = now
		}

		o.missing, o.version, o.holder = true, version{}, ""

		return
	}

	v := versionOf(l)
	if v == o.version {
		return
	}

	o.version, o.missing = v, false
	if o.duration = time.Duration(ptr.Deref(l.Spec.LeaseDurationSeconds, 0)) * time.Second; o.duration == 0 {
		o.duration = o.fallback
	}

	holder, renewed := ptr.Deref(l.Spec.HolderIdentity, ""), ptr.Deref(l.Spec.RenewTime, metav1.MicroTime{}).Time
	if holder == "" || holder != o.holder || !renewed.After(o.seen[holder].renewed) {
		o.extend(now)
	}

	o.holder = holder
	signed := o.readNames(l)

	switch {
	case holder != "":
		o.renew(holder, renewed, now)
		signed = slices.Insert(signed, 0, holder)
	case len(signed) > 0 && !slices.Contains(o.ended, signed[0]):
		o.seen[signed[0]] = sighting{until: now.Add(o.longest()), duration: o.longest(), renewed: o.seen[signed[0]].renewed}
	}

	o.names = withNames(signed, o.names...)

	o.blank = time.Time{}
	if len(o.names) == 0 {
		o.blank = now
	}
}

// extend moves the time until which instances may be alive. Since the last read they may have
// renewed the Lease, and with a longer duration. This includes the last holder even if its time
// is over: this process may have been unable to read the Lease for so long.
func (o *observation) extend(now time.Time) {
	for id, s := range o.seen {
		last := len(o.names) > 0 && id == o.names[0] && !slices.Contains(o.ended, id)
		if last || now.Before(s.until) {
			s.until = now.Add(max(s.duration, o.fallback))
			o.seen[id] = s
		}
	}
}

// readNames records the instances that the Lease names as dead. It returns the instances that
// have signed it.
func (o *observation) readNames(l *coordinationv1.Lease) []string {
	signed := namesIn(l.GetAnnotations()[shard.HoldersAnnotationKey])

	o.ended = nil
	if len(signed) > 0 {
		o.ended = slices.Clone(signed[1:])
	}

	if released := l.GetAnnotations()[shard.ReleasedAnnotationKey]; released != "" {
		o.ended = append(o.ended, released)
	}

	o.ended = slices.DeleteFunc(o.ended, func(id string) bool { return id == o.holder })

	for _, id := range o.ended {
		if s, ok := o.seen[id]; ok {
			s.until = time.Time{}
			o.seen[id] = s
		}
	}

	return signed
}

// renew the sighting of the holder of the Lease.
func (o *observation) renew(holder string, renewed, now time.Time) {
	s := sighting{until: now.Add(o.duration), renewed: renewed, duration: o.duration}

	// A backup is older than the last version that the holder wrote.
	if before := o.seen[holder]; !renewed.After(before.renewed) && before.until.After(s.until) {
		s = before
		s.asked = false
	}

	o.seen[holder] = s
}

// longest returns the longest possible duration of an instance that was not seen to renew the
// Lease.
func (o *observation) longest() time.Duration { return max(o.duration, o.fallback) }

// state returns the state of the instance with the supplied identity, for a question that is
// asked now.
func (o *observation) state(identity string, now time.Time) State {
	_, known := o.seen[identity]

	switch {
	case o.mayLive(identity, now):
		return Alive
	case identity == "", known, slices.Contains(o.ended, identity):
		return Dead
	}

	o.seen[identity] = sighting{until: now.Add(o.longest()), duration: o.longest(), asked: true}

	return Alive
}

// mayLive says whether the instance with the supplied identity was seen or asked for recently
// enough to be alive.
func (o *observation) mayLive(identity string, now time.Time) bool {
	return now.Before(o.seen[identity].until)
}

// alive returns an instance other than the supplied ones that was seen to hold the Lease and may
// be alive, and the time until which it may be. Of several it returns the one with the latest
// time.
func (o *observation) alive(now time.Time, except ...string) (string, time.Time) {
	var (
		identity string
		until    time.Time
	)

	for id, s := range o.seen {
		if !slices.Contains(except, id) && !s.asked && now.Before(s.until) && s.until.After(until) {
			identity, until = id, s.until
		}
	}

	return identity, until
}
