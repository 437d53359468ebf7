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

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/queue"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// An Observation is what the last successful run of the CLI has shown of a Workspace.
type Observation struct {
	// At is when the run ended. It is zero if there was none.
	At time.Time

	// Desired is what people had written on the Workspace then: see Facts.
	Desired string

	// Exists says that there is something in the state, or that the module has nothing to
	// put there.
	Exists bool

	// UpToDate says that the state and the module agree.
	UpToDate bool

	// Deleted says that the Terraform workspace was deleted.
	Deleted bool

	// Locked says that the state was locked, by a process that may turn out to be dead.
	Locked bool

	// Source is the address that the module was fetched from.
	Source string

	// Plan is what there is to change, nil if nothing.
	Plan *commonv1beta1.PlanSummary

	// Outputs in the state, sensitive ones included.
	Outputs map[string]terraform.Output

	// CreatedLineage is the lineage of a state that the first apply of the Workspace made.
	CreatedLineage string

	// State is the summary of the state, for the status.
	State *commonv1beta1.StateSummary
}

// settled says that there is nothing to do as long as nothing changes: all is as it should
// be, or may not be changed.
func (o Observation) settled(f Facts) bool { return o.UpToDate || o.Exists && !f.MayUpdate }

// reported says whether the conditions of a Workspace show the observation.
func (o Observation) reported(f Facts) bool {
	if o.UpToDate {
		return f.Ready && f.Current
	}

	return f.MayUpdate || !o.Exists || f.Drifted
}

const (
	// stallAfter is how many failures in a row make a Workspace stalled. They take a
	// quarter of a minute.
	stallAfter = 5

	// retryBase is the time after the first failure, and stallBase after the one that makes
	// a Workspace stalled. Both double with every failure, the latter up to the poll interval.
	retryBase = time.Second
	stallBase = time.Minute
)

// Failures are those of the last reconciles of a Workspace, since the last one that
// succeeded or a change by a person.
type Failures struct {
	// Count of the failures.
	Count int

	// Retry is when the Workspace is tried again.
	Retry time.Time

	// desired and deleted are what people had asked for: see Facts.
	desired string
	deleted bool
}

// Stalled says whether the Workspace is tried less often than others.
func (f Failures) Stalled() bool { return f.Count >= stallAfter }

// of says whether there were failures to do what people ask for now.
func (f Failures) of(facts Facts) bool {
	return f.Count > 0 && f.desired == facts.Desired && f.deleted == facts.Deleted
}

// A Record is all that an instance has in memory of a Workspace.
type Record struct {
	// UID of the Workspace. It is empty if there is no such Workspace in the cache.
	UID types.UID

	// Class of the Workspace in the queue.
	Class queue.Class

	// Since is when the Workspace came into the cache, and initial what people had written
	// on it then: see Facts.
	Since   time.Time
	initial string

	Observation Observation
	Failures    Failures
}

// Observed says whether this instance has observed the Workspace.
func (r Record) Observed() bool { return !r.Observation.At.IsZero() }

// known is what people had written on the Workspace when it was last observed, here or by
// the instance before this one.
func (r Record) known() string {
	if r.Observed() {
		return r.Observation.Desired
	}

	return r.initial
}

// Records are those of all Workspaces of one kind in the cache. They are safe for concurrent
// use.
//
// A Workspace that leaves the cache is forgotten, also one that is being reconciled: what
// that reconcile records later is dropped. The next time that the Workspace is in the cache,
// another instance may have worked on it.
type Records struct {
	polls Polls
	now   func() time.Time

	mu      sync.Mutex
	records map[client.ObjectKey]*Record
}

// NewRecords returns empty Records.
func NewRecords(p Polls, now func() time.Time) *Records {
	return &Records{polls: p, now: now, records: map[client.ObjectKey]*Record{}}
}

// Get the record of a Workspace. It is empty if the Workspace is not in the cache.
func (r *Records) Get(o client.Object) Record {
	record := Record{}

	r.change(o, func(rec *Record) { record = *rec })

	return record
}

// Begin anew with a Workspace that came into the cache.
func (r *Records) Begin(ws workspace.Workspace) {
	r.mu.Lock()
	defer r.mu.Unlock()

	r.records[client.ObjectKeyFromObject(ws)] = &Record{UID: ws.GetUID(), Class: classify(ws), Since: r.now(), initial: Desired(ws)}
}

// Update the class of a Workspace that was changed.
func (r *Records) Update(ws workspace.Workspace) {
	r.change(ws, func(rec *Record) {
		rec.Class = classify(ws)

		// People wait for what they have asked for.
		if d := Desired(ws); d != rec.known() && d != rec.Failures.desired {
			rec.Class.Priority = queue.Urgent
		}
	})
}

// Forget a Workspace.
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

// ForgetObservation of a Workspace that is about to be changed.
func (r *Records) ForgetObservation(ws workspace.Workspace) {
	r.change(ws, func(rec *Record) { rec.Observation = Observation{} })
}

// Fail records that a reconcile of a Workspace failed.
func (r *Records) Fail(ws workspace.Workspace) Failures {
	facts := r.polls.Facts(ws)
	failures := Failures{}

	r.change(ws, func(rec *Record) {
		f := &rec.Failures
		if !f.of(facts) {
			*f = Failures{desired: facts.Desired, deleted: facts.Deleted}
		}

		f.Count++
		f.Retry = r.now().Add(r.polls.backoff(f.Count))
		failures = *f
	})

	return failures
}

// Succeed records that a reconcile of a Workspace left nothing to do.
func (r *Records) Succeed(ws workspace.Workspace) {
	r.change(ws, func(rec *Record) { rec.Failures = Failures{} })
}

// class of a request, as of the last event about its Workspace.
func (r *Records) class(req reconcile.Request) queue.Class {
	r.mu.Lock()
	defer r.mu.Unlock()

	if rec, ok := r.records[req.NamespacedName]; ok {
		return rec.Class
	}

	return queue.Class{}
}

// change the record of a Workspace, if it is in the cache.
func (r *Records) change(o client.Object, fn func(rec *Record)) {
	r.mu.Lock()
	defer r.mu.Unlock()

	if rec, ok := r.records[client.ObjectKeyFromObject(o)]; ok && rec.UID == o.GetUID() {
		fn(rec)
	}
}
