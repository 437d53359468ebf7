// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package chaos

import "testing"

func TestBadEnds(t *testing.T) {
	t.Parallel()

	bad := note{time: at(60000), subject: "a", ended: "a#3", failed: true}

	cases := map[string]struct {
		reason string
		notes  []note
		want   int
	}{
		"Bad":        {reason: "It failed for no reason.", notes: []note{bad}, want: 1},
		"Good":       {reason: "It did not fail.", notes: []note{{time: at(60000), subject: "a", ended: "a#3"}}},
		"SlowBefore": {reason: "The machine was overloaded.", notes: []note{{time: at(50000), kind: slow}, bad}},
		"SlowAfter":  {reason: "The request of the harness took longer than the instance waited.", notes: []note{bad, {time: at(64000), kind: slow}}},
		"LongAgo":    {reason: "The machine had time again.", notes: []note{{time: at(30000), kind: slow}, bad}, want: 1},
		"OtherFault": {reason: "The fault was over long before.", notes: []note{{time: at(55000), kind: hang}, bad}, want: 1},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if got := len(badEnds(tc.notes)); got != tc.want {
				t.Errorf("%s\nfound %d bad ends, want %d", tc.reason, got, tc.want)
			}
		})
	}
}
