// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
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
		"Escaped": {
			reason:   "It is hidden in the ways in which text is quoted.",
			contents: []string{`hunter "22" <&>\`},
			text:     `hunter "22" <&>\ is "hunter \"22\" <&>\\" is "hunter \"22\" \u003c\u0026\u003e\\"`,
			want:     `(sensitive) is "(sensitive)" is "(sensitive)"`,
		},
		"Unescaped": {
			reason:   "A file that quotes it means what it quotes.",
			contents: []string{`{"token": "hunter \"22\" \u003c"}`},
			text:     `hunter "22" < is "hunter \"22\" <"`,
			want:     `(sensitive) is "(sensitive)"`,
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
		"Shortest": {
			reason:   "Six bytes are enough for a secret, five are not.",
			contents: []string{"secret", "passw"},
			text:     "secret passw",
			want:     "(sensitive) passw",
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

func TestRedactedRecorder(t *testing.T) {
	var got []event.Event

	r := redactedRecorder{Recorder: recorderFunc(func(e event.Event) { got = append(got, e) }), redactor: newRedactor([]byte("hunter22"))}
	r.WithAnnotations("a", "b").Event(nil, event.Normal("ApplyProgress", `1 resources done; terraform_data.user["hunter22"]: create`))

	want := []event.Event{event.Normal("ApplyProgress", `1 resources done; terraform_data.user["(sensitive)"]: create`)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Event(...): -want, +got:\n%s", diff)
	}
}

// A recorderFunc is called with every event.
type recorderFunc func(e event.Event)

func (f recorderFunc) Event(_ runtime.Object, e event.Event)      { f(e) }
func (f recorderFunc) WithAnnotations(_ ...string) event.Recorder { return f }

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
