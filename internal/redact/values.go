// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package redact

import (
	"hash/maphash"
	"slices"
	"strings"
	"sync"
)

// values have the hashes of all their forms.
type values struct {
	contents [][]byte
	size     int
	sum      uint64 // A hash of the contents, in any order.

	// once guards the fields below: most reconciles have no text to redact.
	once sync.Once

	// forms are the hashes of all forms of the secrets, in order. A form has no white space and at most
	// maxForm bytes. A text takes much more memory than its hash: see TestMemory.
	seed  maphash.Seed
	forms []uint64

	// starts has a bit for each hash of the first MinLength bytes of a form, modulo its size: almost no position
	// of a text needs more than one look at it. lengths are those of the forms, longest first.
	starts  []uint64
	lengths []int

	// spaced are the secrets that have white space inside, without it.
	spaced []string
}

// any says whether there is anything to hide.
func (v *values) any() bool {
	v.once.Do(v.learn)

	return len(v.forms) > 0
}

// find returns the positions of secrets in a text without white space, in order. Overlapping
// secrets have one common position.
func (v *values) find(text string, public []string) []span {
	var found []span

	covered := 0 // The end of the last span.

	for i := 0; i+MinLength <= len(text); i++ {
		if strings.HasPrefix(text[i:], Placeholder) {
			i += len(Placeholder) - 1

			continue
		}

		n := v.longest(text[i:], covered-i)
		if n == 0 || slices.Contains(public, text[i:i+n]) {
			continue
		}

		if i < covered {
			found[len(found)-1].to = i + n
		} else {
			found = append(found, span{i, i + n})
		}

		covered = i + n
	}

	return found
}

// longest returns the length of the longest form that the text begins with, or 0 if none is longer than least.
func (v *values) longest(text string, least int) int {
	if n := v.start(text); v.starts[n/64]&(1<<(n%64)) == 0 {
		return 0
	}

	for _, n := range v.lengths {
		if n <= least {
			break
		}

		if n > len(text) {
			continue
		}

		if _, ok := slices.BinarySearch(v.forms, maphash.String(v.seed, text[:n])); ok {
			return n
		}
	}

	return 0
}

// start returns the position in starts for the beginning of a text.
func (v *values) start(text string) uint64 {
	return maphash.String(v.seed, text[:MinLength]) % uint64(64*len(v.starts))
}
