// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package claim

import (
	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
)

func theObject() Object { return &clusterv1beta1.Workspace{} }

// release does one step of the goroutine that releases claims.
func (m *model) release(s *state, p, w int, fn yield) {
	n := *s
	mine := &n.procs[p].work[w]
	done := func(kind moveKind) {
		fn(move{kind: kind, proc: uint8(p), space: uint8(w)}, &n)
		n = *s
	}

	switch mine.release {
	case notReleasing:
		if mine.due && n.procs[p].status == leading {
			m.beginRelease(&n, p, w)
			done(releases)
		}
	case settled:
		m.readToErase(&n, p, w)
		done(readsToErase)
	case erased:
		mine.endRelease()
		done(eraseAnswered)
		m.loseRelease(&n, p, w, done)
	case settling, erasing:
		m.loseRelease(&n, p, w, done)
	}
}

func (m *model) beginRelease(s *state, p, w int) {
	mine := &s.procs[p].work[w]

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
		m.readToErase(s, p, w)
	}
}

// readToErase reads the Workspace and sends the request that removes the claim, if the claim is
// still there.
func (m *model) readToErase(s *state, p, w int) {
	mine := &s.procs[p].work[w]

	mine.release, mine.releasing = erasing, valid
	// An erasure on condition of the version requires a check of the claim first. Without that
	// condition, the API server does the check.
	if (s.claim[w] != name(p+1) || s.uid[w] != mine.heldUID) && m.without != eraseNeedsOwnClaim && m.without != eraseNeedsVersion {
		mine.release, mine.releasing = erased, none
	}
}

func (w *work) endRelease() {
	w.release, w.releasing, w.due = notReleasing, none, false
	w.holdings(func(h *holdings) { h.remove(ref{}) })
}

// loseRelease loses the answer to a request of the release.
func (m *model) loseRelease(s *state, p, w int, done func(moveKind)) {
	if s.left.losses == 0 {
		return
	}

	s.left.losses--
	mine := &s.procs[p].work[w]
	mine.late(none, mine.release, mine.releasing)
	mine.release, mine.releasing = notReleasing, none

	done(losesRelease)
}

// network delivers requests, independently of the state of their sender.
func (m *model) network(s *state, p, w int, fn yield) {
	n := *s
	mine := &n.procs[p].work[w]
	done := func(kind moveKind) {
		fn(move{kind: kind, proc: uint8(p), space: uint8(w)}, &n)
		n = *s
	}

	if mine.step == writing {
		mine.step = refused
		if m.claim(&n, p, w, mine.claiming) {
			mine.step = written
		}

		mine.claiming = none

		done(claimArrives)
	}

	if mine.release == settling {
		m.claim(&n, p, w, mine.releasing)
		mine.release, mine.releasing = settled, none

		done(settleArrives)
	}

	if mine.release == erasing {
		mine.release = settled
		if m.erase(&n, p, w, mine.releasing) {
			mine.release = erased
		}

		mine.releasing = none

		done(eraseArrives)
	}

	if mine.lateClaim != none {
		m.claim(&n, p, w, mine.lateClaim)
		mine.lateClaim = none

		done(lateClaimArrives)
	}

	if mine.lateStatus != none {
		m.status(&n, w, mine.lateCarries)
		mine.lateStatus, mine.lateCarries = none, 0

		done(lateStatusArrives)
	}

	if mine.lateErase != none {
		m.erase(&n, p, w, mine.lateErase)
		mine.lateErase = none

		done(lateEraseArrives)
	}
}

// claim returns the answer of the API server to a request that writes a claim.
func (m *model) claim(s *state, p, w int, r request) bool {
	if r != valid && m.without != claimNeedsVersion {
		return false
	}

	if s.claim[w] != name(p+1) {
		s.claim[w] = name(p + 1)
		m.changed(s, w)
	}

	return true
}

// erase returns the answer of the API server to a request that removes a claim.
func (m *model) erase(s *state, p, w int, r request) bool {
	if r != valid && m.without != eraseNeedsVersion {
		return false
	}

	mine := s.claim[w] == name(p+1) || m.without == eraseNeedsOwnClaim
	if mine && s.claim[w] != 0 {
		s.claim[w] = 0
		m.changed(s, w)
	}

	return true
}
