// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package claim

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-terraform/internal/shard/session"
)

func TestDecide(t *testing.T) {
	t.Parallel()

	me := Claim{Lease: "a", Holder: "host_1"}
	before := Claim{Lease: "a", Holder: "host_0"}
	other := Claim{Lease: "b", Holder: "host_2"}

	cases := map[string]struct {
		reason string
		s      Situation
		want   Action
	}{
		"Unclaimed": {reason: "The Workspace has no claim.", s: Situation{Me: me, Serves: true}, want: Take},
		"Mine": {
			reason: "It is held, and other instances can see that.",
			s:      Situation{Me: me, Serves: true, Holds: true, Claimed: me}, want: Proceed,
		},
		"Released": {reason: "A cache that is behind shows a released claim.", s: Situation{Me: me, Serves: true, Claimed: me}, want: Take},
		"NotSeenYet": {
			reason: "It is held, but other instances cannot see that, or could not when it was read.",
			s:      Situation{Me: me, Serves: true, Holds: true}, want: Take,
		},
		"OtherAlive": {
			reason: "Its holder may be working on it.",
			s:      Situation{Me: me, Serves: true, Claimed: other, Claimant: session.Alive}, want: Wait,
		},
		"OtherUnknown": {
			reason: "Its holder may be alive and working on it.",
			s:      Situation{Me: me, Serves: true, Claimed: other, Claimant: session.Unknown}, want: Wait,
		},
		"OtherDead": {
			reason: "A dead instance does not work.",
			s:      Situation{Me: me, Serves: true, Claimed: other, Claimant: session.Dead}, want: Take,
		},
		"OtherAliveAlthoughHeld": {
			reason: "Another instance has claimed it, although this one believes to hold it.",
			s:      Situation{Me: me, Serves: true, Holds: true, Claimed: other, Claimant: session.Alive}, want: Wait,
		},
		"EarlierIncarnation": {
			reason: "An earlier process of the same shard has another identity.",
			s:      Situation{Me: me, Serves: true, Claimed: before, Claimant: session.Alive}, want: Wait,
		},
		"Left":      {reason: "Another instance is to serve it now.", s: Situation{Me: me, Holds: true, Claimed: me}, want: Release},
		"NotServed": {reason: "This instance never was to serve it.", s: Situation{Me: me}, want: Ignore},
		"NotServedOtherDead": {
			reason: "The instance that serves it finds out by itself that the holder is dead.",
			s:      Situation{Me: me, Claimed: other, Claimant: session.Dead}, want: Ignore,
		},
		"SessionlessUnclaimed": {reason: "A process without a session works without a claim.", s: Situation{Serves: true}, want: Proceed},
		"SessionlessOtherAlive": {
			reason: "A process without a session does not touch a Workspace that a shard has claimed.",
			s:      Situation{Serves: true, Claimed: other, Claimant: session.Alive}, want: Wait,
		},
		"SessionlessOtherUnknown": {
			reason: "The shard may be alive.",
			s:      Situation{Serves: true, Claimed: other, Claimant: session.Unknown}, want: Wait,
		},
		"SessionlessOtherDead": {
			reason: "The shard is dead, and its claims are void.",
			s:      Situation{Serves: true, Claimed: other, Claimant: session.Dead}, want: Proceed,
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if diff := cmp.Diff(tc.want, Decide(tc.s)); diff != "" {
				t.Errorf("%s\nDecide(%+v): -want, +got:\n%s", tc.reason, tc.s, diff)
			}
		})
	}
}
