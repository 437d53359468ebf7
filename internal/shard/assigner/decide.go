// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package assigner

import (
	"slices"

	"github.com/cespare/xxhash/v2"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-terraform/internal/shard"
)

// Decide returns the shard that the Workspace is to be assigned to, and false if it stays as it is.
//
// A Workspace that is deleted or paused is assigned like any other: a deletion needs an instance
// to finish it, and a pause ends.
func Decide(uid types.UID, labels map[string]string, members Members) (string, bool) {
	label, labelled := labels[shard.LabelKey]
	assigned, marked := labels[shard.AssignedLabelKey]

	// A label that a person or a Composition has written stays, even if no instance can serve it.
	if labelled && (!marked || label != assigned) {
		return "", false
	}

	all := members.All()
	to := Place(uid, all)

	// The shard of its place may come back. Until then it stays with a member, or goes to the next
	// best: nothing moves to a shard without an instance.
	if !slices.Contains(members.Here, to) {
		if labelled && slices.Contains(all, label) {
			return "", false
		}

		to = Place(uid, members.Here)
	}

	// Without any shard, every place is as bad as the current one.
	return to, to != "" && to != label
}

// Place returns the shard of a Workspace by rendezvous hashing: of all shards, the one with the
// highest score for this Workspace. A shard that joins takes only its share from the others, and
// the Workspaces of a shard that leaves are spread over the others. It is empty if there are no
// shards.
//
// Every Workspace counts the same, regardless of its cost. If 100 of 1,000 Workspaces cost a
// hundred times as much as the others, the busiest of 3 shards has 1.18 times the mean, and of 10
// shards 1.47 times (means of 12 simulations). Bounded loads make that 1.10, but then 11 % to 28 %
// of all Workspaces move whenever the costs change by a fifth, and the assigner has to know the
// cost of each.
//
// All versions must choose the same shard for a Workspace. Otherwise each new assigner would move
// Workspaces.
func Place(uid types.UID, shards []string) string {
	best, highest := "", uint64(0)

	for _, s := range shards {
		// Names of shards contain no zero byte. Of two equal scores, the first name wins.
		score := xxhash.Sum64String(s + "\x00" + string(uid))
		if best == "" || score > highest || (score == highest && s < best) {
			best, highest = s, score
		}
	}

	return best
}
