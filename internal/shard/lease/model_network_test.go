// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package lease

// network delivers hanging requests.
func (m *model) network(s *state, i int, fn func(move, *state)) {
	n := *s
	p := &n.procs[i]
	done := func(kind moveKind) {
		fn(move{kind: kind, proc: uint8(i)}, &n)
		n = *s
	}

	r := p.request
	if !r.sent {
		return
	}

	if !r.accepted && !r.stale {
		m.accept(&n, i, r.long)

		p.request.accepted, p.request.latest = true, true
		if !r.waiting {
			p.request = request{}
		}

		done(arrives)
	}

	if !r.waiting || p.paused {
		return
	}

	p.request.waiting = false
	if r.stale || r.accepted {
		p.request = request{}
	}

	done(givesUp)

	switch {
	case r.accepted:
		p.request = request{}

		m.answer(&n, i, r)
		done(isAnswered)
	case r.stale:
		p.request = request{}

		done(isRefused)
	}
}
