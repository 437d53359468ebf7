// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane-contrib/provider-terraform/internal/queue"
)

// ticketTimeout limits two waits. A Workspace that waits for a slot is decided on again after this
// time. A reserved slot goes to the next Workspace if the called one does not come: another instance may
// have claimed it.
const ticketTimeout = 30 * time.Second

const (
	// repeatReport is the interval of reports about one Workspace that waits for a slot.
	repeatReport = 30 * time.Minute

	// maxReports is the number of Workspaces that are reported at once, and then one per second. After a
	// rollout, thousands may wait, and their Events would displace those about what was applied.
	maxReports = 100
)

// Slots limit the number of concurrent applies, so that long applies never take all workers and
// polls continue. A Workspace that has to wait gets a ticket, and is added to the queue ("called") when a
// slot is reserved for it. Slots are safe for concurrent use.
type Slots struct {
	// call puts a Workspace into the queue, as soon as there is one: see setQueue.
	call    func(reconcile.Request)
	records *Records

	total   int
	reports *rate.Limiter

	mu   sync.Mutex
	free int
	held map[reconcile.Request]bool

	// waiting are the Workspaces that have a ticket or were called. No Workspace has a ticket while a
	// slot is free.
	waiting map[reconcile.Request]*waiter
	tickets *queue.FairQueue[reconcile.Request]

	changed func(held, waiting int)
	waited  func(time.Duration)
}

// A waiter is a Workspace that waits for a slot.
type waiter struct {
	since time.Time

	// report is when people are told next that it waits.
	report time.Time

	// called ends the reservation of a slot. It is nil for a Workspace that was not called yet.
	called *time.Timer
}

// NewSlots returns n slots. changed is called with the number of Workspaces that have a slot, and of those
// that wait for one, whenever these may have changed. waited is called for each Workspace that gets a
// slot, with the time for which it has waited. Neither must use the slots.
func NewSlots(n int, r *Records, changed func(held, waiting int), waited func(time.Duration)) *Slots {
	return &Slots{
		call:    func(reconcile.Request) {},
		records: r,
		total:   n,
		reports: rate.NewLimiter(1, maxReports),
		free:    n,
		held:    map[reconcile.Request]bool{},
		waiting: map[reconcile.Request]*waiter{},
		tickets: queue.NewFairQueue(r.class),
		changed: changed,
		waited:  waited,
	}
}

// setQueue sets the queue that Workspaces are put into.
func (s *Slots) setQueue(q workqueue.TypedInterface[reconcile.Request]) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.call = q.Add
}

// add puts a Workspace into the queue, without a slot.
func (s *Slots) add(req reconcile.Request) {
	s.mu.Lock()
	call := s.call
	s.mu.Unlock()

	call(req)
}

// Acquire takes a slot for a Workspace, unless it has one. If no slot is free, the Workspace gets
// a ticket, and Acquire returns false.
func (s *Slots) Acquire(req reconcile.Request) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.report()

	switch {
	case s.held[req]:
		return true
	case !s.available(req):
		return false
	}

	took := time.Duration(0)

	if w, ok := s.waiting[req]; ok {
		w.called.Stop()
		delete(s.waiting, req)

		took = time.Since(w.since)
	} else {
		s.free--
	}

	s.held[req] = true
	s.waited(took)

	return true
}

// Available says whether Acquire would take a slot for a Workspace. If not, the Workspace gets a
// ticket.
func (s *Slots) Available(req reconcile.Request) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.report()

	return s.available(req)
}

func (s *Slots) available(req reconcile.Request) bool {
	w, waits := s.waiting[req]

	switch {
	case s.held[req], s.free > 0, waits && w.called != nil:
		return true
	case waits:
		s.tickets.Touch(req)
	default:
		s.tickets.Push(req)
		s.waiting[req] = &waiter{since: time.Now(), report: time.Now().Add(ticketTimeout)}
	}

	return false
}

// Release releases the slot of a Workspace, if it has one.
func (s *Slots) Release(req reconcile.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.report()

	if s.held[req] {
		delete(s.held, req)
		s.passOn()
	}
}

// Cancel ends the wait of a Workspace that needs no slot any more, and passes on the slot that is reserved
// for it.
func (s *Slots) Cancel(req reconcile.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.report()

	w, ok := s.waiting[req]
	if !ok {
		return
	}

	delete(s.waiting, req)
	s.tickets.Remove(req)

	if w.called != nil {
		w.called.Stop()
		s.passOn()
	}
}

// Waits says whether a Workspace has a ticket.
func (s *Slots) Waits(req reconcile.Request) bool {
	s.mu.Lock()
	defer s.mu.Unlock()

	w, ok := s.waiting[req]

	return ok && w.called == nil
}

// reportsWait says whether people are to be told now that a Workspace waits: nothing else shows it on one
// that has just been created, changed or deleted.
func (s *Slots) reportsWait(req reconcile.Request) bool {
	s.mu.Lock()
	defer s.mu.Unlock()

	w, waits := s.waiting[req]
	if !waits || time.Now().Before(w.report) || !s.reports.Allow() {
		return false
	}

	w.report = time.Now().Add(repeatReport)

	return true
}

func (s *Slots) report() { s.changed(len(s.held), len(s.waiting)) }

// passOn reserves a slot for the next Workspace in the order, so that one that has just come does not
// take it. Without a next one, the slot is free.
func (s *Slots) passOn() {
	if s.tickets.Len() == 0 {
		s.free++

		return
	}

	next := s.tickets.Pop()
	s.waiting[next].called = time.AfterFunc(ticketTimeout, func() { s.Cancel(next) })
	// It must not wait behind polls with a slot that no other may use.
	s.records.called(next)
	s.call(next)
}
