// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package shard

import (
	"fmt"
	"math/bits"
	"slices"

	"k8s.io/apimachinery/pkg/sharding"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// The name of a Lease of a range has these in place of "-" and "/". A shard cannot have that name.
const (
	rangePrefix    = ".range-"
	rangeSeparator = "-of-"
)

// maxRanges is the largest number of ranges. It is far above the number of instances of any
// installation, and finds a mistake.
const maxRanges = 1024

// ParseRange returns the ID of an instance that serves one of N equal ranges of the hashes of the
// UIDs, of the Workspaces without a label. The text is "i/N", with i from 0 to N-1.
func ParseRange(text string) (ID, error) {
	id := ID{}
	_, err := fmt.Sscanf(text, "%d/%d", &id.index, &id.ranges)

	// 01/3 would be a second name of a range.
	if err != nil || id.rangeText() != text || id.ranges < 1 || id.ranges > maxRanges || id.index < 0 || id.index >= id.ranges {
		return ID{}, errors.Errorf("range %q is not allowed: use i/N, with N from 1 to %d and i from 0 to N-1, for example 0/3, 1/3 and 2/3", text, maxRanges)
	}

	return id, nil
}

// ServeUnlabelled says whether a set of instances serves every Workspace without a label.
func ServeUnlabelled(ids []ID) bool {
	return slices.ContainsFunc(ids, func(id ID) bool {
		if id.ranges == 0 {
			return id == CatchAll()
		}

		for i := range id.ranges {
			if !slices.Contains(ids, ID{index: i, ranges: id.ranges}) {
				return false
			}
		}

		return true
	})
}

// ShardSelector is the selector of the API server for the range, for ListOptions. It is empty if
// the instance serves no range.
func (id ID) ShardSelector() string {
	if id.ranges == 0 {
		return ""
	}

	return sharding.NewSelector(sharding.ShardRangeRequirement{Key: "object.metadata.uid", Start: id.bound(id.index), End: id.bound(id.index + 1)}).String()
}

// inRange says whether a Workspace is in the range, or true if the instance serves no range. The
// hash is that of the API server, so that both agree on each Workspace.
func (id ID) inRange(uid types.UID) bool {
	if id.ranges == 0 {
		return true
	}

	hash := "0x" + sharding.HashField(string(uid))

	return !sharding.HexLess(hash, id.bound(id.index)) && sharding.HexLess(hash, id.bound(id.index+1))
}

// bound is the first hash of the range i, as the API server writes it.
func (id ID) bound(i int) string {
	if i == id.ranges {
		return "0x10000000000000000"
	}

	// 2^64 * i / N.
	q, _ := bits.Div64(uint64(i), 0, uint64(id.ranges)) //nolint:gosec // Both are between 0 and maxRanges.

	return fmt.Sprintf("%#016x", q)
}

// rangeText is the range as people write it.
func (id ID) rangeText() string { return fmt.Sprintf("%d/%d", id.index, id.ranges) }
