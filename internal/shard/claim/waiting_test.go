// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package claim

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-terraform/internal/shard"
	"github.com/crossplane-contrib/provider-terraform/internal/shard/session"
)

// TestReason ensures that the message about an unsharded instance has a remedy that ends the wait.
func TestReason(t *testing.T) {
	t.Parallel()

	sharded, err := shard.Parse("a")
	if err != nil {
		t.Fatal(err)
	}

	unsharded := shard.ID{}.Instance()

	cases := map[string]struct {
		reason string
		me     Claim
		want   string
	}{
		"Sharded":   {reason: "It may serve the rest.", me: Claim{Instance: sharded.Instance(), Namespace: "ns"}, want: "Workspace. If it is to stay, run it with --shard-catch-all"},
		"Unsharded": {reason: "The flag would only turn the wait around.", me: Claim{Instance: unsharded, Namespace: "other"}, want: "namespaces ns and other: remove one"},
		"Earlier":   {reason: "It stops by itself.", me: Claim{Instance: unsharded, Namespace: "ns"}, want: "it serves every Workspace"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := Situation{Me: tc.me, Claimed: Claim{Instance: unsharded, Namespace: "ns"}, Claimant: session.Alive}
			if got, _ := reason(s, time.Hour, false); !strings.HasSuffix(got, tc.want) {
				t.Errorf("%s\nwant %q at the end of %q", tc.reason, tc.want, got)
			}
		})
	}
}

func TestWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWaits(func(int) {})

		for _, step := range []struct {
			reason  string
			after   time.Duration
			message string
			again   time.Duration
			uid     types.UID
			want    bool
		}{
			{reason: "It is new.", message: "a", want: true},
			{reason: "It was sent.", after: time.Hour, message: "a"},
			{reason: "It was sent long ago, and a person has to act on it.", message: "a", again: time.Hour, want: true},
			{reason: "It was sent not long ago.", after: time.Hour - 1, message: "a", again: time.Hour},
			{reason: "Another message is new.", message: "b", again: time.Hour, want: true},
			{reason: "Another Workspace has the name.", message: "b", again: time.Hour, uid: "another", want: true},
		} {
			time.Sleep(step.after)

			if got := w.due(ref{}, step.uid, step.message, step.again); got != step.want {
				t.Errorf("%s\ndue(...): want %t, got %t", step.reason, step.want, got)
			}
		}
	})
}
