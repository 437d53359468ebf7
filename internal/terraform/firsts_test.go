// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package terraform

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestFirsts checks that what is kept of many elements does not depend on the order in which they
// come.
func TestFirsts(t *testing.T) {
	t.Parallel()

	const n = 7 * maxChanges

	for _, step := range []int{1, 3, n - 1} { // Each has no common divisor with n.
		f := firsts[ResourceChange]{order: byLoss, max: 3}

		for i := range n {
			k := i * step % n
			change := ResourceChange{Action: "create", Address: fmt.Sprintf("x[%03d]", k)}

			if k == n-1 {
				change.Action = "delete"
			}

			f.add(change)
		}

		// Again, also one that was not kept.
		f.add(ResourceChange{Action: "create", Address: "x[000]"})
		f.add(ResourceChange{Action: "create", Address: "x[005]"})

		want := []ResourceChange{{Action: "delete", Address: fmt.Sprintf("x[%03d]", n-1)}, {Action: "create", Address: "x[000]"}, {Action: "create", Address: "x[001]"}}
		if diff := cmp.Diff(want, f.kept); diff != "" || f.more != n-3 {
			t.Errorf("step %d: want %d more, got %d; -want, +got:\n%s", step, n-3, f.more, diff)
		}
	}
}
