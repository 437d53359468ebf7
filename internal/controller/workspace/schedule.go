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
// poll interval. The interval is lengthened or shortened by a part of the jitter
// that depends on nothing but the Workspace and the last look, so that the answer
// is the same however often it is asked for. The jitter is at most half the
// interval: a short interval on one Workspace would otherwise be drowned by it.
func (s *schedule) due(mg resource.Managed, last time.Time, interval time.Duration) time.Time {
	h := fnv.New64a()
	_, _ = h.Write([]byte(mg.GetUID()))
	_ = binary.Write(h, binary.LittleEndian, last.UnixNano())

	// Between -1 and 1.
	part := 2*float64(h.Sum64()>>11)/(1<<53) - 1

	return last.Add(interval + time.Duration(part*float64(min(s.jitter, interval/2))))
}

// isDue says whether a new look is due after the supplied one.
func (s *schedule) isDue(mg resource.Managed, last time.Time) bool {
	interval := s.poll
	if d, ok := xpmeta.GetPollInterval(mg); ok {
		interval = max(d, minPollInterval)
	}

	return !s.now().Before(s.due(mg, last, interval))
}

// told says whether the conditions of a managed resource tell what the supplied look
// saw.
func told(mg resource.Managed, l look) bool {
	if l.upToDate {
		return mg.GetCondition(xpv2.TypeReady).Status == corev1.ConditionTrue
	}

	return mayUpdate(mg) || mg.GetCondition(typeDrifted).Status == corev1.ConditionTrue
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
	return max(s.due(mg, l.at, interval).Sub(s.now()), time.Millisecond)
}
