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

// ticketTimeout is after how long a Workspace that waits for a slot asks again although it
// was not called, and after how long a slot goes to the next one if the Workspace that was
// called for it did not come: another instance may have claimed it meanwhile.
const ticketTimeout = 30 * time.Second

// Slots limit how many applies run at once, so that long ones never take all workers: polls
// go on beside them. A Workspace that has to wait for a slot does not wait in a worker. It
// has a ticket, and is called when it is its turn. Slots are safe for concurrent use.
type Slots struct {
	// call puts a Workspace into the queue.
	call func(reconcile.Request)

	mu      sync.Mutex
	free    int
	held    map[reconcile.Request]bool
	tickets *queue.FairQueue[reconcile.Request]

	// called are the Workspaces that have been called, each with a slot set aside: a Workspace
	// that has just come into the queue must not get ahead of them.
	called map[reconcile.Request]*time.Timer
}

// NewSlots returns so many slots. The class of the Workspaces that wait decides their order.
func NewSlots(n int, r *Records) *Slots {
	return &Slots{
		call:    func(reconcile.Request) {},
		free:    n,
		held:    map[reconcile.Request]bool{},
		tickets: queue.NewFairQueue(r.class),
		called:  map[reconcile.Request]*time.Timer{},
	}
}

// Acquire a slot for a Workspace, unless it has one. If none is free it gets a ticket, and
// Acquire returns false.
func (s *Slots) Acquire(req reconcile.Request) bool {
	s.mu.Lock()
	defer s.mu.Unlock()

	switch {
	case s.held[req]:
		return true
	case s.takeCall(req):
	case s.free > 0:
		// No Workspace waits as long as a slot is free.
		s.free--
	case s.tickets.Has(req):
		s.tickets.Touch(req)

		return false
	default:
		s.tickets.Push(req)

		return false
	}

	s.held[req] = true

	return true
}

// Release the slot of a Workspace, if it has one.
func (s *Slots) Release(req reconcile.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()

	if s.held[req] {
		delete(s.held, req)
		s.passOn()
	}
}

// Cancel the ticket of a Workspace that does not need a slot any more. The slot that is set
// aside for it goes to the next one.
func (s *Slots) Cancel(req reconcile.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.tickets.Remove(req)

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

// takeCall takes the slot that is set aside for a Workspace, if there is one.
func (s *Slots) takeCall(req reconcile.Request) bool {
	timer, ok := s.called[req]
	if ok {
		timer.Stop()
		delete(s.called, req)
	}

	return ok
}

// passOn sets a slot aside for the Workspace whose turn it is, or makes it free.
func (s *Slots) passOn() {
	if s.tickets.Len() == 0 {
		s.free++

		return
	}

	next := s.tickets.Pop()
	s.called[next] = time.AfterFunc(ticketTimeout, func() { s.Cancel(next) })
	s.call(next)
}
