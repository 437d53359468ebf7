// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
)

// TestRefused makes two attempts, at 10 s with a long duration and at 20 s with a short one, to renew the
// Lease of count 3. The second one conflicts.
func TestRefused(t *testing.T) {
	t.Parallel()

	type want struct {
		Verdict         verdict
		Start, Duration time.Duration
	}

	last := want{Start: time.Second, Duration: time.Minute}
	once := func(v verdict) want {
		w := last
		w.Verdict = v

		return w
	}

	ended := leaseOf("a", "2", 3, 60)
	end(ended, "host_1")

	cases := map[string]struct {
		reason string
		lease  *coordinationv1.Lease
		now    time.Duration
		want   want
	}{
		"Edited":     {reason: "A person has edited it.", lease: leaseOf("a", "2", 3, 60), want: once(again)},
		"EditedLate": {reason: "Others may have ended it, and a person has put it back.", lease: leaseOf("a", "2", 3, 60), now: time.Hour, want: once(over)},
		"Repeated":   {reason: "One of the two attempts has taken effect. It may have been the first one.", lease: leaseOf("a", "2", 4, 300), want: want{Verdict: renewed, Start: 10 * time.Second, Duration: time.Minute}},
		"Ended":      {reason: "Another instance has ended it.", lease: ended, want: last},
		"Deleted":    {reason: "A person has deleted it.", want: last},
		"Replaced":   {reason: "A person has deleted it and put it back.", lease: leaseOf("b", "2", 3, 60), want: last},
		"Older":      {reason: "A person has put back an older copy.", lease: leaseOf("a", "2", 2, 60), want: last},
		"Twin":       {reason: "A process out of a snapshot of the machine renews it, too.", lease: leaseOf("a", "2", 5, 60), want: last},
		"NoCount":    {reason: "It is the Lease of something else.", lease: &coordinationv1.Lease{}, want: last},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r := renewals{}
			r.renewed(leaseOf("a", "1", 3, 60), time.Second, time.Minute)
			r.attempt(10*time.Second, 5*time.Minute)
			r.attempt(20*time.Second, time.Minute)

			got := want{Verdict: r.refused(tc.lease, max(tc.now, 30*time.Second), testTiming())}
			got.Start, got.Duration = r.start, r.duration

			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nrefused(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestDecideGate(t *testing.T) {
	t.Parallel()

	held := func(holder, session string) *coordinationv1.Lease {
		l := &coordinationv1.Lease{Spec: coordinationv1.LeaseSpec{HolderIdentity: &holder}}
		if session != "" {
			l.SetAnnotations(map[string]string{"terraform.crossplane.io/session": session})
		}

		return l
	}

	cases := map[string]struct {
		reason string
		lease  *coordinationv1.Lease
		want   gateAction
	}{
		"Missing":  {reason: "No process is elected.", want: standBy},
		"Other":    {reason: "Another replica is elected.", lease: held("other", ""), want: standBy},
		"First":    {reason: "No session has worked before.", lease: held("me", ""), want: enter},
		"Own":      {reason: "It is recorded.", lease: held("me", "mine"), want: proceed},
		"LastDead": {reason: "The last session has ended.", lease: held("me", "dead"), want: enter},
		"LastLive": {reason: "The process of the last session may be working.", lease: held("me", "live"), want: awaitEnd},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if got := decideGate(tc.lease, "me", "mine", func(s string) bool { return s == "dead" }); got != tc.want {
				t.Errorf("%s\ndecideGate(...): want %d, got %d", tc.reason, tc.want, got)
			}
		})
	}
}
