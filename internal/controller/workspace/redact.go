// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
)

const (
	redacted = "(sensitive)"

	// minSecret is the length of the shortest text that is taken for a secret. A
	// shorter one would be found in the middle of words.
	minSecret = 6
)

// quoted matches strings as HCL, JSON and most credential files write them.
var quoted = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// A redactor replaces secrets in text that is shown to people. The CLI hides what
// a module marks as sensitive; this hides what came out of a Secret, whatever the
// module says of it.
type redactor struct{ replacer *strings.Replacer }

// newRedactor returns a redactor of the supplied contents of Secrets: each as a
// whole, each of its lines, and each string within it.
func newRedactor(contents ...[]byte) *redactor {
	var secrets []string

	add := func(text string) {
		if text = strings.TrimSpace(text); len(text) >= minSecret {
			// The CLI shows text as it is, and quoted. So does who logs JSON.
			inJSON, _ := json.Marshal(text) // Strings always can be.
			secrets = append(secrets, text, unwrap(strconv.Quote(text)), unwrap(string(inJSON)))
		}
	}

	for _, c := range contents {
		add(string(c))

		for line := range strings.Lines(string(c)) {
			add(line)
		}

		for _, m := range quoted.FindAll(c, -1) {
			add(unwrap(string(m)))

			// What the file means, which is what a module works with.
			if text, err := strconv.Unquote(string(m)); err == nil {
				add(text)
			}
		}
	}

	// The longest first, so that a secret within another one does not leave the
	// rest of it.
	slices.SortFunc(secrets, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}

		return strings.Compare(a, b)
	})

	pairs := make([]string, 0, 2*len(secrets))
	for _, s := range slices.Compact(secrets) {
		pairs = append(pairs, s, redacted)
	}

	return &redactor{replacer: strings.NewReplacer(pairs...)}
}

// unwrap takes away the quotation marks around text.
func unwrap(text string) string { return text[1 : len(text)-1] }

func (r *redactor) text(s string) string { return r.replacer.Replace(s) }

// err returns an error that says what the supplied one says, without secrets, and
// that is the supplied one for errors.Is and errors.As.
func (r *redactor) err(err error) error {
	if err == nil {
		return nil
	}

	return &redactedError{error: err, text: r.text(err.Error())}
}

type redactedError struct {
	error

	text string
}

func (e *redactedError) Error() string { return e.text }
func (e *redactedError) Unwrap() error { return e.error }

// A redactedRecorder records events without secrets. Addresses of resources, for
// example, have the keys of for_each in them.
type redactedRecorder struct {
	event.Recorder

	redactor *redactor
}

func (r redactedRecorder) Event(o runtime.Object, e event.Event) {
	e.Message = r.redactor.text(e.Message)
	r.Recorder.Event(o, e)
}

func (r redactedRecorder) WithAnnotations(kvs ...string) event.Recorder {
	return redactedRecorder{Recorder: r.Recorder.WithAnnotations(kvs...), redactor: r.redactor}
}
