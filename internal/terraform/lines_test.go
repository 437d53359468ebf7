// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package terraform

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLineWriter(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		writes []string
		want   []string
	}{
		"Whole":          {reason: "one write, one line", writes: []string{"abc\n"}, want: []string{"abc"}},
		"Split":          {reason: "a line may come in pieces", writes: []string{"a", "b", "c\nd", "\n"}, want: []string{"abc", "d"}},
		"Several":        {reason: "a write may hold several lines, empty ones too", writes: []string{"a\n\nb\n"}, want: []string{"a", "", "b"}},
		"NoBreakAtEnd":   {reason: "the last line needs no break", writes: []string{"a\nb"}, want: []string{"a", "b"}},
		"NothingAtEnd":   {reason: "a break ends a line and begins none", writes: []string{"a\n"}, want: []string{"a"}},
		"Longest":        {reason: "a line of the maximum length is kept", writes: []string{"12345678\n"}, want: []string{"12345678"}},
		"TooLong":        {reason: "a line that is too long is dropped, the next one is not", writes: []string{"123456789\nb\n"}, want: []string{"b"}},
		"TooLongInParts": {reason: "as above, in pieces", writes: []string{"12345", "6789", "0", "\nb\n"}, want: []string{"b"}},
		"TooLongAtEnd":   {reason: "as above, as the last line", writes: []string{"a\n123456789"}, want: []string{"a"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			var got []string

			w := &lineWriter{max: 8, line: func(line []byte) { got = append(got, string(line)) }}
			for _, s := range tc.writes {
				if n, err := w.Write([]byte(s)); n != len(s) || err != nil {
					t.Fatalf("%s: wrote %d of %d bytes: %v", tc.reason, n, len(s), err)
				}
			}

			w.flush()

			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
