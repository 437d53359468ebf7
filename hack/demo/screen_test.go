// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestPlainScreen(t *testing.T) {
	t.Parallel()

	s, out := newScreenFor(plainWidth)

	s.say("hello")
	s.show(table{newRow("a", "-", "none", "-", "-", "-", "0s")})
	s.begin("a step")
	s.progress("not yet")
	s.update(func() { s.reassure(s.said.Add(time.Second)) })
	s.update(func() { s.reassure(s.said.Add(reassure)) })
	s.showNow()
	s.end(green, "✓")
	s.update(func() { s.reassure(s.said.Add(time.Hour)) })

	want := strings.Join([]string{
		"hello",
		"… a step (10.0s) not yet",
		"",
		"NAME  SHARD  SERVED BY  SYNCED  READY  OUTPUTS  AGE",
		"a     -      none       -       -      -        0s",
		"",
		"✓ a step (0.0s)",
		"",
	}, "\n")
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("No color, no cursor movement, and the table only on request.\n-want, +got:\n%s", diff)
	}
}

func TestLiveScreen(t *testing.T) {
	t.Parallel()

	s, out := newScreenFor(30)
	s.live = true

	s.begin("a step with a title that is longer than the terminal is wide")
	s.progress("not yet")
	s.say("hello")
	s.end(red, "✗")

	want := strings.Join([]string{
		"\x1b[36m… a step with a title that i…\x1b[0m\n",
		"\x1b[1A\x1b[J",
		"\x1b[36m… a step with a title that i…\x1b[0m\n\x1b[2m  not yet\x1b[0m\n",
		"\x1b[2A\x1b[J",
		"hello\n\x1b[36m… a step with a title that i…\x1b[0m\n\x1b[2m  not yet\x1b[0m\n",
		"\x1b[2A\x1b[J",
		"\x1b[31m✗\x1b[0m a step with a title that is longer than the terminal is wide \x1b[2m(0.0s)\x1b[0m\n",
	}, "")
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("The step in progress is redrawn in place, below the printed lines.\n-want, +got:\n%s", diff)
	}
}

func TestCut(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		text   string
		width  int
		want   string
	}{
		"Fits":     {reason: "Text that fits is not changed.", text: "äöü", width: 3, want: "äöü"},
		"TooLong":  {reason: "An ellipsis is part of the width.", text: "äöüß", width: 3, want: "äö…"},
		"NewLines": {reason: "A line is one line.", text: "a\n  b", width: 9, want: "a b"},
		"NoWidth":  {reason: "A terminal may be narrower than anything.", text: "ab", width: 0, want: "…"},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if diff := cmp.Diff(tc.want, cut(tc.text, tc.width)); diff != "" {
				t.Errorf("%s\ncut(%q, %d): -want, +got:\n%s", tc.reason, tc.text, tc.width, diff)
			}
		})
	}
}
