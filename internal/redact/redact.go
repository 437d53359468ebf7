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

	// maxForm is the length of the longest text that is compared at each position of a text.
	maxForm = 4 << 10
)

// Secrets are values to hide. They are safe for concurrent use. nil has no values.
type Secrets struct {
	contents [][]byte

	// once guards the fields below: most reconciles have no text to redact.
	once sync.Once

	// forms of the secrets, in order. They have no white space. A longer one than maxForm is in pieces.
	forms []form

	// spaced are the secrets that have white space inside.
	spaced []spaced
}

// A spaced is a secret without its white space, and the positions of that white space.
type spaced struct {
	text string
	gaps []int
}

// A form of a secret.
type form struct {
	text string

	// prefix is the index of the longest other form that is a prefix of the text, or -1.
	prefix int
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

		end := i + longest(s.forms, text[i:])
		if end == i || end <= covered {
			continue
		}

		if i < covered {
			found[len(found)-1].to = end
		} else {
			found = append(found, span{i, end})
		}

		covered = end
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

// longest returns the length of the longest of the ordered forms that the text begins with, or 0.
// It compares few of them: a tenant may have many that begin the same.
func longest(forms []form, text string) int {
	text = text[:min(len(text), maxForm)]

	n, ok := slices.BinarySearchFunc(forms, text, func(f form, text string) int { return cmp.Compare(f.text, text) })
	if ok {
		return len(text)
	}

	if n == 0 {
		return 0
	}

	// In the order of the forms, each prefix of the text is also a prefix of the form before the text.
	n--

	for shared := common(text, forms[n].text); n >= 0 && shared >= MinLength; n = forms[n].prefix {
		if len(forms[n].text) <= shared {
			return len(forms[n].text)
		}
	}

	return 0
}

// common returns the length of the longest common prefix.
func common(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}

	return n
}

// know adds a form of a secret.
func (s *Secrets) know(text string) {
	text = bare(text)

	// A text that contains a long form contains all of its pieces. They overlap, so that they are
	// hidden as one.
	for len(text) > maxForm {
		s.forms = append(s.forms, form{text: text[:maxForm]})
		text = text[min(maxForm-1, len(text)-maxForm):]
	}

	if len(text) >= MinLength {
		s.forms = append(s.forms, form{text: text})
	}
}

// sort sorts the forms for longest, and removes duplicates.
func (s *Secrets) sort() {
	slices.SortFunc(s.forms, func(a, b form) int { return cmp.Compare(a.text, b.text) })
	s.forms = slices.Compact(s.forms)

	// In this order, each prefix of a form is also a prefix of the form before it.
	prefix := -1
	for i := range s.forms {
		for prefix >= 0 && !strings.HasPrefix(s.forms[i].text, s.forms[prefix].text) {
			prefix = s.forms[prefix].prefix
		}

		s.forms[i].prefix, prefix = prefix, i
	}
}
