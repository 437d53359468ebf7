// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package spread checks how Workspaces are assigned to elastic shards.
package spread

import (
	"maps"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/shard"
)

// Check returns an error unless each Workspace is assigned to one of the shards, and these have equal
// numbers of Workspaces, or one more. labels are those of all Workspaces. One that a person has pinned
// counts, wherever it is.
func Check(shards []string, labels ...map[string]string) error {
	counts := map[string]int{}
	for _, name := range shards {
		counts[name] = 0
	}

	for _, l := range labels {
		name := l[shard.LabelKey]
		assigned, marked := l[shard.AssignedLabelKey]
		_, known := counts[name]

		switch {
		case known:
			counts[name]++
		case name == "":
			return errors.New("a Workspace is assigned to no shard")
		case marked && name == assigned:
			return errors.Errorf("a Workspace is assigned to %q, which is none of %q", name, shards)
		}
	}

	if numbers := slices.Sorted(maps.Values(counts)); numbers[len(numbers)-1]-numbers[0] > 1 {
		return errors.Errorf("numbers of Workspaces: %v", counts)
	}

	return nil
}
