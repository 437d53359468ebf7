// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package claim

// release does one step of the goroutine that releases claims.
func (m *model) release(s *state, p int, fn yield) {
	n := *s
	mine := &n.procs[p].work
	done := func(kind moveKind) {
		fn(move{kind: kind, proc: uint8(p)}, &n)
		n = *s
	}

	switch mine.release {
	case notReleasing:
		if mine.due && n.procs[p].status == leading {
			m.beginRelease(&n, p)
			done(releases)
		}
	case settled:
		m.readToErase(&n, p)
		done(readsToErase)
	case erased:
		mine.endRelease()
		done(eraseAnswered)
		m.loseRelease(&n, p, done)
	case settling, erasing:
		m.loseRelease(&n, p, done)
	}
}

func (m *model) beginRelease(s *state, p int) {
	mine := &s.procs[p].work

	ok, unsure := false, mine.unsure
	mine.holdings(func(h *holdings) {
		if e, held := h.held[ref{}]; held && m.without == releaseWaitsForWork {
			e.busy = false
		}

		_, _, ok = h.leavable(ref{})
	})

	switch {
	case !ok:
		mine.due = false
	case unsure != none:
		mine.release, mine.releasing = settling, unsure
	default:
		m.readToErase(s, p)
	}
}

// readToErase reads the Workspace and sends the request that removes the claim, if the claim is
// still there.
func (m *model) readToErase(s *state, p int) {
	mine := &s.procs[p].work

	mine.release, mine.releasing = erasing, valid
	// An erasure on condition of the version requires a check of the claim first. Without that
	// condition, the API server does the check.
	if (s.claim != name(p+1) || s.uid != mine.heldUID) && m.without != eraseNeedsOwnClaim && m.without != eraseNeedsVersion {
		mine.release, mine.releasing = erased, none
	}
}

func (w *work) endRelease() {
	w.release, w.releasing, w.due = notReleasing, none, false
	w.holdings(func(h *holdings) { h.remove(ref{}) })
}

// loseRelease loses the answer to a request of the release.
func (m *model) loseRelease(s *state, p int, done func(moveKind)) {
	if s.left.losses == 0 {
		return
	}

	s.left.losses--
	mine := &s.procs[p].work
	mine.late(none, mine.release, mine.releasing)
	mine.release, mine.releasing = notReleasing, none

	done(losesRelease)
}

// network delivers requests, independently of the state of their sender.
func (m *model) network(s *state, p int, fn yield) {
	n := *s
	mine := &n.procs[p].work
	done := func(kind moveKind) {
		fn(move{kind: kind, proc: uint8(p)}, &n)
		n = *s
	}

	if mine.step == writing {
		mine.step = refused
		if m.claim(&n, p, mine.claiming) {
			mine.step = written
			mine.base, mine.carries = valid, name(p+1)
		}

		mine.claiming = none

		done(claimArrives)
		m.mislead(&n, p, done)
	}

	if mine.release == settling {
		m.claim(&n, p, mine.releasing)
		mine.release, mine.releasing = settled, none

		done(settleArrives)
	}

	if mine.release == erasing {
		mine.release = settled
		if m.erase(&n, p, mine.releasing) {
			mine.release = erased
		}

		mine.releasing = none

		done(eraseArrives)

		if n.left.repeats > 0 && m.erase(&n, p, mine.releasing) {
			n.left.repeats--
			mine.release, mine.releasing = settled, none

			done(eraseRepeats)
		}
	}

	if mine.lateClaim != none {
		m.claim(&n, p, mine.lateClaim)
		mine.lateClaim = none

		done(lateClaimArrives)
	}

	if mine.lateStatus != none {
		m.status(&n, mine.lateCarries)
		mine.lateStatus, mine.lateCarries = none, 0

		done(lateStatusArrives)
	}

	if mine.lateErase != none {
		m.erase(&n, p, mine.lateErase)
		mine.lateErase = none

		done(lateEraseArrives)
	}
}

// mislead gives an answer to a claim that does not tell whether the Workspace has it. client-go repeats
// a request if a proxy answers with Retry-After: the second one is refused because of the first.
func (m *model) mislead(s *state, p int, done func(moveKind)) {
	mine := &s.procs[p].work
	claiming := mine.claiming

	if s.left.denials > 0 {
		s.left.denials--
		mine.step, mine.claiming = denied, none

		done(claimIsDenied)
	}

	if s.left.repeats > 0 && m.claim(s, p, claiming) {
		s.left.repeats--
		mine.step, mine.claiming = refused, none

		done(claimRepeats)
	}
}

// claim returns the answer of the API server to a request that writes a claim.
func (m *model) claim(s *state, p int, r request) bool {
	if r != valid && m.without != claimNeedsVersion {
		return false
	}

	if s.claim != name(p+1) {
		s.claim = name(p + 1)
		m.changed(s)
	}

	return true
}

// erase returns the answer of the API server to a request that removes a claim.
func (m *model) erase(s *state, p int, r request) bool {
	if r != valid && m.without != eraseNeedsVersion {
		return false
	}

	mine := s.claim == name(p+1) || m.without == eraseNeedsOwnClaim
	if mine && s.claim != 0 {
		s.claim = 0
		m.changed(s)
	}

	return true
}
