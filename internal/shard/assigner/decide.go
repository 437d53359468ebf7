// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package assigner

import (
	"slices"

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
