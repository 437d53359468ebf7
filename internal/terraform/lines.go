// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package terraform

import "bytes"

// A lineWriter calls line for every line that is written to it, without its line break. The bytes
// are valid during the call only. A line longer than max bytes is dropped. Flush passes on a last
// line without a line break.
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
