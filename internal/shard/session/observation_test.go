// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// leaseOf returns a Lease with the supplied UID, version, count of renewals and duration in seconds.
func leaseOf(uid types.UID, resource string, count, duration int32) *coordinationv1.Lease {
	holder := "host_1"
	l := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "session", UID: uid, ResourceVersion: resource}}
	l.Spec = coordinationv1.LeaseSpec{HolderIdentity: &holder, LeaseTransitions: &count, LeaseDurationSeconds: &duration}

	return l
}

// TestExpired shows Leases to an observer, each some seconds after the one before, and asks at the end.
func TestExpired(t *testing.T) {
	t.Parallel()

	type step struct {
		after time.Duration
		lease *coordinationv1.Lease
	}

	emptied := leaseOf("a", "2", 1, 60)
	emptied.Spec.HolderIdentity = nil

	cases := map[string]struct {
		reason string
		steps  []step
		after  time.Duration
		want   bool
	}{
		"Fresh":   {reason: "It may be renewed.", steps: []step{{lease: leaseOf("a", "1", 0, 60)}}, after: time.Minute - 1},
		"Old":     {reason: "It was not renewed for its duration.", steps: []step{{lease: leaseOf("a", "1", 0, 60)}}, after: time.Minute, want: true},
		"Unread":  {reason: "It was never read.", after: time.Hour},
		"Same":    {reason: "It counts from the first read of this version.", steps: []step{{lease: leaseOf("a", "1", 0, 60)}, {after: 50 * time.Second, lease: leaseOf("a", "1", 0, 60)}}, after: 10 * time.Second, want: true},
		"Renewed": {reason: "It counts from the last renewal.", steps: []step{{lease: leaseOf("a", "1", 0, 60)}, {after: 50 * time.Second, lease: leaseOf("a", "2", 1, 60)}}, after: 50 * time.Second},
		"Longer":  {reason: "An apply is in progress.", steps: []step{{lease: leaseOf("a", "1", 0, 60)}, {after: time.Second, lease: leaseOf("a", "2", 1, 300)}}, after: 299 * time.Second},
		"Shorter": {reason: "The apply has ended.", steps: []step{{lease: leaseOf("a", "1", 0, 300)}, {after: time.Second, lease: leaseOf("a", "2", 1, 60)}}, after: time.Minute, want: true},
		"Edited": {
			reason: "A person has changed the duration during an apply.",
			steps:  []step{{lease: leaseOf("a", "1", 3, 300)}, {after: time.Second, lease: leaseOf("a", "2", 3, 60)}}, after: 299 * time.Second,
		},
		"OlderCopy": {
			reason: "A person has put back an older copy during an apply.",
			steps:  []step{{lease: leaseOf("a", "1", 3, 300)}, {after: time.Second, lease: leaseOf("b", "2", 1, 60)}}, after: 299 * time.Second,
		},
		"TooShort":    {reason: "No session has such a short duration.", steps: []step{{lease: leaseOf("a", "1", 0, 1)}}, after: time.Minute - 1},
		"Emptied":     {reason: "A person has emptied it.", steps: []step{{lease: leaseOf("a", "1", 1, 60)}, {after: time.Second, lease: emptied}}, after: 59 * time.Second},
		"Missing":     {reason: "It was deleted, perhaps during an apply.", steps: []step{{lease: leaseOf("a", "1", 0, 60)}, {after: time.Second}}, after: 299 * time.Second},
		"MissingLong": {reason: "No apply is left.", steps: []step{{lease: leaseOf("a", "1", 0, 60)}, {after: time.Second}}, after: 300 * time.Second, want: true},
		"MissingAgain": {
			reason: "It was there in between.",
			steps:  []step{{}, {after: 299 * time.Second, lease: leaseOf("a", "1", 0, 60)}, {after: time.Second}}, after: 299 * time.Second,
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			o, now := newObservation(), time.Now()

			for _, s := range tc.steps {
				now = now.Add(s.after)
				o.see(s.lease, now)
			}

			if got := o.expired(now.Add(tc.after), time.Minute, 5*time.Minute); got != tc.want {
				t.Errorf("%s\nexpired(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

// TestEnded ensures that an end is never forgotten, and that only its writer can have written it.
func TestEnded(t *testing.T) {
	t.Parallel()

	ended, emptied := leaseOf("a", "3", 1, 60), leaseOf("a", "2", 1, 60)
	end(ended, "host_1")

	emptied.Spec.HolderIdentity = nil

	o := newObservation()
	o.see(emptied, time.Now())

	if o.ended {
		t.Error("an empty Lease does not say that its session has ended")
	}

	o.see(ended, time.Now())
	o.see(leaseOf("a", "1", 0, 60), time.Now())

	if !o.ended {
		t.Error("a session that has ended does not live again when a person puts its Lease back")
	}
}
