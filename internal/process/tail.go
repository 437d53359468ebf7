// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package process

import "strings"

// A Tail keeps the end of the data that is written to it.
type Tail struct {
	Max int // The approximate number of bytes that are kept.

	// Redact hides secrets, unless it is nil. The rest of a secret that was cut before would not
	// be recognized.
	Redact func(string) string

	kept  []byte
	isCut bool
}

// Write keeps the end of p.
func (t *Tail) Write(p []byte) (int, error) {
	t.kept = append(t.kept, p...)
	if len(t.kept) > 2*t.Max { // A cut is a copy.
		t.cut()
	}

	return len(p), nil
}

func (t *Tail) cut() {
	if len(t.kept) <= t.Max {
		return
	}

	if t.Redact != nil {
		t.kept = append(t.kept[:0], t.Redact(string(t.kept))...)
	}

	// One byte more is kept. If it is a line feed, the first line of the end is whole.
	if excess := len(t.kept) - t.Max; excess > 0 {
		t.kept = append(t.kept[:0], t.kept[excess-1:]...)
		t.isCut = true
	}
}

// String returns the end without a partial first line, which could contain a part of a secret.
func (t *Tail) String() string {
	t.cut()

	text := string(t.kept)
	if t.isCut {
		_, text, _ = strings.Cut(text, "\n")
	}

	return text
}
