// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"math"
	"slices"
	"time"
)

// moment is the maximum delay between an end and its observation.
const moment = time.Second / 2

// reaping is the maximum delay between the death of an instance and its observation: it is a child
// of the harness, which waits for it, and the machine may be busy.
const reaping = 2 * time.Second

// respite is how long a process that is alive may need to save a state after the API
// server, which keeps it, is back.
const respite = 10 * time.Second

// haste is the grace period of an interrupt: half of the time between the renew deadline and the
// duration of a Lease. A CLI that was busy with a resource less than that before it was
// killed was busy after the interrupt, and had no time to save it.
const haste = 2500 * time.Millisecond

// expiry is the minimum time for which an instance cannot reach the API server before one of its runs is killed:
// the grace period of the interrupt. On a busy machine the last renewal may be almost as old as the renew
// deadline when the API server goes away.
const expiry = haste

// excuse returns the reason why a run could not save the resource that it was busy to create
// at the supplied time. It is empty if the run had to save it.
//
// An instance that kills itself because it cannot renew its Lease is an excuse only if it
// was paused, or its runs could not reach their backend either. Otherwise it had to
// interrupt its runs in time.
func excuse(by *run, busy int64, notes []note) string {
	if by == nil {
		return ""
	}

	if by.interrupted != 0 {
		return "too slow to interrupt"
	}

	if at, ok := killed(notes)[by.instance]; ok && (by.end == 0 || by.end > at-int64(reaping)) {
		if why := killer(by, notes, at); why != "" {
			return why
		}
	}

	if homeless(by, notes) {
		return "interrupted while cut off"
	}

	if hasty(by, busy, notes) {
		return "instance ended in the middle of it"
	}

	return ""
}

// killer says why an instance was killed with its run at the supplied time, empty if it
// had no reason to.
func killer(by *run, notes []note, at int64) string {
	for _, n := range notes {
		if n.subject != "" && n.subject != unnumbered(by.instance) || n.time > at {
			continue
		}

		switch {
		case (n.kind == kill || n.kind == lose) && n.time > at-int64(2*time.Second):
			return "killed"
		case n.kind == pause && n.until() > at-int64(reaping):
			return "paused"
		case n.cutsOff() && n.until() > at-int64(reaping):
			return "cut off"
		}
	}

	return ""
}

// homeless says whether a run was interrupted while it could not reach its backend, and one of these is true:
//
//   - Its instance ended before the backend was reachable again for long enough. The state is on its disk then.
//     If the disk is lost before the API server is back, and an instance with another disk takes over, the
//     latter cannot know of the state.
//   - Its instance lived on, but could not renew its session for so long that it killed the run, which may have
//     been waiting for an answer of the backend. A run that ended by itself has left its state on the disk,
//     and the instance has to save it.
func homeless(by *run, notes []note) bool {
	at, ok := ended(notes)[by.instance]

	return slices.ContainsFunc(notes, func(n note) bool {
		return n.cutsOff() && (n.subject == "" || n.subject == unnumbered(by.instance)) &&
			by.end > n.since() && by.end < n.until()+int64(haste) &&
			(ok && at < n.until()+int64(respite) || by.end > n.since()+int64(expiry))
	})
}

// hasty says whether a run ended together with its instance, right after it was busy to create
// something. An instance that got SIGTERM kills its last runs and then stops its other parts: on a
// busy machine that takes seconds.
func hasty(by *run, busy int64, notes []note) bool {
	at, ok := ended(notes)[by.instance]
	together := int64(2 * time.Second)

	if terminated(by, notes) {
		together = int64(respite)
	}

	return ok && by.end < busy+int64(haste) && at < by.end+together
}

// terminated says whether the process of the instance of a run had got SIGTERM when the run ended.
func terminated(by *run, notes []note) bool {
	got := false

	for _, n := range notes {
		switch {
		case n.time > by.end:
		case n.kind == terminate && n.subject == unnumbered(by.instance):
			got = true
		// The signal was for an earlier process.
		case n.ended != "" && unnumbered(n.ended) == unnumbered(by.instance):
			got = false
		}
	}

	return got
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

// since is when a fault began. The machine was slow before a request told so, for longer than instances wait for a renewal
// perhaps.
func (n note) since() int64 {
	if n.kind == slow {
		return n.time - int64(respite)
	}

	return n.time
}

// until is when a fault was over.
func (n note) until() int64 {
	switch {
	case n.end == 0:
		return math.MaxInt64 / 2
	case n.kind == slow:
		// This happens sometimes, and delays the end of instances.
		return n.end + int64(respite)
	default:
		return n.end
	}
}
