// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package module

import (
	"context"
	"testing"
	"time"
)

// TestLock ensures that fetches of one tree wait for each other, and those of different trees do not,
// even if their keys begin alike.
func TestLock(t *testing.T) {
	t.Parallel()

	const key = "abcdef"

	cases := map[string]struct {
		reason, other string
		waits         bool
	}{
		"Same":      {reason: "Both would download the same.", other: key, waits: true},
		"FirstByte": {reason: "Each of them downloads something else.", other: "ab0000"},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := newStore(t.TempDir())
			defer s.Lock(t.Context(), key)()

			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()

			defer s.Lock(ctx, tc.other)()

			if waited := ctx.Err() != nil; waited != tc.waits {
				t.Errorf("%s\nLock(...): want it to wait: %t, got %t", tc.reason, tc.waits, waited)
			}
		})
	}
}
