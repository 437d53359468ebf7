// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package shard

import (
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/sharding"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// rangePrefix of the suffix of the name of a Lease is not allowed in the name of a shard: no
// shard has the Lease of a range.
const rangePrefix = ".range-"

// maxRanges is the largest number of ranges. It is far above the number of instances of any
// installation, and finds a mistake.
const maxRanges = 1024

// ParseRange returns the ID of an instance that serves one of N equal ranges of the hashes of the
// UIDs, of the Workspaces without a label. The text is "i/N", with i from 0 to N-1.
func ParseRange(text string) (ID, error) {
	i, n, _ := strings.Cut(text, "/")
	id := ID{}

	var err error
	if id.index, err = number(i); err == nil {
		id.ranges, err = number(n)
	}

	if err != nil || id.ranges < 1 || id.ranges > maxRanges || id.index < 0 || id.index >= id.ranges {
		return ID{}, errors.Errorf("range %q is not allowed: use i/N, with N from 1 to %d and i from 0 to N-1, for example 0/3, 1/3 and 2/3", text, maxRanges)
	}

	return id, nil
}

// number parses a number in its only form: 01 would be a second name of a Lease.
func number(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err == nil && strconv.Itoa(n) != text {
		err = errors.New("not in its shortest form")
	}

	return n, err
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

// rangeName is the range in the name of a Lease, and parseRangeName its inverse.
func (id ID) rangeName() string { return fmt.Sprintf("%s%d-of-%d", rangePrefix, id.index, id.ranges) }

func parseRangeName(suffix string) (ID, bool) {
	text, ok := strings.CutPrefix(suffix, rangePrefix)
	if !ok {
		return ID{}, false
	}

	id, err := ParseRange(strings.Replace(text, "-of-", "/", 1))

	return id, err == nil && id.rangeName() == suffix
}
