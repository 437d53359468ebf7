// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLeaks(t *testing.T) {
	t.Parallel()

	secrets := map[string]canary{
		"key":    {name: "key", text: "begin\nABCDEFGHIJKLMNOPQRST\nend", secrets: []string{"ABCDEFGHIJKLMNOPQRST"}},
		"phrase": {name: "phrase", text: "one  two\tthree four", secrets: []string{"one  two\tthree four"}},
	}
	where := "the condition Synced"

	cases := map[string]struct {
		reason string
		texts  []string
		want   int
	}{
		"Nothing":    {reason: "Nothing can be read.", texts: []string{"", "the apply failed: (sensitive)"}},
		"Whole":      {reason: "All of a secret can be read.", texts: []string{"the apply failed: ABCDEFGHIJKLMNOPQRST"}, want: 1},
		"Beginning":  {reason: "A part of it can be read, where the message is cut.", texts: []string{"the apply failed: ABCDEFGHIJKL"}, want: 1},
		"End":        {reason: "So can the end.", texts: []string{"...IJKLMNOPQRST failed"}, want: 1},
		"TooShort":   {reason: "Eleven bytes may be a coincidence.", texts: []string{"ABCDEFGHIJK", "JKLMNOPQRST"}},
		"Known":      {reason: "The text around a secret is not secret.", texts: []string{"begin\n(sensitive)\nend"}},
		"WhiteSpace": {reason: "White space is as it was, or collapsed.", texts: []string{"one  two\tthree", "one two three four"}, want: 1},
		"Both":       {reason: "Every secret counts.", texts: []string{"ABCDEFGHIJKLMNOP two three four"}, want: 2},
		"Again":      {reason: "Once for each place.", texts: []string{"ABCDEFGHIJKLMNOPQRST", "ABCDEFGHIJKLM"}, want: 1},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			var seen []sighting
			for _, text := range tc.texts {
				seen = append(seen, sighting{time: 5, workspace: "ws-1", where: where, text: text})
			}

			got := leaks(seen, secrets)
			if len(got) != tc.want {
				t.Errorf("%s\nleaks(...): %d, want %d: %v", tc.reason, len(got), tc.want, got)
			}

			for _, v := range got {
				if v.workspace != "ws-1" || v.time != 5 || !strings.Contains(v.text, where) {
					t.Errorf("%s\nleaks(...): got %v, want where it was seen", tc.reason, v)
				}
			}
		})
	}
}

// TestCanaries shows that the texts contain the secrets, that the same seed gives the same
// secrets, and that they are hard to hide.
func TestCanaries(t *testing.T) {
	t.Parallel()

	all := canaries(7)
	if diff := cmp.Diff(all, canaries(7), cmp.AllowUnexported(canary{})); diff != "" {
		t.Errorf("two of one seed differ:\n%s", diff)
	}

	for name, c := range all {
		for _, s := range c.secrets {
			if !strings.Contains(c.text, s) {
				t.Errorf("%s: %q is not in the text", name, s)
			}

			if strings.Contains(canaries(8)[name].text, s[:min(len(s), recognizable)]) {
				t.Errorf("%s: %q is no secret: it is the same for another seed", name, s)
			}
		}
	}

	for i, p := range printers() {
		if _, ok := all[p.canary]; !ok {
			t.Errorf("printer %d has no canary", i)
		}

		if !strings.Contains(p.module(i), strings.Repeat("x", 700)) {
			t.Errorf("printer %d does not fill the message", i)
		}
	}
}
