// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package shard

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWithHost(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		list   string
		host   string
		want   string
	}{
		"First": {
			reason: "The first of all.",
			host:   "h0",
			want:   "h0",
		},
		"Latest": {
			reason: "The latest comes first.",
			list:   "h0",
			host:   "h1",
			want:   "h1,h0",
		},
		"Again": {
			reason: "A host is there once.",
			list:   "h2,h1,h0",
			host:   "h1",
			want:   "h1,h2,h0",
		},
		"Full": {
			reason: "The oldest is forgotten: an annotation must not grow for ever.",
			list:   "h4,h3,h2,h1,h0",
			host:   "h5",
			want:   "h5,h4,h3,h2,h1",
		},
		"Edited": {
			reason: "What a person made of it is mended.",
			list:   ",h0,,",
			host:   "h1",
			want:   "h1,h0",
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if diff := cmp.Diff(tc.want, WithHost(tc.list, tc.host)); diff != "" {
				t.Errorf("%s\nWithHost(%q, %q): -want, +got:\n%s", tc.reason, tc.list, tc.host, diff)
			}
		})
	}
}
