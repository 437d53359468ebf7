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
	"bytes"
	"cmp"
	"hash/maphash"
	"slices"
	"strings"
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

	// maxForm is the length of the longest text that is searched for in one piece.
	maxForm = 64

	// maxKept is the size in bytes of the largest contents that Remember keeps, and maxFormer the number of them.
	maxKept   = 64 << 10
	maxFormer = 4
)

// Secrets are values to hide. They are safe for concurrent use. nil has no values.
type Secrets struct {
	current *values
	former  []*values

	// public are words that are not hidden.
	public []string
}

// vocabulary are words of most messages. One of them may be a value in a Secret, such as the profile "default":
// without it, messages would become unreadable, and the gap would reveal it. The rest is the same in each key file of Google Cloud:
// addresses of resources contain its domain, and plans with a hidden address cannot be approved.
var vocabulary = []string{ //nolint:gochecknoglobals // It is a constant.
	"backend", "configuration", "credentials", "crossplane", "default", "kubectl", "kubernetes", "module", "number", "object", "opentofu",
	"output", "provider", "resource", "string", "terraform", "upbound", "variable", "version", "workspace",

	"googleapis.com", "https://accounts.google.com/o/oauth2/auth", "https://oauth2.googleapis.com/token", "https://www.googleapis.com/oauth2/v1/certs",
}

// seed is that of all sums.
var seed = maphash.MakeSeed() //nolint:gochecknoglobals // It is a constant.

// New returns the secrets in the supplied contents of Secrets and credentials files: each
// content, its lines, the strings and values in it, and their likely forms in a configuration,
// such as the base64 encoding.
func New(contents ...[]byte) *Secrets {
	// Several references may lead to the same value.
	contents = slices.CompactFunc(slices.SortedFunc(slices.Values(contents), bytes.Compare), bytes.Equal)
	v := &values{contents: contents, seed: maphash.MakeSeed()}

	sum := maphash.Hash{}
	sum.SetSeed(seed)

	for _, c := range contents {
		v.size += len(c)
		maphash.WriteComparable(&sum, string(c))
	}

	v.sum = sum.Sum64()

	return &Secrets{current: v, public: vocabulary}
}

// With returns the secrets together with former ones, which a state may still have. It does not hide the words in
// public, such as the name of the object that messages are about.
func (s *Secrets) With(former []*Secrets, public ...string) *Secrets {
	with := &Secrets{current: s.current, public: slices.Concat(s.public, public)}

	for _, f := range former {
		if f.current.sum != s.current.sum {
			with.former = append(with.former, f.current)
		}
	}

	return with
}

// Remember returns the supplied former secrets and the current ones of s, at most maxFormer different ones: the first
// and the last. Those that are so large that they should not stay in memory are left out.
func (s *Secrets) Remember(former ...*Secrets) []*Secrets {
	if s == nil || s.current.size > maxKept {
		return former
	}

	rest := slices.DeleteFunc(slices.Clone(former), func(f *Secrets) bool { return f.current.sum == s.current.sum })
	rest = append(rest, &Secrets{current: s.current})

	if len(rest) > maxFormer {
		rest = slices.Delete(rest, 1, 2)
	}

	return rest
}

// Text returns the text with a placeholder for each secret. Redacted text does not change.
func (s *Secrets) Text(text string) string {
	if s == nil {
		return text
	}

	all := slices.DeleteFunc(s.values(), func(v *values) bool { return !v.any() })
	if len(all) == 0 {
		return text
	}

	stripped, at := strip(text)

	var found []span
	for _, v := range all {
		found = append(found, v.find(stripped, s.public)...)
	}

	return replace(text, at, merged(found))
}

// values returns the current and the former values.
func (s *Secrets) values() []*values { return append([]*values{s.current}, s.former...) }

// merged returns the spans in order, overlapping ones as one.
func merged(spans []span) []span {
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })

	var all []span

	for _, s := range spans {
		if last := len(all) - 1; last >= 0 && s.from < all[last].to {
			all[last].to = max(all[last].to, s.to)
		} else {
			all = append(all, s)
		}
	}

	return all
}

// Line is Text for a line of a text that is processed line by line. A program may have wrapped
// the text at white space inside a secret. A part of a secret at the beginning or the end of the
// line, or that is the whole line, is hidden as well, as one with the secrets that it overlaps.
func (s *Secrets) Line(line string) string {
	if s == nil {
		return line
	}

	stripped, at := strip(line)
	if slices.Contains(s.public, stripped) {
		return s.Text(line)
	}

	start, end := 0, len(stripped)

	var found []span

	for _, v := range s.values() {
		if !v.any() {
			continue
		}

		found = append(found, v.find(stripped, s.public)...)

		for _, secret := range v.spaced {
			if len(stripped) >= MinLength && strings.Contains(secret, stripped) {
				return Placeholder
			}

			if n := overlap(stripped, secret); n >= MinLength {
				end = min(end, len(stripped)-n)
			}

			if n := overlap(secret, stripped); n >= MinLength {
				start = max(start, n)
			}
		}
	}

	return replace(line, at, merged(append(found, span{0, start}, span{max(start, end), len(stripped)})))
}

// overlap returns the length of the longest end of a that is a beginning of b. It takes the time of
// Knuth, Morris and Pratt.
func overlap(a, b string) int {
	a = a[max(0, len(a)-len(b)):]
	b = b[:len(a)]

	// same[i] is the length of the longest end of b[:i+1] that is a shorter beginning of b.
	same, n := make([]int, len(b)), 0

	follow := func(c byte) {
		for n > 0 && (n == len(b) || b[n] != c) {
			n = same[n-1]
		}

		if n < len(b) && b[n] == c {
			n++
		}
	}

	for i := 1; i < len(b); i++ {
		follow(b[i])
		same[i] = n
	}

	n = 0

	for i := range len(a) {
		follow(a[i])
	}

	return n
}

// A span of bytes, from the first to the one after the last.
type span struct{ from, to int }

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
