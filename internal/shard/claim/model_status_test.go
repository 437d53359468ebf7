// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package claim

// record does one step of a process that writes the status of the Workspace that it works on. It
// writes the whole status, with the claim.
func (m *model) record(s *state, p int, fn yield) {
	n := *s
	mine := &n.procs[p].work
	done := func(kind moveKind) {
		fn(move{kind: kind, proc: uint8(p)}, &n)
		n = *s
	}

	if mine.step != working {
		return
	}

	if !mine.recording {
		if n.left.writes > 0 {
			n.left.writes--
			mine.recording = true

			done(records)
		}

		return
	}

	if mine.base == valid {
		m.status(&n, mine.carries)
		mine.base, mine.recording = valid, false

		done(statusIsWritten)

		if n.left.repeats > 0 {
			n.left.repeats--
			m.status(&n, mine.carries)
			done(statusRepeats)
		}
	} else {
		done(m.repeat(&n, p))
	}

	if n.left.losses > 0 {
		n.left.losses--
		mine.recording = false

		if mine.base == valid {
			mine.lateStatus, mine.lateCarries = valid, mine.carries
		}

		done(losesStatus)
	}
}

// repeat a refused status, on the latest version.
func (m *model) repeat(s *state, p int) moveKind {
	mine := &s.procs[p].work

	if s.uid != mine.uid {
		mine.recording = false

		return statusIsNot
	}

	mine.base = valid

	if now := s.claim; now != 0 && now != mine.carries {
		mine.base, mine.recording = outdated, false

		return statusIsNot
	}

	mine.carries = s.claim

	return statusIsRepeated
}

// status is the effect of a status that is not outdated in the API server.
func (m *model) status(s *state, claim name) {
	s.claim = claim
	m.changed(s)
}
