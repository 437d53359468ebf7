// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package assigner

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-terraform/internal/shard"
)

func TestDecide(t *testing.T) {
	t.Parallel()

	const uid = types.UID("00000000-0000-0000-0000-000000000001")

	all := []string{"a", "b", "c"}
	mine := Place(uid, all)

	// others are all but that, and next is the best of them.
	others := slices.DeleteFunc(slices.Clone(all), func(s string) bool { return s == mine })
	next := Place(uid, others)
	other := others[0]

	// The values are those of the two labels.
	labels := func(name string, assigned ...string) map[string]string {
		l := map[string]string{shard.LabelKey: name}
		for _, a := range assigned {
			l[shard.AssignedLabelKey] = a
		}

		return l
	}

	cases := map[string]struct {
		reason  string
		labels  map[string]string
		members []string
		away    []string
		want    string
	}{
		"Unlabelled":    {reason: "It is assigned.", members: all, want: mine},
		"NoMembers":     {reason: "There is nothing to assign it to.", want: ""},
		"Assigned":      {reason: "It is where it belongs.", labels: labels(mine, mine), members: all},
		"Joined":        {reason: "A shard has joined that it belongs to now.", labels: labels(other, other), members: all, want: mine},
		"Gone":          {reason: "Its shard is gone.", labels: labels("gone", "gone"), members: all, want: mine},
		"GoneAll":       {reason: "All shards are gone: no place is better.", labels: labels("gone", "gone")},
		"Pinned":        {reason: "A person has written the label.", labels: labels(other), members: all},
		"Repinned":      {reason: "A person has changed the label since.", labels: labels(other, mine), members: all},
		"PinnedGone":    {reason: "A person has written the label of a shard that does not exist.", labels: labels("gone"), members: all},
		"Empty":         {reason: "A person has written a label that no instance serves.", labels: labels(""), members: all},
		"Malformed":     {reason: "A person has written a label that cannot be the name of a shard.", labels: labels("A_b"), members: all},
		"LabelGone":     {reason: "A person has removed the label: it is assigned again.", labels: map[string]string{shard.AssignedLabelKey: other}, members: all, want: mine},
		"Away":          {reason: "Its shard may come back.", labels: labels(mine, mine), members: others, away: []string{mine}},
		"NewAway":       {reason: "Nothing moves to a shard without an instance.", members: others, away: []string{mine}, want: next},
		"ElsewhereAway": {reason: "The shard of its place has no instance.", labels: labels(next, next), members: others, away: []string{mine}},
		"GoneAway":      {reason: "Its shard is gone, and that of its place has no instance.", labels: labels("gone", "gone"), members: others, away: []string{mine}, want: next},
		"AllAway":       {reason: "There is nothing to assign it to.", labels: labels("gone", "gone"), away: all},
		"EmptyMarked":   {reason: "An assigner never writes an empty label. It is repaired.", labels: labels("", ""), members: all, want: mine},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got, move := Decide(uid, tc.labels, Members{Here: tc.members, Away: tc.away})
			if move != (tc.want != "") || (move && got != tc.want) {
				t.Errorf("\n%s\nDecide(...): want %q, got %q, %t", tc.reason, tc.want, got, move)
			}
		})
	}
}
