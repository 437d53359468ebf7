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

	"github.com/crossplane-contrib/provider-terraform/internal/shard"
)

const (
	me    = "host-0_me"
	rival = "host-1_somebody"
	old   = "host-2_old"
)

// A leaseOption changes a Lease.
type leaseOption func(l *coordinationv1.Lease)

func version2(l *coordinationv1.Lease) { l.ResourceVersion = "2" }
func version3(l *coordinationv1.Lease) { l.ResourceVersion = "3" }

func heldBy(holder string) leaseOption {
	return func(l *coordinationv1.Lease) { l.Spec.HolderIdentity = &holder }
}

func withUID(uid types.UID) leaseOption {
	return func(l *coordinationv1.Lease) { l.UID = uid }
}

// signedBy sets the names of the holders, the latest first.
func signedBy(names string) leaseOption {
	return func(l *coordinationv1.Lease) {
		metav1.SetMetaDataAnnotation(&l.ObjectMeta, shard.HoldersAnnotationKey, names)
	}
}

// releasedBy empties the Lease like its holder.
func releasedBy(name string) leaseOption {
	return func(l *coordinationv1.Lease) {
		heldBy("")(l)
		metav1.SetMetaDataAnnotation(&l.ObjectMeta, shard.ReleasedAnnotationKey, name)
	}
}

// renewed sets when the holder wrote the Lease, by its own clock, and the duration.
func renewed(at, duration time.Duration) leaseOption {
	return func(l *coordinationv1.Lease) {
		l.Spec.RenewTime = new(metav1.NewMicroTime(time.Unix(0, 0).Add(at)))
		l.Spec.LeaseDurationSeconds = new(int32(duration / time.Second))
	}
}

// newLease returns a Lease that me holds for 10 seconds. It was written with another clock.
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

	// A reading is a Lease at some time. It is nil if there was none.
	type reading struct {
		at    time.Duration
		lease *coordinationv1.Lease
	}

	type want struct {
		// State of me, and the name of an instance that may hold the Lease.
		State State
		Alive string
	}

	cases := map[string]struct {
		reason string
		read   []reading
		at     time.Duration
		want   want
	}{
		"First": {
			reason: "A Lease that is seen for the first time may have been renewed just now, regardless of its time.",
			read:   []reading{{lease: newLease()}},
			at:     10*time.Second - 1,
			want:   want{State: Alive, Alive: me},
		},
		"Expired": {
			reason: "It did not change for its duration.",
			read:   []reading{{lease: newLease()}, {at: 5 * time.Second, lease: newLease()}},
			at:     10 * time.Second,
			want:   want{State: Dead},
		},
		"Renewed": {
			reason: "The duration of a changed Lease counts from the change.",
			read:   []reading{{lease: newLease()}, {at: 9 * time.Second, lease: newLease(version2)}}, at: 19*time.Second - 1, want: want{State: Alive, Alive: me},
		},
		"RenewedAfterExpiry": {
			reason: "It was not renewed in time, but no other instance has taken it.",
			read:   []reading{{lease: newLease()}, {at: time.Minute, lease: newLease(version2)}},
			at:     time.Minute,
			want:   want{State: Alive, Alive: me},
		},
		"Shortened": {
			reason: "A holder that writes a shorter duration relies on nothing longer.",
			read: []reading{
				{lease: newLease(renewed(0, time.Hour))},
				{at: time.Second, lease: newLease(version2, renewed(time.Second, 10*time.Second))},
			},
			at:   11 * time.Second,
			want: want{State: Dead},
		},
		"RestoredShorter": {
			reason: "A backup of the Lease is no renewal: its holder relies on its last write.",
			read: []reading{
				{lease: newLease(renewed(time.Second, time.Hour))},
				{at: time.Second, lease: newLease(version2, renewed(0, 10*time.Second))},
			},
			at:   time.Hour + time.Second - 1,
			want: want{State: Alive, Alive: me},
		},
		"Succeeded": {
			reason: "Its successor names me as the previous holder.",
			read:   []reading{{lease: newLease()}, {at: time.Second, lease: newLease(version2, heldBy(rival), signedBy(rival+","+me))}},
			at:     time.Second,
			want:   want{State: Dead, Alive: rival},
		},
		"SucceededLongAgo": {
			reason: "Later successors keep the name.",
			read:   []reading{{lease: newLease(heldBy(rival), signedBy(rival+","+old+","+me))}},
			want:   want{State: Dead, Alive: rival},
		},
		"AnotherHolder": {
			reason: "Another instance holds the Lease and does not name me as the previous holder: the Lease may come from a backup.",
			read:   []reading{{lease: newLease()}, {at: 5 * time.Second, lease: newLease(version2, heldBy(old), signedBy(old), renewed(0, 9*time.Second))}},
			at:     15*time.Second - 1,
			want:   want{State: Alive, Alive: me},
		},
		"AnotherHolderExpired": {
			reason: "I may have renewed it until the change was noticed, and not since. Renewals by the other one do not matter.",
			read: []reading{
				{lease: newLease()},
				{at: 5 * time.Second, lease: newLease(version2, heldBy(old), signedBy(old))},
				{at: 6 * time.Second, lease: newLease(version3, heldBy(old), signedBy(old), renewed(time.Second, 10*time.Second))},
			},
			at:   15 * time.Second,
			want: want{State: Dead, Alive: old},
		},
		"Released": {
			reason: "The holder released it, and the Lease says so.",
			read:   []reading{{lease: newLease(signedBy(me))}, {at: time.Second, lease: newLease(version2, signedBy(me), releasedBy(me))}},
			at:     time.Second,
			want:   want{State: Dead},
		},
		"FirstReleased": {
			reason: "An instance that has just started reads that, too.",
			read:   []reading{{lease: newLease(signedBy(me), releasedBy(me))}},
			want:   want{State: Dead},
		},
		"Emptied": {
			reason: "It was not emptied by the holder.",
			read:   []reading{{lease: newLease(signedBy(me))}, {at: 9 * time.Second, lease: newLease(version2, signedBy(me), heldBy(""))}},
			at:     19*time.Second - 1,
			want:   want{State: Alive, Alive: me},
		},
		"EmptiedAndExpired": {
			reason: "An emptied Lease is no sign of life.",
			read:   []reading{{lease: newLease(signedBy(me))}, {at: 9 * time.Second, lease: newLease(version2, signedBy(me), heldBy(""))}},
			at:     19 * time.Second,
			want:   want{State: Dead},
		},
		"EmptiedUnsigned": {
			reason: "The same is true of a holder without signature.",
			read:   []reading{{lease: newLease()}, {at: 9 * time.Second, lease: newLease(version2, heldBy(""))}},
			at:     19*time.Second - 1,
			want:   want{State: Alive, Alive: me},
		},
		"FirstEmptied": {
			reason: "The last holder that signed it may have renewed it just before.",
			read:   []reading{{lease: newLease(signedBy(me), heldBy(""))}},
			at:     10*time.Second - 1,
			want:   want{State: Alive, Alive: me},
		},
		"EmptiedByBackup": {
			reason: "The backup is from a time at which another instance had released it.",
			read:   []reading{{lease: newLease(signedBy(me + "," + old))}, {at: time.Second, lease: newLease(version2, signedBy(old), releasedBy(old))}},
			at:     11*time.Second - 1,
			want:   want{State: Alive, Alive: me},
		},
		"Deleted": {
			reason: "A person has deleted it. Its holder continues and makes it again.",
			read:   []reading{{lease: newLease()}, {at: 9 * time.Second}},
			at:     19*time.Second - 1,
			want:   want{State: Alive, Alive: me},
		},
		"DeletedAfterLong": {
			reason: "This process could not read the Lease for longer than its duration. The holder may have renewed it right before it was deleted.",
			read:   []reading{{lease: newLease()}, {at: time.Minute}},
			at:     time.Minute + 10*time.Second - 1,
			want:   want{State: Alive, Alive: me},
		},
		"EmptiedAfterLong": {
			reason: "The same is true of a Lease that was emptied.",
			read:   []reading{{lease: newLease(signedBy(me))}, {at: time.Minute, lease: newLease(version2, signedBy(me), heldBy(""))}},
			at:     time.Minute + 10*time.Second - 1,
			want:   want{State: Alive, Alive: me},
		},
		"RestoredAfterLong": {
			reason: "The same is true of a Lease with another holder that does not name me as the previous holder.",
			read:   []reading{{lease: newLease()}, {at: time.Minute, lease: newLease(version2, heldBy(old), signedBy(old), renewed(0, 9*time.Second))}},
			at:     time.Minute + 10*time.Second - 1,
			want:   want{State: Alive, Alive: me},
		},
		"SucceededAfterLong": {
			reason: "A successor that names me as the previous holder proves my death.",
			read:   []reading{{lease: newLease()}, {at: time.Minute, lease: newLease(version2, heldBy(rival), signedBy(rival+","+me))}},
			at:     time.Minute,
			want:   want{State: Dead, Alive: rival},
		},
		"EmptiedAfterTenure": {
			reason: "The Lease was deleted, made again by its holder, and emptied: the last holder that signed it may have renewed it just before.",
			read: []reading{
				{lease: newLease(signedBy(me))},
				{at: time.Second},
				{at: time.Minute, lease: newLease(withUID("another"), signedBy(me), heldBy(""))},
			},
			at:   time.Minute + 10*time.Second - 1,
			want: want{State: Alive, Alive: me},
		},
		"DeletedWhenLonger": {
			reason: "The last renewal may have had a longer duration: up to the longest of any Lease of such instances.",
			read:   []reading{{lease: newLease(renewed(0, 2*time.Second))}, {at: time.Second}},
			at:     6*time.Second - 1,
			want:   want{State: Alive, Alive: me},
		},
		"DeletedAndExpired": {
			reason: "The holder has not made it again in time.",
			read:   []reading{{lease: newLease()}, {at: 9 * time.Second}},
			at:     19 * time.Second,
			want:   want{State: Dead},
		},
		"StillDeleted": {
			reason: "A later read without a Lease adds nothing.",
			read:   []reading{{lease: newLease()}, {at: 5 * time.Second}, {at: 10 * time.Second}},
			at:     15 * time.Second,
			want:   want{State: Dead},
		},
		"MadeAgain": {
			reason: "A new Lease may begin with a version of the old one.",
			read:   []reading{{lease: newLease()}, {at: 9 * time.Second, lease: newLease(withUID("another"))}},
			at:     19*time.Second - 1,
			want:   want{State: Alive, Alive: me},
		},
		"Dethroned": {
			reason: "A restored Lease revives a dead instance only for a while.",
			read: []reading{
				{lease: newLease(heldBy(rival), signedBy(rival+","+me))},
				{at: time.Second, lease: newLease(version2, signedBy(me))},
			},
			at:   11 * time.Second,
			want: want{State: Dead},
		},
		"BackFromBackup": {
			reason: "A dead instance that a backup names is dead again when its successor has the Lease again.",
			read: []reading{
				{lease: newLease(heldBy(rival), signedBy(rival+","+me))},
				{at: time.Second, lease: newLease(version2, signedBy(me))},
				{at: 2 * time.Second, lease: newLease(version3, heldBy(rival), signedBy(rival+","+me))},
			},
			at:   2 * time.Second,
			want: want{State: Dead, Alive: rival},
		},
		"NoDuration": {
			reason: "A Lease without a duration lasts as long as mine.",
			read:   []reading{{lease: newLease(func(l *coordinationv1.Lease) { l.Spec.LeaseDurationSeconds = nil })}},
			at:     5*time.Second - 1,
			want:   want{State: Alive, Alive: me},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			start := time.Unix(1e9, 0)
			o := newObservation(Timing{Duration: 5 * time.Second})

			for _, r := range tc.read {
				o.see(r.lease, start.Add(r.at))
			}

			alive, _ := o.alive(start.Add(tc.at))

			got := want{State: o.state(me, start.Add(tc.at)), Alive: alive}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}

			if diff := cmp.Diff(Dead, o.state("", start.Add(tc.at))); diff != "" {
				t.Errorf("noName is alive: -want, +got:\n%s", diff)
			}
		})
	}
}

// TestObservationOfUnseen asks for an instance that was never seen to hold the Lease. It may have
// held the Lease before the Lease was restored or deleted.
func TestObservationOfUnseen(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		lease  *coordinationv1.Lease
		lasts  time.Duration
	}{
		"AnotherHolder": {reason: "The current holder does not name me.", lease: newLease(heldBy(rival), signedBy(rival+","+old)), lasts: 10 * time.Second},
		"None":          {reason: "There is no Lease, and the duration of mine is unknown.", lasts: 5 * time.Second},
		"Emptied":       {reason: "It was emptied, and there are no signatures.", lease: newLease(heldBy("")), lasts: 10 * time.Second},
		"Short":         {reason: "The duration of another holder is not mine.", lease: newLease(heldBy(rival), renewed(0, time.Second)), lasts: 5 * time.Second},
		"Named":         {reason: "I am dead at once if the Lease names me.", lease: newLease(heldBy(rival), signedBy(rival+","+me))},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			start := time.Unix(1e9, 0)
			o := newObservation(Timing{Duration: 5 * time.Second})
			// The time of the question counts, not how long the Lease was watched.
			o.see(tc.lease, start.Add(-time.Hour))

			first := Alive
			if tc.lasts == 0 {
				first = Dead
			}

			for _, q := range []struct {
				at   time.Duration
				want State
			}{{at: 0, want: first}, {at: tc.lasts - 1, want: first}, {at: tc.lasts, want: Dead}, {at: time.Hour, want: Dead}} {
				if diff := cmp.Diff(q.want, o.state(me, start.Add(q.at))); diff != "" {
					t.Errorf("%s\nstate after %s: -want, +got:\n%s", tc.reason, q.at, diff)
				}
			}
		})
	}
}
