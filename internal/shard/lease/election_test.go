// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package lease

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/utils/ptr"

	"github.com/crossplane-contrib/provider-terraform/internal/shard"
)

// edited returns a function that changes a Lease.
func edited(o ...leaseOption) func(*coordinationv1.Lease) *coordinationv1.Lease {
	return func(l *coordinationv1.Lease) *coordinationv1.Lease {
		for _, fn := range o {
			fn(l)
		}

		return l
	}
}

func deleted(*coordinationv1.Lease) *coordinationv1.Lease { return nil }

// restored returns a function that restores a Lease of another time.
func restored(o ...leaseOption) func(*coordinationv1.Lease) *coordinationv1.Lease {
	return func(*coordinationv1.Lease) *coordinationv1.Lease { return newLease(o...) }
}

// TestStandby changes a Lease while its holder does not reach the API server. A standby takes the
// Lease when the holder is dead, and no sooner.
func TestStandby(t *testing.T) {
	t.Parallel()

	minute := renewed(0, time.Minute)

	cases := map[string]struct {
		reason string
		change func(*coordinationv1.Lease) *coordinationv1.Lease
		// after is the time from the last renewal until the standby may take the Lease.
		after time.Duration
	}{
		"Nothing":       {reason: "The Lease expires.", change: edited(), after: time.Minute},
		"Deleted":       {reason: "The holder does not know of the deletion.", change: deleted, after: time.Minute},
		"Emptied":       {reason: "The holder did not empty it.", change: edited(heldBy("")), after: time.Minute},
		"Backup":        {reason: "An earlier one had released it.", change: restored(signedBy(old), releasedBy(old)), after: time.Minute},
		"BackupUnknown": {reason: "An earlier one held it.", change: restored(minute, heldBy(old), signedBy(old)), after: time.Minute},
		"Shorter":       {reason: "The holder does not know that, either.", change: edited(renewed(0, time.Second)), after: time.Minute},
		"Released":      {reason: "This is a normal release.", change: edited(releasedBy(rival)), after: 0},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := &apiServer{}
				a := newCandidate(s, rival, standard()).start(t)
				b := newCandidate(s, me, standard())

				until(time.Minute)
				b.start(t)
				until(outage)
				a.client.become(refused)

				last := s.get().Spec.RenewTime.Sub(epoch())

				s.change(tc.change)
				until(outage + 3*time.Minute)

				got, _, _ := b.events()
				// The standby reads the Lease every 2 to 4.4 seconds.
				if earliest, latest := last+tc.after, last+tc.after+11*time.Second; got < earliest || got > latest {
					t.Errorf("%s\nthe standby took the Lease %s after the last renewal, want %s", tc.reason, got-last, tc.after)
				}

				if fenced := a.fence.at(); tc.after > 0 && fenced >= got {
					t.Errorf("%s\nthe holder may live until %s, the Lease was taken at %s", tc.reason, fenced, got)
				}

				if names := namesIn(s.get().Annotations[shard.HoldersAnnotationKey]); len(names) < 2 || names[0] != me || !strings.Contains(strings.Join(names, ","), rival) {
					t.Errorf("%s\nwant the Lease to name %q as a predecessor of %q, got %q", tc.reason, rival, me, names)
				}

				if hosts, since := b.Predecessors(); since.IsZero() || !strings.Contains(strings.Join(hosts, ","), HostOf(rival)) {
					t.Errorf("%s\nPredecessors(): %q, %s", tc.reason, hosts, since)
				}

				a.end()
				b.end()
			})
		})
	}
}

// TestNewcomer starts an instance that has never seen the Lease. If it has to wait, it says so, once.
func TestNewcomer(t *testing.T) {
	t.Parallel()

	minute := renewed(0, time.Minute)

	cases := map[string]struct {
		reason string
		lease  *coordinationv1.Lease
		after  time.Duration
	}{
		"None":      {reason: "A live holder would make it again.", after: 4 * time.Second},
		"Empty":     {reason: "Nothing shows that it ever had a holder.", lease: newLease(heldBy(""), minute), after: 4 * time.Second},
		"Released":  {reason: "It is free.", lease: newLease(minute, signedBy(old), releasedBy(old))},
		"Emptied":   {reason: "The last holder has not released it.", lease: newLease(minute, heldBy(""), signedBy(old)), after: time.Minute},
		"Held":      {reason: "It may have been renewed a moment ago.", lease: newLease(minute, heldBy(old), signedBy(old)), after: time.Minute},
		"Unsigned":  {reason: "The same is true of a holder of another version.", lease: newLease(minute, heldBy(old)), after: time.Minute},
		"Successor": {reason: "A holder of another version took a released Lease.", lease: newLease(minute, signedBy(rival), releasedBy(rival), heldBy(old)), after: time.Minute},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := &apiServer{}
				s.put(tc.lease)

				c := newCandidate(s, me, standard()).start(t)

				until(2 * time.Minute)

				if got, _, _ := c.events(); got < tc.after || got > tc.after+5*time.Second {
					t.Errorf("%s\nthe Lease was taken after %s, want %s", tc.reason, got, tc.after)
				}

				if got := s.get().Annotations[shard.ReleasedAnnotationKey]; got != "" {
					t.Errorf("%s\nthe Lease that was taken still says that %q released it", tc.reason, got)
				}

				c.end()

				said := 0
				for _, line := range c.log {
					said += strings.Count(line, "The Lease cannot be taken yet")
				}

				if waited := tc.after > 0; (said == 1) != waited {
					t.Errorf("%s\nlog of the wait: %q", tc.reason, c.log)
				}
			})
		})
	}
}

// TestHolder changes the Lease of a holder that reaches the API server. The holder continues as
// long as no other instance holds the Lease.
func TestHolder(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		change func(*coordinationv1.Lease) *coordinationv1.Lease
		names  string
	}{
		"Deleted": {reason: "It makes it again.", change: deleted, names: me + "," + rival},
		"Emptied": {reason: "It takes it again.", change: edited(heldBy("")), names: me + "," + rival},
		"Backup":  {reason: "It takes a Lease that another instance released long ago.", change: restored(signedBy(old), releasedBy(old)), names: me + "," + old + "," + rival},
		"Edited":  {reason: "It still holds it.", change: edited(signedBy("nonsense")), names: me + ",nonsense," + rival},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := &apiServer{}
				s.put(newLease(renewed(0, time.Minute), signedBy(rival), releasedBy(rival)))

				c := newCandidate(s, me, standard()).start(t)

				until(outage)
				s.change(tc.change)
				until(outage + 3*time.Second)

				_, lost, err := c.events()
				armed := c.fence.at()

				if lost != 0 || armed < outage {
					t.Errorf("%s\nlost at %s: %v, fence at %s", tc.reason, lost, err, armed)
				}

				l := s.get()
				if diff := cmp.Diff([]string{me, tc.names}, []string{ptr.Deref(l.Spec.HolderIdentity, ""), l.Annotations[shard.HoldersAnnotationKey]}); diff != "" {
					t.Errorf("%s\nholder, and all holders: -want, +got:\n%s", tc.reason, diff)
				}

				hosts, _ := c.Predecessors()
				if diff := cmp.Diff([]string{HostOf(rival)}, hosts); diff != "" {
					t.Errorf("%s\nPredecessors(): -want, +got:\n%s", tc.reason, diff)
				}

				c.end()
			})
		})
	}
}

// TestHolderReplaced ensures that a holder stops all work when it reads another holder in its
// Lease.
func TestHolderReplaced(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &apiServer{}
		c := newCandidate(s, me, standard()).start(t)

		until(outage)
		s.change(restored(heldBy(old), signedBy(old), renewed(0, time.Minute)))
		until(outage + 3*time.Second)

		_, lost, err := c.events()
		if lost == 0 || !strings.Contains(err.Error(), old) || c.fence.at() == 0 {
			t.Errorf("lost at %s: %v, fence at %s", lost, err, c.fence.at())
		}

		// It does not take the Lease again even when the other holder is dead.
		until(outage + 5*time.Minute)

		if diff := cmp.Diff(old, ptr.Deref(s.get().Spec.HolderIdentity, "")); diff != "" {
			t.Errorf("holder: -want, +got:\n%s", diff)
		}

		c.end()
	})
}

// TestAnswerLost loses the answer to the request that took the Lease.
func TestAnswerLost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &apiServer{}
		c := newCandidate(s, me, standard())
		// The first read finds no Lease, and the Lease is made later.
		c.client.become(0)
		c.start(t)
		until(time.Second)
		s.put(newLease(renewed(0, time.Minute), signedBy(rival), releasedBy(rival)))
		c.client.become(unanswered)
		until(10 * time.Second)
		c.client.become(0)
		until(time.Minute)

		if got := ptr.Deref(s.get().Spec.HolderIdentity, ""); got != me || c.fence.at() == 0 {
			t.Errorf("the Lease is held by %q, fence at %s", got, c.fence.at())
		}

		if hosts, _ := c.Predecessors(); len(hosts) != 1 || hosts[0] != HostOf(rival) {
			t.Errorf("Predecessors(): %q", hosts)
		}

		c.end()
	})
}
