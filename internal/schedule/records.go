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

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/queue"
	"github.com/crossplane-contrib/provider-terraform/internal/redact"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// A Record is what this instance remembers about a Workspace while it is in the cache.
type Record struct {
	// UID of the Workspace. It is empty if there is no such Workspace in the cache.
	UID types.UID

	// Class of the Workspace in the queue.
	Class queue.Class

	// Since is when this instance first saw the Workspace: polls by earlier ones ended before. initial is
	// the Desired of the Workspace at its first sight.
	Since   time.Time
	initial string

	Observation Observation
	Failures    Failures

	// Secrets of the last run after which the infrastructure was as the module asks for, and of the applies since: plans,
	// and the errors of destroy provisioners, may show them.
	Secrets []*redact.Secrets

	// desired is the Desired of the Workspace as of its last event. awaited is when this instance first
	// saw that value, or zero if its effect is not awaited any more.
	desired string
	awaited time.Time
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
// A Workspace that leaves the cache is forgotten, even while it is being reconciled. When it comes back,
// another instance may have worked on it.
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
	rec := &Record{UID: ws.GetUID(), Class: classify(ws), Since: now, initial: f.Desired, desired: f.Desired}

	if !f.settled() {
		rec.awaited = now
	}

	r.records[client.ObjectKeyFromObject(ws)] = rec
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

		if d != rec.desired {
			rec.desired, rec.awaited = d, r.now()
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

// Observe records an observation that was made just now, with the supplied secrets.
func (r *Records) Observe(ws workspace.Workspace, o Observation, secrets *redact.Secrets) {
	o.At, o.Desired = r.now(), Desired(ws)

	r.change(ws, func(rec *Record) {
		rec.Observation = o

		if o.UpToDate {
			rec.Secrets = secrets.Remember()
		}
	})
}

// Applying records that an apply with the supplied secrets begins. From here on the previous observation is out of date,
// even if the apply fails.
func (r *Records) Applying(ws workspace.Workspace, secrets *redact.Secrets) {
	r.change(ws, func(rec *Record) {
		rec.Observation, rec.Secrets = Observation{}, secrets.Remember(rec.Secrets...)
	})
}

// Reported records that the status of a Workspace was written after its last observation.
func (r *Records) Reported(ws workspace.Workspace) {
	r.change(ws, func(rec *Record) { rec.Observation.written = true })
}

// ForgetObservation drops the observation of a Workspace that is about to be changed.
func (r *Records) ForgetObservation(ws workspace.Workspace) {
	r.change(ws, func(rec *Record) { rec.Observation = Observation{} })
}

// ForgetResults drops the observation and the failures of a Workspace, so that it is tried at once.
func (r *Records) ForgetResults(o client.Object) {
	r.change(o, func(rec *Record) { rec.Observation, rec.Failures = Observation{}, Failures{} })
}

// Fail records that a reconcile of a Workspace failed. missing says that the cause is a reference to something
// that does not exist yet. Failures with and without that cause do not add up.
func (r *Records) Fail(ws workspace.Workspace, missing bool) Failures {
	facts := r.policy.Facts(ws)
	failures := Failures{}

	r.change(ws, func(rec *Record) {
		f := &rec.Failures
		if !f.of(facts) || f.missing != missing {
			*f = Failures{missing: missing, desired: facts.Desired, deleted: facts.Deleted}
		}

		f.Count++
		f.Retry = r.now().Add(r.policy.retryDelay(ws.GetUID(), *f))
		failures = *f
	})

	return failures
}

// RetryBy moves the retry of a Workspace that failed to the supplied time, unless it is earlier.
func (r *Records) RetryBy(ws workspace.Workspace, by time.Time) Failures {
	failures := Failures{}

	r.change(ws, func(rec *Record) {
		if f := &rec.Failures; f.Retry.After(by) {
			f.Retry = by
		}

		failures = rec.Failures
	})

	return failures
}

// Succeed records that a reconcile of a Workspace left nothing to do. People do not wait for it any more, unless
// they have changed it meanwhile. The next event may be far away: a plan without news writes nothing.
func (r *Records) Succeed(ws workspace.Workspace) {
	d := Desired(ws)

	r.change(ws, func(rec *Record) {
		rec.Failures = Failures{}

		if d == rec.desired {
			rec.Class.Priority = queue.Routine
		}
	})
}

// Applied returns how long it took until the last observation of a Workspace showed the last change
// by a person. It returns false if the observation does not show it, or has shown it before.
func (r *Records) Applied(ws workspace.Workspace) (took time.Duration, ok bool) {
	r.change(ws, func(rec *Record) {
		ok = !rec.awaited.IsZero() && rec.Observation.UpToDate && rec.Observation.Desired == rec.desired && !meta.WasDeleted(ws)
		if ok {
			took, rec.awaited = r.now().Sub(rec.awaited), time.Time{}
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

// An Observation is the result of the last successful run of the CLI for a Workspace.
type Observation struct {
	// At is when the run ended. It is zero if there was none.
	At time.Time

	// Desired is that of the Workspace at that time: see Facts.
	Desired string

	// Exists says that the state is not empty, or that the module has no resources.
	Exists bool

	// UpToDate says that the state and the module agree.
	UpToDate bool

	// Deleted says that the Terraform workspace was deleted.
	Deleted bool

	// Locked says that the state was locked by a named holder, which may turn out to be dead.
	Locked bool

	// Source is the address that the module was fetched from.
	Source string

	// Plan is the summary of the changes, or nil if there are none.
	Plan *commonv1beta1.PlanSummary

	// Awaiting is what the plan, or the deletion, waits for. It is nil if it waits for no approval.
	Awaiting *Awaiting

	// Outputs in the state, sensitive ones included.
	Outputs map[string]terraform.Output

	// CreatedLineage is the lineage of a state that the first apply of the Workspace made.
	CreatedLineage string

	// State is the summary of the state, for the status.
	State *commonv1beta1.StateSummary

	// Warnings of the plan and the apply, for the status.
	Warnings []string

	// written says that the status was written since.
	written bool
}

// An Awaiting is the reason and the message of the condition AwaitingApproval.
type Awaiting struct {
	Reason  xpv2.ConditionReason
	Message string

	// Changed counts how often the plan was another one than before, although nothing else was.
	Changed int
}

// needsNoChange says that the infrastructure matches the module, or may not be changed yet, or at all.
func (o Observation) needsNoChange(f Facts) bool {
	return o.UpToDate || o.Awaiting != nil || o.Exists && !f.MayUpdate
}

// isAwaiting says whether what people have written waits for approval.
func (o Observation) isAwaiting(f Facts) bool { return o.Awaiting != nil && o.Desired == f.Desired }

// reported says whether the status of a Workspace shows the observation. The conditions alone do not tell:
// those of an earlier observation may be the same, but not its outputs.
func (o Observation) reported(f Facts) bool {
	switch {
	case o.UpToDate:
		return o.written && f.Ready && f.Current
	case o.Awaiting != nil:
		return o.written
	}

	return f.MayUpdate || !o.Exists || o.written && f.Drifted
}

const (
	// stallAfter is the number of failures in a row after which a Workspace is stalled.
	stallAfter = 5

	// stallAfterMissing is that number if something that the Workspace refers to does not exist. It is often
	// created with the Workspace, and after it. For five minutes, such a Workspace waits and has not failed.
	// Its retries run no CLI.
	stallAfterMissing = 41

	// retryBase is the delay after the first failure, which doubles up to retryMax. stallBase is the delay
	// after the failure that makes a Workspace stalled, which doubles up to the poll interval.
	retryBase = time.Second
	retryMax  = 8 * time.Second
	stallBase = time.Minute
)

// Failures are the failed reconciles of a Workspace since the last success or the last change by
// a person.
type Failures struct {
	// Count of the failures.
	Count int

	// Retry is the time of the next retry.
	Retry time.Time

	// missing says that a reference is the cause: see Fail.
	missing bool

	// desired and deleted are the Facts of the same names at that time.
	desired string
	deleted bool
}

// Stalled says whether the Workspace is retried less often than others.
func (f Failures) Stalled() bool { return f.Count >= f.stallAfter() }

func (f Failures) stallAfter() int {
	if f.missing {
		return stallAfterMissing
	}

	return stallAfter
}

// of says whether the failures are about the current Facts.
func (f Failures) of(facts Facts) bool {
	return f.desired == facts.Desired && f.deleted == facts.Deleted
}

// retryDelay returns how long a Workspace waits after the supplied failures in a row: up to a quarter less than
// backoff. Workspaces that share a state fail at the same time while each keeps the other from removing an old lock.
// Without jitter they would do so at every retry.
func (p Policy) retryDelay(uid types.UID, f Failures) time.Duration {
	return time.Duration(float64(p.backoff(f)) * (1 - spread(uid, "retry", int64(f.Count))/4))
}

// backoff returns the longest time that a Workspace waits after the supplied failures in a row.
func (p Policy) backoff(f Failures) time.Duration {
	if !f.Stalled() {
		return min(retryBase<<min(f.Count-1, 10), retryMax)
	}

	return min(stallBase<<min(f.Count-f.stallAfter(), 10), max(p.Interval, stallBase))
}
