// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"
	"time"
)

func TestQuantile(t *testing.T) {
	t.Parallel()

	hundred := make([]time.Duration, 100)
	for n := range hundred {
		hundred[n] = time.Duration(100-n) * time.Second
	}

	cases := map[string]struct {
		reason string
		all    []time.Duration
		part   float64
		want   float64
	}{
		"Median":  {reason: "Half of them are not longer.", all: hundred, part: 0.5, want: 50},
		"Highest": {reason: "One in a hundred may be longer.", all: hundred, part: 0.99, want: 99},
		"All":     {reason: "No item is longer.", all: hundred, part: 1, want: 100},
		"One":     {reason: "The only one is every quantile.", all: hundred[:1], part: 0.5, want: 100},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if got := quantile(tc.all, tc.part); got != tc.want {
				t.Errorf("\n%s\nquantile(..., %g): want %g, got %g", tc.reason, tc.part, tc.want, got)
			}
		})
	}
}
