// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

func TestRedactor(t *testing.T) {
	cases := map[string]struct {
		reason   string
		contents []string
		text     string
		want     string
	}{
		"Whole": {
			reason:   "The content of a Secret is hidden.",
			contents: []string{"hunter22\n"},
			text:     "login with hunter22 failed",
			want:     "login with (sensitive) failed",
		},
		"Line": {
			reason:   "So is each line of it.",
			contents: []string{"https://me:hunter22@example.org\nhttps://you:hunter33@example.org\n"},
			text:     "cannot clone https://you:hunter33@example.org",
			want:     "cannot clone (sensitive)",
		},
		"Quoted": {
			reason:   "So is each string in it, in HCL and in JSON.",
			contents: []string{`password = "hunter22"`, `{"token":"abc\"def"}`},
			text:     `hunter22 and abc\"def`,
			want:     "(sensitive) and (sensitive)",
		},
		"LongestFirst": {
			reason:   "A secret that begins like another one is hidden as a whole.",
			contents: []string{"hunter22", "hunter22-and-more"},
			text:     "hunter22-and-more",
			want:     "(sensitive)",
		},
		"TooShort": {
			reason:   "Text that is too short is not a secret: it would be found everywhere.",
			contents: []string{"a", "true"},
			text:     "a true error",
			want:     "a true error",
		},
		"Nothing": {
			reason: "Without secrets nothing is hidden.",
			text:   "an error",
			want:   "an error",
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			var contents [][]byte
			for _, c := range tc.contents {
				contents = append(contents, []byte(c))
			}

			if got := newRedactor(contents...).text(tc.text); got != tc.want {
				t.Errorf("\n%s\ntext(%q): want %q, got %q", tc.reason, tc.text, tc.want, got)
			}
		})
	}
}

func TestRedactorErr(t *testing.T) {
	cause := errors.New("no entry for hunter22")
	r := newRedactor([]byte("hunter22"))

	err := r.err(errors.Wrap(cause, "cannot plan"))
	if !errors.Is(err, cause) {
		t.Errorf("err(...): the error is no longer what it was: %v", err)
	}

	if want := "cannot plan: no entry for (sensitive)"; err.Error() != want {
		t.Errorf("err(...): want %q, got %q", want, err)
	}

	if r.err(nil) != nil {
		t.Error("err(nil): want nil")
	}
}

func FuzzRedactor(f *testing.F) {
	f.Add(`password = "hunter22"`, "hunter22")
	f.Add("\x00\xff\"\\\"", "")

	f.Fuzz(func(t *testing.T, content, text string) {
		got := newRedactor([]byte(content)).text(text + content)

		if secret := strings.TrimSpace(content); len(secret) >= minSecret && !strings.Contains(redacted, secret) && strings.Contains(got, secret) {
			t.Errorf("text(%q) of secret %q: %q", text+content, content, got)
		}
	})
}
