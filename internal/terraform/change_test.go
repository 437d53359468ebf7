// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package terraform

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestDeletions ensures that the digest of what a plan deletes depends on all of it, and on nothing else.
func TestDeletions(t *testing.T) {
	t.Parallel()

	var all []ResourceChange
	for i := range 60 {
		all = append(all, ResourceChange{Action: "delete", Address: fmt.Sprintf("a.b[%02d]", i)})
	}

	got := Workspace{}.deletions(all)
	if n := len(got.First); got.Count != 60 || n != 50 || got.First[0] != "a.b[00]" || got.First[49] != "a.b[49]" {
		t.Errorf("want 60 deletions and the first 50 of them, got %+v", got)
	}

	digests := map[string]string{got.Digest: "all"}
	reversed := slices.Clone(all)
	slices.Reverse(reversed)

	if again := (Workspace{}).deletions(reversed); again.Digest != got.Digest || !slices.Equal(again.First, got.First) {
		t.Errorf("want the same in another order, got %+v and %+v", again, got)
	}

	last := func(c ResourceChange) []ResourceChange { return append(slices.Clone(all[:59]), c) }

	for what, changed := range map[string][]ResourceChange{
		"one less":             all[1:],
		"one twice":            append(slices.Clone(all), all[59]),
		"another last one":     last(ResourceChange{Action: "delete", Address: "a.b[x]"}),
		"another action":       last(ResourceChange{Action: "replace", Address: "a.b[59]"}),
		"a long address":       last(ResourceChange{Action: "delete", Address: strings.Repeat("x", 300)}),
		"another long address": last(ResourceChange{Action: "delete", Address: strings.Repeat("x", 299) + "y"}),
	} {
		digest := Workspace{}.deletions(changed).Digest
		if other, ok := digests[digest]; ok {
			t.Errorf("%s: want another digest than for %s", what, other)
		}

		digests[digest] = what
	}

	if none := (Workspace{}).deletions(nil); none.Count != 0 || none.Digest != "" {
		t.Errorf("want nothing for a plan that deletes nothing, got %+v", none)
	}
}

// TestHiddenDeletions ensures that what looks the same is not approved for something else.
func TestHiddenDeletions(t *testing.T) {
	t.Parallel()

	moved := Workspace{}.deletions([]ResourceChange{{Action: "delete", Address: "a.z", Previous: "a.b[00]"}})
	other := Workspace{}.deletions([]ResourceChange{{Action: "delete", Address: "a.z", Previous: "a.b[01]"}})

	if moved.Digest == other.Digest || moved.First[0] != "a.b[00]" {
		t.Errorf("want the instance that is moved before it is deleted, got %+v and %+v", moved, other)
	}

	hidden := Workspace{Redact: func(text string) string { return strings.ReplaceAll(text, "sesame", "(sensitive)") }}
	if !hidden.deletions([]ResourceChange{{Action: "delete", Address: `a.b["sesame"]`}}).Secret {
		t.Error("want to know whether an address has a secret")
	}
}
