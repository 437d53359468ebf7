// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package terraform

import (
	"slices"
	"sort"
)

// A firsts keeps the first of any number of different elements, which are added in any order: the
// CLI processes objects in any order. Equal elements stay in the order in which they were added.
type firsts[T comparable] struct {
	order func(a, b T) int
	max   int

	kept []T
	more int // The number of elements that were not kept. One of them that is added twice counts twice.
}

func (f *firsts[T]) add(x T) {
	if slices.Contains(f.kept, x) {
		return
	}

	after := sort.Search(len(f.kept), func(i int) bool { return f.order(f.kept[i], x) > 0 })
	f.kept = slices.Insert(f.kept, after, x)

	if len(f.kept) > f.max {
		f.kept = f.kept[:f.max]
		f.more++
	}
}

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
