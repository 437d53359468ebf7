// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	"github.com/crossplane-contrib/provider-terraform/internal/queue"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// A Record is what this instance remembers about a Workspace: its last observation, and its
// failures. The claim that this instance holds, and runs that may have left a lock, are in the
// packages claim and statelock: they outlive the time in which the Workspace is in the cache.
type Record struct {
	// UID of the Workspace. It is empty if there is no such Workspace in the cache.
	UID types.UID

	// Class of the Workspace in the queue.
	Class queue.Class

	// Since is when polls by earlier instances ended: when this instance first saw the Workspace in
	// the cache or, for a Workspace that was there when it started, when the previous holder of its
	// Lease last renewed it, if that is known. initial is the Desired of the Workspace when this
	// instance first saw it.
	Since   time.Time
	initial string

	Observation Observation
	Failures    Failures

	change change
}

// A change of a Workspace by a person.
type change struct {
	// desired is the Desired of the Workspace since then.
	desired string

	// at is when this instance first saw the change. It is zero if the change is not awaited any
	// more.
	at time.Time
}

// Observed says whether this instance has observed the Workspace.
func (r Record) Observed() bool { return !r.Observation.At.IsZero() }

// known returns the Desired of the Workspace at its last observation, by this instance or the
// previous one.
func (r Record) known() string {
	if r.Observed() {
		return r.Observation.Desired
	}

	return r.initial
}

// Records are the Records of all Workspaces of one kind in the cache. They are safe for
// concurrent use.
//
// A Workspace that leaves the cache is forgotten, even while it is being reconciled: later
// records of that reconcile are dropped. When the Workspace comes back into the cache, another
// instance may have worked on it.
type Records struct {
	policy Policy
	now    func() time.Time

	mu      sync.Mutex
	records map[client.ObjectKey]*Record
}

// NewRecords returns empty Records.
func NewRecords(p Policy, now func() time.Time) *Records {
	return &Records{policy: p, now: now, records: map[client.ObjectKey]*Record{}}
}

// Get returns the record of a Workspace. It is empty if the Workspace is not in the cache.
func (r *Records) Get(o client.Object) Record {
	record := Record{}

	r.change(o, func(rec *Record) { record = *rec })

	return record
}

// Begin makes a new record of a Workspace that came into the cache.
func (r *Records) Begin(ws workspace.Workspace) {
	r.mu.Lock()
	defer r.mu.Unlock()

	f, now := r.policy.Facts(ws), r.now()
	rec := &Record{UID: ws.GetUID(), Class: classify(ws), Since: now, initial: f.Desired, change: change{desired: f.Desired}}

	if !f.settled() {
		rec.change.at = now
	}

	r.records[client.ObjectKeyFromObject(ws)] = rec
}

// ServedUntil records that the previous instance polled a Workspace until the supplied time. A poll
// that was due between that time and the begin is overdue.
func (r *Records) ServedUntil(ws workspace.Workspace, at time.Time) {
	r.change(ws, func(rec *Record) {
		if at.Before(rec.Since) {
			rec.Since = at
		}
	})
}

// Update sets the class of a Workspace that was changed.
func (r *Records) Update(ws workspace.Workspace) {
	r.change(ws, func(rec *Record) {
		rec.Class = classify(ws)
		d := Desired(ws)

		// People wait for the effect of their changes.
		if d != rec.known() && d != rec.Failures.desired {
			rec.Class.Priority = queue.Urgent
		}

		if d != rec.change.desired {
			rec.change = change{desired: d, at: r.now()}
		}
	})
}

// called makes a Workspace urgent until its next event.
func (r *Records) called(req reconcile.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()

	if rec, ok := r.records[req.NamespacedName]; ok {
		rec.Class.Priority = queue.Urgent
	}
}

// Forget drops the record of a Workspace.
func (r *Records) Forget(o client.Object) {
	r.mu.Lock()
	defer r.mu.Unlock()

	delete(r.records, client.ObjectKeyFromObject(o))
}

// Observe records an observation that was made just now.
func (r *Records) Observe(ws workspace.Workspace, o Observation) {
	o.At, o.Desired = r.now(), Desired(ws)

	r.change(ws, func(rec *Record) { rec.Observation = o })
}

// ForgetObservation drops the observation of a Workspace that is about to be changed.
func (r *Records) ForgetObservation(ws workspace.Workspace) {
	r.change(ws, func(rec *Record) { rec.Observation = Observation{} })
}

// Fail records that a reconcile of a Workspace failed.
func (r *Records) Fail(ws workspace.Workspace) Failures {
	facts := r.policy.Facts(ws)
	failures := Failures{}

	r.change(ws, func(rec *Record) {
		f := &rec.Failures
		if !f.of(facts) {
			*f = Failures{desired: facts.Desired, deleted: facts.Deleted}
		}

		f.Count++
		f.Retry = r.now().Add(r.policy.backoff(f.Count))
		failures = *f
	})

	return failures
}

// Succeed records that a reconcile of a Workspace left nothing to do.
func (r *Records) Succeed(ws workspace.Workspace) {
	r.change(ws, func(rec *Record) { rec.Failures = Failures{} })
}

// Applied returns how long it took until the last observation of a Workspace showed the last change
// by a person. It returns false if the observation does not show it, or has shown it before.
func (r *Records) Applied(ws workspace.Workspace) (took time.Duration, ok bool) {
	r.change(ws, func(rec *Record) {
		ok = !rec.change.at.IsZero() && rec.Observation.UpToDate && rec.Observation.Desired == rec.change.desired && !meta.WasDeleted(ws)
		if ok {
			took, rec.change.at = r.now().Sub(rec.change.at), time.Time{}
		}
	})

	return took, ok
}

// class returns the class of a request, as of the last event about its Workspace.
func (r *Records) class(req reconcile.Request) queue.Class {
	r.mu.Lock()
	defer r.mu.Unlock()

	if rec, ok := r.records[req.NamespacedName]; ok {
		return rec.Class
	}

	return queue.Class{}
}

// change changes the record of a Workspace, if it is in the cache.
func (r *Records) change(o client.Object, fn func(rec *Record)) {
	r.mu.Lock()
	defer r.mu.Unlock()

	if rec, ok := r.records[client.ObjectKeyFromObject(o)]; ok && rec.UID == o.GetUID() {
		fn(rec)
	}
}
