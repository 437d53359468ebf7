// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package claim

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-terraform/internal/shard/lease"
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
		"Unclaimed": {
			reason: "Nobody has claimed it: it is to be had.",
			s:      Situation{Me: me, Serves: true, Unsharded: lease.Dead},
			want:   Take,
		},
		"Mine": {
			reason: "It is held, and everybody can see it.",
			s:      Situation{Me: me, Serves: true, Holds: true, Claimed: me, Unsharded: lease.Dead},
			want:   Run,
		},
		"MineNextToUnsharded": {
			reason: "An unsharded instance that came later leaves alone what is held.",
			s:      Situation{Me: me, Serves: true, Holds: true, Claimed: me, Unsharded: lease.Alive},
			want:   Run,
		},
		"Released": {
			reason: "A cache that is behind shows a claim that is released.",
			s:      Situation{Me: me, Serves: true, Claimed: me, Unsharded: lease.Dead},
			want:   Take,
		},
		"NotSeenYet": {
			reason: "It is held, but others cannot see that, or could not when this was read.",
			s:      Situation{Me: me, Serves: true, Holds: true, Unsharded: lease.Dead},
			want:   Take,
		},
		"OtherAlive": {
			reason: "Its holder may be at work.",
			s:      Situation{Me: me, Serves: true, Claimed: other, Claimant: lease.Alive, Unsharded: lease.Dead},
			want:   Wait,
		},
		"OtherUnknown": {
			reason: "Its holder may be alive, and so at work.",
			s:      Situation{Me: me, Serves: true, Claimed: other, Claimant: lease.Unknown, Unsharded: lease.Dead},
			want:   Wait,
		},
		"OtherDead": {
			reason: "The dead do nothing.",
			s:      Situation{Me: me, Serves: true, Claimed: other, Claimant: lease.Dead, Unsharded: lease.Dead},
			want:   Take,
		},
		"OtherAliveAlthoughHeld": {
			reason: "What others claim is not worked on, whatever this instance believes.",
			s:      Situation{Me: me, Serves: true, Holds: true, Claimed: other, Claimant: lease.Alive, Unsharded: lease.Dead},
			want:   Wait,
		},
		"EarlierIncarnation": {
			reason: "An earlier process of the same shard is another.",
			s:      Situation{Me: me, Serves: true, Claimed: before, Claimant: lease.Alive, Unsharded: lease.Dead},
			want:   Wait,
		},
		"UnshardedAlive": {
			reason: "The unsharded instance works on what nobody has claimed.",
			s:      Situation{Me: me, Serves: true, Unsharded: lease.Alive},
			want:   WaitForUnsharded,
		},
		"UnshardedUnknown": {
			reason: "There may be an unsharded instance.",
			s:      Situation{Me: me, Serves: true, Unsharded: lease.Unknown},
			want:   WaitForUnsharded,
		},
		"OtherDeadNextToUnsharded": {
			reason: "The unsharded instance works on what the dead have claimed.",
			s:      Situation{Me: me, Serves: true, Claimed: other, Claimant: lease.Dead, Unsharded: lease.Alive},
			want:   WaitForUnsharded,
		},
		"OtherAliveNextToUnsharded": {
			reason: "Both would have to go; people are told of the one that has the Workspace.",
			s:      Situation{Me: me, Serves: true, Claimed: other, Claimant: lease.Alive, Unsharded: lease.Alive},
			want:   Wait,
		},
		"Left": {
			reason: "It is for somebody else now.",
			s:      Situation{Me: me, Holds: true, Claimed: me, Unsharded: lease.Dead},
			want:   Release,
		},
		"NotServed": {
			reason: "It never was for this instance.",
			s:      Situation{Me: me, Unsharded: lease.Dead},
			want:   Ignore,
		},
		"NotServedOtherDead": {
			reason: "Who serves it finds out by itself that its holder is dead.",
			s:      Situation{Me: me, Claimed: other, Claimant: lease.Dead, Unsharded: lease.Dead},
			want:   Ignore,
		},
		"UnshardedUnclaimed": {
			reason: "An unsharded instance works without a claim.",
			s:      Situation{Serves: true, Unsharded: lease.Dead},
			want:   Run,
		},
		"UnshardedOtherAlive": {
			reason: "An unsharded instance leaves alone what a shard claims.",
			s:      Situation{Serves: true, Claimed: other, Claimant: lease.Alive, Unsharded: lease.Dead},
			want:   Wait,
		},
		"UnshardedOtherUnknown": {
			reason: "The shard may be alive.",
			s:      Situation{Serves: true, Claimed: other, Claimant: lease.Unknown, Unsharded: lease.Dead},
			want:   Wait,
		},
		"UnshardedOtherDead": {
			reason: "The shard is gone, and its claims with it.",
			s:      Situation{Serves: true, Claimed: other, Claimant: lease.Dead, Unsharded: lease.Dead},
			want:   Run,
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
