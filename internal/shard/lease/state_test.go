// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package lease

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

const (
	me       = "host-0_me"
	somebody = "host-1_somebody"
)

// A leaseOption changes a Lease.
type leaseOption func(l *coordinationv1.Lease)

func version2(l *coordinationv1.Lease) { l.ResourceVersion = "2" }

func heldBy(holder string) leaseOption {
	return func(l *coordinationv1.Lease) { l.Spec.HolderIdentity = &holder }
}

func withUID(uid types.UID) leaseOption {
	return func(l *coordinationv1.Lease) { l.UID = uid }
}

// newLease is held by me for 10 seconds, as somebody wrote with another clock.
func newLease(o ...leaseOption) *coordinationv1.Lease {
	l := &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Name: "lease", UID: "uid", ResourceVersion: "1"},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity:       new(me),
			LeaseDurationSeconds: new(int32(10)),
			RenewTime:            new(metav1.NewMicroTime(time.Unix(0, 0))),
		},
	}
	for _, fn := range o {
		fn(l)
	}

	return l
}

func TestObservation(t *testing.T) {
	t.Parallel()

	// A reading is a Lease as it was at some time; nil if there was none.
	type reading struct {
		at    time.Duration
		lease *coordinationv1.Lease
	}

	type want struct {
		State State
		Held  string
	}

	cases := map[string]struct {
		reason string
		read   []reading
		at     time.Duration
		want   want
	}{
		"Nothing": {
			reason: "Who has no Lease is not alive.",
			want:   want{State: Dead},
		},
		"First": {
			reason: "A Lease that is seen for the first time may have been renewed just now, whatever time it names.",
			read:   []reading{{lease: newLease()}},
			at:     10*time.Second - 1,
			want:   want{State: Alive, Held: me},
		},
		"Expired": {
			reason: "It did not change for as long as it says.",
			read:   []reading{{lease: newLease()}, {at: 5 * time.Second, lease: newLease()}},
			at:     10 * time.Second,
			want:   want{State: Dead},
		},
		"Renewed": {
			reason: "A Lease that changed counts from then on.",
			read:   []reading{{lease: newLease()}, {at: 9 * time.Second, lease: newLease(version2)}},
			at:     19*time.Second - 1,
			want:   want{State: Alive, Held: me},
		},
		"RenewedAfterExpiry": {
			reason: "It was not renewed in time, but nobody else has taken it.",
			read:   []reading{{lease: newLease()}, {at: time.Minute, lease: newLease(version2)}},
			at:     time.Minute,
			want:   want{State: Alive, Held: me},
		},
		"AnotherHolder": {
			reason: "The holder is another one, and so this one will never be.",
			read:   []reading{{lease: newLease()}, {at: time.Second, lease: newLease(version2, heldBy(somebody))}},
			at:     time.Second,
			want:   want{State: Dead, Held: somebody},
		},
		"Released": {
			reason: "The holder gave it back.",
			read:   []reading{{lease: newLease()}, {at: time.Second, lease: newLease(version2, heldBy(""))}},
			at:     time.Second,
			want:   want{State: Dead},
		},
		"Deleted": {
			reason: "Somebody has deleted it. Its holder goes on, and makes it again.",
			read:   []reading{{lease: newLease()}, {at: 9 * time.Second}},
			at:     10*time.Second - 1,
			want:   want{State: Alive, Held: me},
		},
		"DeletedAndExpired": {
			reason: "Nobody has made it again in time.",
			read:   []reading{{lease: newLease()}, {at: 9 * time.Second}},
			at:     10 * time.Second,
			want:   want{State: Dead},
		},
		"MadeAgain": {
			reason: "A new Lease begins with a version that may be that of the old one.",
			read:   []reading{{lease: newLease()}, {at: 9 * time.Second, lease: newLease(withUID("another"))}},
			at:     19*time.Second - 1,
			want:   want{State: Alive, Held: me},
		},
		"NoSpec": {
			reason: "An empty Lease is held by nobody.",
			read:   []reading{{lease: &coordinationv1.Lease{}}},
			want:   want{State: Dead},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			start := time.Unix(1e9, 0)
			o := observation{}

			for _, r := range tc.read {
				o = o.next(r.lease, start.Add(r.at))
			}

			got := want{State: o.state(me, start.Add(tc.at)), Held: o.held(start.Add(tc.at))}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}

			if diff := cmp.Diff(Dead, o.state("", start.Add(tc.at))); diff != "" {
				t.Errorf("nobody is alive: -want, +got:\n%s", diff)
			}
		})
	}
}
