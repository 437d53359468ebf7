// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane-contrib/provider-terraform/internal/queue"
)

// ticketTimeout limits two waits. A Workspace that waits for a slot is reconciled after this time,
// even if it was not called. A slot that is reserved for a called Workspace goes to the next one
// after this time if the Workspace does not come: another instance may have claimed it.
const ticketTimeout = 30 * time.Second

// Slots limit the number of concurrent applies, so that long applies never take all workers and
// polls continue. A Workspace that has to wait for a slot does not occupy a worker. It gets a
// ticket, and is added to the queue when a slot is reserved for it. Slots are safe for concurrent
// use.
type Slots struct {
	// call puts a Workspace into the queue. urgent makes it urgent before that: it would wait behind
	// the polls that are due, with a slot that no other may use.
	call, urgent func(reconcile.Request)

	mu      sync.Mutex
	free    int
	held    map[reconcile.Request]bool
	tickets *queue.FairQueue[reconcile.Request]

	// called are the Workspaces that have been called, each with a reserved slot: a Workspace that
	// has just come into the queue must not take it.
	called map[reconcile.Request]*time.Timer

	// since has the time since which each Workspace waits.
	since map[reconcile.Request]time.Time

	// changed gets the number of Workspaces that have a slot, and of those that wait for one.
	changed func(held, waiting int)

	// waited gets the time for which a Workspace that gets a slot has waited.
	waited func(time.Duration)
}

// NewSlots returns n slots. The class of the Workspaces that wait decides their order. changed is
// called with the number of Workspaces that have a slot, and of those that wait for one, whenever
// these may have changed. waited is called for each Workspace that gets a slot, with the time for
// which it has waited. Neither must use the slots.
func NewSlots(n int, r *Records, changed func(held, waiting int), waited func(time.Duration)) *Slots {
	return &Slots{
		call:    func(reconcile.Request) {},
		urgent:  r.called,
		changed: changed,
		waited:  waited,
		since:   map[reconcile.Request]time.Time{},
		free:    n,
		held:    map[reconcile.Request]bool{},
		tickets: queue.NewFairQueue(r.class),
		called:  map[reconcile.Request]*time.Timer{},
	}
}

// Acquire takes a slot for a Workspace, unless it has one. If no slot is free, the Workspace gets
// a ticket, and Acquire returns false.
func (s *Slots) Acquire(req reconcile.Request) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.report()

	if !s.available(req) {
		return false
	}

	if s.held[req] {
		return true
	}

	// No Workspace waits while a slot is free.
	if !s.takeCall(req) {
		s.free--
	}

	s.held[req] = true
	s.reportWait(req)

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
	_, called := s.called[req]

	switch {
	case s.held[req], called, s.free > 0:
		return true
	case s.tickets.Has(req):
		s.tickets.Touch(req)
	default:
		s.tickets.Push(req)
		s.since[req] = time.Now()
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

// Cancel cancels the ticket of a Workspace that does not need a slot any more. A slot that is
// reserved for it goes to the next Workspace.
func (s *Slots) Cancel(req reconcile.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.report()

	s.tickets.Remove(req)
	delete(s.since, req)

	if s.takeCall(req) {
		s.passOn()
	}
}

// Waits says whether a Workspace has a ticket.
func (s *Slots) Waits(req reconcile.Request) bool {
	s.mu.Lock()
	defer s.mu.Unlock()

	return s.tickets.Has(req)
}

// reportWait reports the end of the wait of a Workspace, which may have been none.
func (s *Slots) reportWait(req reconcile.Request) {
	took := time.Duration(0)
	if since, ok := s.since[req]; ok {
		took = time.Since(since)
	}

	delete(s.since, req)
	s.waited(took)
}

func (s *Slots) report() { s.changed(len(s.held), s.tickets.Len()+len(s.called)) }

// takeCall takes the slot that is reserved for a Workspace, if there is one.
func (s *Slots) takeCall(req reconcile.Request) bool {
	timer, ok := s.called[req]
	if ok {
		timer.Stop()
		delete(s.called, req)
	}

	return ok
}

// passOn reserves a slot for the next Workspace in the order, or makes it free.
func (s *Slots) passOn() {
	if s.tickets.Len() == 0 {
		s.free++

		return
	}

	next := s.tickets.Pop()
	s.called[next] = time.AfterFunc(ticketTimeout, func() { s.Cancel(next) })
	s.urgent(next)
	s.call(next)
}
