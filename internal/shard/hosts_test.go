// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package shard

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAddHost(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		hosts  []string
		host   string
		want   []string
	}{
		"First": {
			reason: "The list is empty.",
			host:   "h0",
			want:   []string{"h0"},
		},
		"Latest": {
			reason: "The latest comes first.",
			hosts:  []string{"h0"},
			host:   "h1",
			want:   []string{"h1", "h0"},
		},
		"Again": {
			reason: "A host is listed once.",
			hosts:  []string{"h2", "h1", "h0"},
			host:   "h1",
			want:   []string{"h1", "h2", "h0"},
		},
		"Full": {
			reason: "The oldest host is dropped: the list must not grow without limit.",
			hosts:  []string{"h4", "h3", "h2", "h1", "h0"},
			host:   "h5",
			want:   []string{"h5", "h4", "h3", "h2", "h1"},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if diff := cmp.Diff(tc.want, AddHost(tc.hosts, tc.host)); diff != "" {
				t.Errorf("%s\nAddHost(%q, %q): -want, +got:\n%s", tc.reason, tc.hosts, tc.host, diff)
			}
		})
	}
}
