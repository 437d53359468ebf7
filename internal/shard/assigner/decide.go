// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package assigner

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-terraform/internal/shard"
)

// A Situation contains everything that decides to which shard a Workspace is assigned.
type Situation struct {
	UID types.UID

	// Labels of the Workspace.
	Labels map[string]string

	// Members are the names of the shards that Workspaces are assigned to.
	Members []string
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

	// Without any shard, every place is as bad as the current one.
	to := Place(s.UID, s.Members)

	return to, to != "" && to != label
}
