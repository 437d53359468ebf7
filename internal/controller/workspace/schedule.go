// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"encoding/binary"
	"hash/fnv"
	"time"

	corev1 "k8s.io/api/core/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	xpmeta "github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"

	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// minPollInterval is the shortest interval that the poll interval annotation can
// ask for. A plan takes about that long, so that less would be a busy loop.
const minPollInterval = time.Second

// A schedule says when the next look at a Workspace is due.
type schedule struct {
	memory *memory
	poll   time.Duration
	jitter time.Duration
	now    func() time.Time
}

// due returns when the next look is due after the supplied one, for the supplied
// poll interval. Every Workspace has its own times, which depend on its UID and the
// interval only: however many are created at once, or looked at again by an instance
// that has just started, their polls are spread over the whole interval. The next
// one is at least half an interval away, give or take the jitter.
func (s *schedule) due(mg resource.Managed, last time.Time, interval time.Duration) time.Time {
	earliest := last.Add(interval / 2)

	// Which interval since the beginning of time the earliest time is in, as this
	// Workspace counts.
	phase := time.Duration(spread(mg, "phase", 0) * float64(interval))
	n := (earliest.UnixNano() - int64(phase)) / int64(interval)

	for ; ; n++ {
		at := time.Unix(0, n*int64(interval)+int64(phase)).Add(s.jitterOf(mg, n, interval))
		if at.After(earliest) {
			return at
		}
	}
}

// jitterOf returns how much the n-th look is put off or brought forward. It is at
// most a quarter of the interval: a short interval on one Workspace would be drowned
// by it otherwise.
func (s *schedule) jitterOf(mg resource.Managed, n int64, interval time.Duration) time.Duration {
	return time.Duration((2*spread(mg, "jitter", n) - 1) * float64(min(s.jitter, interval/4)))
}

// spread returns a number from 0 up to but not including 1 that depends on the UID
// and the other arguments only.
func spread(mg resource.Managed, what string, n int64) float64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(mg.GetUID()))
	_, _ = h.Write([]byte(what))
	_ = binary.Write(h, binary.LittleEndian, n)

	// The bits of FNV depend on the last bytes too little to be used as they are.
	x := h.Sum64()
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33

	return float64(x>>11) / (1 << 53)
}

// before returns the time of a look that would make the next one due when it is due
// after now.
func (s *schedule) before(mg resource.Managed) time.Time {
	return s.now().Add(-s.interval(mg) / 2)
}

// until returns how long it is until the next look is due after the supplied one. It goes
// by the time that has passed, not by the time of day: a clock that was ahead and is set
// back would put off all looks by as much. A look in the future is not believed.
func (s *schedule) until(mg resource.Managed, last time.Time, interval time.Duration) time.Duration {
	now := s.now()

	passed := now.Sub(last)
	if passed < 0 {
		return 0
	}

	return s.due(mg, now.Add(-passed), interval).Sub(now)
}

// isDue says whether a new look is due after the supplied one.
func (s *schedule) isDue(mg resource.Managed, last time.Time) bool {
	return s.until(mg, last, s.interval(mg)) <= 0
}

// isPoll says whether a new look at a Workspace is due, or the last one failed. Otherwise
// what memory or the status tells is good enough in all likelihood.
func (s *schedule) isPoll(ws workspace.Workspace) bool {
	l, ok := s.memory.recall(ws.GetUID())
	if !ok {
		return !isSettled(ws)
	}

	return !l.settles(ws) || s.isDue(ws, l.at) || ws.GetCondition(xpv2.TypeSynced).Status != corev1.ConditionTrue
}

func (s *schedule) interval(mg resource.Managed) time.Duration {
	if d, ok := xpmeta.GetPollInterval(mg); ok {
		return max(d, minPollInterval)
	}

	return s.poll
}

// told says whether the conditions of a managed resource tell what the supplied look
// saw.
func told(mg resource.Managed, l look) bool {
	if l.upToDate {
		return mg.GetCondition(xpv2.TypeReady).Status == corev1.ConditionTrue
	}

	return mayUpdate(mg) || !l.exists || mg.GetCondition(typeDrifted).Status == corev1.ConditionTrue
}

// wait is a managed.PollIntervalHook. It returns how long to wait for the next
// look: not the poll interval, because this reconcile may have been caused by an
// event in the middle of it and have been answered from memory.
func (s *schedule) wait(mg resource.Managed, interval time.Duration) time.Duration {
	l, ok := s.memory.recall(mg.GetUID())
	if !ok {
		return interval
	}

	// The managed reconciler loses the status of a reconcile in which it adds its
	// finalizer. The next one records it, from memory.
	if !told(mg, l) {
		return time.Millisecond
	}

	// Zero would mean not to come back at all.
	wait := max(s.until(mg, l.at, interval), time.Millisecond)

	// It waits for a lane, and is called when there is one.
	if !l.upToDate && mayUpdate(mg) {
		wait = min(wait, laneTimeout)
	}

	return wait
}
