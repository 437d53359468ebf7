// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package process

import "strings"

// A Tail keeps the end of what is written to it.
type Tail struct {
	// Max is how many bytes are kept, about.
	Max int

	// Redact hides secrets, unless it is nil. The rest of a secret that is cut would not be
	// recognized.
	Redact func(string) string

	kept  []byte
	isCut bool
}

// Write keeps the end of p.
func (t *Tail) Write(p []byte) (int, error) {
	t.kept = append(t.kept, p...)
	// Cutting at twice the size makes it one copy now and then, not one for each write.
	if len(t.kept) > 2*t.Max {
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

	// The byte before the end tells whether the end begins with a whole line.
	if excess := len(t.kept) - t.Max; excess > 0 {
		t.kept = append(t.kept[:0], t.kept[excess-1:]...)
		t.isCut = true
	}
}

// String returns the end without a line that was cut: that could be half of a secret.
func (t *Tail) String() string {
	t.cut()

	text := string(t.kept)
	if t.isCut {
		_, text, _ = strings.Cut(text, "\n")
	}

	return text
}
