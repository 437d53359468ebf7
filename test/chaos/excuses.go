// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"math"
	"slices"
	"time"
)

// moment is how much later than it happens an end may be seen.
const moment = time.Second / 2

// respite is how long a process that is alive may need to save a state after the API
// server, which keeps it, is back.
const respite = 10 * time.Second

// cutShort says whether a run had no time to save what it did: it was killed with its
// instance, or it was too slow to be interrupted.
//
// An instance that kills itself because it cannot renew its Lease is an excuse only if it
// was paused, or its runs could not reach their backend either. Otherwise it had to
// interrupt its runs in time.
func cutShort(by *run, notes []note) bool {
	if by.interrupted != 0 {
		return true
	}

	at, ok := killed(notes)[by.instance]
	if !ok || by.end != 0 && by.end <= at-int64(moment) {
		return false
	}

	return slices.ContainsFunc(notes, func(n note) bool {
		if n.subject != "" && n.subject != unnumbered(by.instance) || n.time > at {
			return false
		}

		switch n.kind {
		case kill, lose:
			return n.time > at-int64(2*time.Second)
		case pause:
			return n.until() > at-int64(moment)
		default:
			return n.cutsOff() && n.until() > at-int64(moment)
		}
	})
}

// homeless says whether a run ended when it could not reach its backend, and its instance
// ended before it could again for long enough: one that cannot renew its Lease has to.
// The state is on its disk then. If that ends before the API server is back, and an
// instance with another disk takes over, that one cannot know of it.
func homeless(by *run, notes []note) bool {
	at, ok := ended(notes)[by.instance]

	return ok && slices.ContainsFunc(notes, func(n note) bool {
		return n.cutsOff() && (n.subject == "" || n.subject == unnumbered(by.instance)) &&
			by.end > n.time && by.end < n.until()+int64(moment) && at < n.until()+int64(respite)
	})
}

// cutsOff says whether runs could not reach their backend because of the fault.
func (n note) cutsOff() bool {
	switch n.kind {
	case restart, slow:
		return true
	case hang, refuse, oneWay, outage, drain, delay:
		return !n.spareCLI
	default:
		return false
	}
}

// until is when a fault was over.
func (n note) until() int64 {
	switch {
	case n.end == 0:
		return math.MaxInt64 / 2
	case n.kind == slow:
		// It is seen now and then, and instances end later because of it.
		return n.end + int64(respite)
	default:
		return n.end
	}
}
