// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package terraform

import "bytes"

// A lineWriter calls line for every line that is written to it, without its line
// break. The bytes are valid during the call only. A line longer than max bytes is
// dropped. Flush hands over a last line that has no line break.
type lineWriter struct {
	line func([]byte)
	max  int

	partial []byte
	drop    bool // The current line is too long.
}

func (w *lineWriter) Write(p []byte) (int, error) {
	n := len(p)
	for {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			w.append(p)

			return n, nil
		}

		w.append(p[:i])
		w.end()

		p = p[i+1:]
	}
}

func (w *lineWriter) append(p []byte) {
	if w.drop || len(w.partial)+len(p) > w.max {
		w.drop, w.partial = true, w.partial[:0]

		return
	}

	w.partial = append(w.partial, p...)
}

func (w *lineWriter) end() {
	if !w.drop {
		w.line(w.partial)
	}

	w.drop, w.partial = false, w.partial[:0]
}

func (w *lineWriter) flush() {
	if len(w.partial) > 0 {
		w.end()
	}
}

// A tail keeps the last lines that are added to it, about max bytes of them.
type tail struct {
	max  int
	kept []byte
	// redact hides secrets. Of one that is cut, the rest would not be recognized.
	redact func(string) string
}

func (t *tail) add(line []byte) {
	t.kept = append(append(t.kept, line...), '\n')
	// Cutting at twice the size makes it one copy now and then, not one per line.
	if len(t.kept) > 2*t.max {
		t.cut()
	}
}

func (t *tail) cut() {
	if len(t.kept) <= t.max {
		return
	}

	t.kept = append(t.kept[:0], t.redact(string(t.kept))...)
	if excess := len(t.kept) - t.max; excess > 0 {
		i := bytes.IndexByte(t.kept[excess-1:], '\n')
		t.kept = append(t.kept[:0], t.kept[excess+i:]...)
	}
}

func (t *tail) String() string {
	t.cut()

	return string(t.kept)
}
