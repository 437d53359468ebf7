// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package redact hides secrets in text that people read.
//
// Secrets are known values, and are hidden wherever they appear. Text must be redacted before it
// is cut: a part of a secret is not recognized. White space does not matter, so that text may be
// joined, wrapped or collapsed before.
package redact

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

const (
	// Placeholder replaces a secret.
	Placeholder = "(sensitive)"

	// MinLength is the length in bytes, without white space, of the shortest text that is treated
	// as a secret. A shorter one would match inside words: messages would become unreadable, and
	// the gap in a word would reveal the secret.
	MinLength = 6
)

// Secrets are values to hide. They are safe for concurrent use. nil has no values.
type Secrets struct {
	contents [][]byte

	// once guards the fields below: most reconciles have no text to redact.
	once sync.Once

	// forms of the secrets, by their first MinLength bytes, the longest first. They have
	// no white space.
	forms map[string][]string

	// spaced are the secrets that have white space inside.
	spaced []spaced
}

// A spaced is a secret without its white space, and the positions of that white space.
type spaced struct {
	text string
	gaps []int
}

// New returns the secrets in the supplied contents of Secrets and credentials files: each
// content, its lines, the strings and values in it, and their likely forms in a configuration,
// such as the base64 encoding.
func New(contents ...[]byte) *Secrets {
	return &Secrets{contents: contents}
}

// Text returns the text with a placeholder for each secret. Redacted text does not change.
func (s *Secrets) Text(text string) string {
	if s == nil {
		return text
	}

	s.once.Do(s.learn)

	if len(s.forms) == 0 {
		return text
	}

	stripped, at := strip(text)

	return replace(text, at, s.find(stripped))
}

// Line is Text for a line of a text that is processed line by line. A program may have wrapped
// the text at white space inside a secret. A part of a secret at the beginning or the end of the
// line, or that is the whole line, is hidden as well.
func (s *Secrets) Line(line string) string {
	line = s.Text(line)
	if s == nil || len(s.spaced) == 0 {
		return line
	}

	stripped, at := strip(line)
	start, end := 0, len(stripped)

	for _, secret := range s.spaced {
		if len(stripped) >= MinLength && strings.Contains(secret.text, stripped) {
			return Placeholder
		}

		for _, gap := range secret.gaps {
			begin, rest := secret.text[:gap], secret.text[gap:]

			if len(begin) >= MinLength && strings.HasSuffix(stripped, begin) {
				end = min(end, len(stripped)-len(begin))
			}

			if len(rest) >= MinLength && strings.HasPrefix(stripped, rest) {
				start = max(start, len(rest))
			}
		}
	}

	return replace(line, at, []span{{0, start}, {max(start, end), len(stripped)}})
}

// A span of bytes, from the first to the one after the last.
type span struct{ from, to int }

// find returns the positions of secrets in a text without white space, in order. Overlapping
// secrets have one common position.
func (s *Secrets) find(text string) []span {
	var found []span

	covered := 0 // The end of the last span.

	for i := 0; i+MinLength <= len(text); i++ {
		if strings.HasPrefix(text[i:], Placeholder) {
			i += len(Placeholder) - 1

			continue
		}

		for _, form := range s.forms[text[i:i+MinLength]] {
			if i+len(form) <= covered {
				break // All others are shorter.
			}

			if !strings.HasPrefix(text[i:], form) {
				continue
			}

			if i < covered {
				found[len(found)-1].to = i + len(form)
			} else {
				found = append(found, span{i, i + len(form)})
			}

			covered = i + len(form)

			break
		}
	}

	return found
}

// strip returns the text without white space, and the position in text of each of its bytes.
func strip(text string) (stripped string, at []int) {
	at = make([]int, 0, len(text))

	for i, r := range text {
		if isBlank(r) {
			continue
		}

		for j := range utf8.RuneLen(r) {
			at = append(at, i+j)
		}
	}

	return bare(text), at
}

// bare returns text without white space and without bytes that are not UTF-8.
func bare(text string) string {
	return strings.Map(func(r rune) rune {
		if isBlank(r) {
			return -1
		}

		return r
	}, text)
}

func isBlank(r rune) bool { return unicode.IsSpace(r) || r == utf8.RuneError }

// replace replaces the spans of the stripped text in the original text.
func replace(text string, at []int, spans []span) string {
	b := &strings.Builder{}
	rest := 0

	for _, s := range spans {
		if s.from == s.to {
			continue
		}

		b.WriteString(text[rest:at[s.from]])
		b.WriteString(Placeholder)

		rest = at[s.to-1] + 1
	}

	b.WriteString(text[rest:])

	return b.String()
}

// know adds a form of a secret.
func (s *Secrets) know(form string) {
	if form = bare(form); len(form) >= MinLength {
		s.forms[form[:MinLength]] = append(s.forms[form[:MinLength]], form)
	}
}

// sort sorts the forms for find, and removes duplicates.
func (s *Secrets) sort() {
	for head, forms := range s.forms {
		slices.SortFunc(forms, func(a, b string) int {
			return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b))
		})

		s.forms[head] = slices.Compact(forms)
	}
}
