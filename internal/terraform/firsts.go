// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package terraform

import (
	"hash/maphash"
	"slices"
	"sort"
)

// A firsts keeps the first of any number of different elements, which are added in any order: the
// CLI processes objects in any order. Equal elements stay in the order in which they were added.
type firsts[T comparable] struct {
	order func(a, b T) int
	max   int

	kept []T
	more int // The number of elements that were not kept.

	// seen are the hashes of all elements.
	seen map[uint64]bool
}

// seed makes hashes of elements.
var seed = maphash.MakeSeed() //nolint:gochecknoglobals // It is a constant.

func (f *firsts[T]) add(x T) {
	hash := maphash.Comparable(seed, x)
	if f.seen[hash] {
		return
	}

	if f.seen == nil {
		f.seen = map[uint64]bool{}
	}

	f.seen[hash] = true

	after := sort.Search(len(f.kept), func(i int) bool { return f.order(f.kept[i], x) > 0 })
	f.kept = slices.Insert(f.kept, after, x)

	if len(f.kept) > f.max {
		f.kept = f.kept[:f.max]
		f.more++
	}
}

// has says whether an element was added, also if it was not kept.
func (f *firsts[T]) has(x T) bool { return f.seen[maphash.Comparable(seed, x)] }

// before orders elements with a property before those without it.
func before(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	default:
		return 1
	}
}
