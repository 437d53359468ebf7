// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package assigner

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-terraform/internal/shard"
)

// A Situation contains everything that decides to which shard a Workspace is assigned.
type Situation struct {
	UID types.UID

	// Labels of the Workspace.
	Labels map[string]string

	// Members are the shards that Workspaces are assigned to.
	Members Members
}

// Decide returns the shard that the Workspace is to be assigned to, and false if it stays as it is.
//
// A Workspace that is deleted or paused is assigned like any other: a deletion needs an instance
// to finish it, and a pause ends.
func Decide(s Situation) (string, bool) {
	label, labelled := s.Labels[shard.LabelKey]
	assigned, marked := s.Labels[shard.AssignedLabelKey]

	// A label that a person or a Composition has written stays, even if no instance can serve it.
	if labelled && (!marked || label != assigned) {
		return "", false
	}

	all := s.Members.All()
	to := Place(s.UID, all)

	// The shard of its place may come back. Until then it stays with a member, or goes to the next
	// best: nothing moves to a shard without an instance.
	if !slices.Contains(s.Members.Here, to) {
		if labelled && slices.Contains(all, label) {
			return "", false
		}

		to = Place(s.UID, s.Members.Here)
	}

	// Without any shard, every place is as bad as the current one.
	return to, to != "" && to != label
}
