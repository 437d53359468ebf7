// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package schedule decides what happens to a Workspace now, and when it is processed next: see
// Policy.Decide.
package schedule

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// An Action is the decision about a Workspace.
type Action int

// The actions.
const (
	// Skip the Workspace until Decision.After has passed.
	Skip Action = iota

	// Reconcile it. An apply that turns out to be necessary needs a slot.
	Reconcile

	// ReconcileWithSlot is a reconcile that is expected to apply or destroy. It waits for a slot.
	ReconcileWithSlot
)

// A Decision about a Workspace.
type Decision struct {
	Action Action

	// After is the delay until a skipped Workspace is processed again.
	After time.Duration

	// Reason of a reconcile, for the log.
	Reason string
}

// Facts about a Workspace, from the object.
type Facts struct {
	UID types.UID

	// Interval between two polls.
	Interval time.Duration

	// Desired is the digest of everything that people have written in the Workspace.
	Desired string

	Deleted, Paused bool

	// Requested says that a person asked for a reconcile that was not handled yet.
	Requested bool

	// OnlyObserves says that the management policies allow nothing else. MayUpdate says that they
	// allow updates, and MayDelete that a deletion destroys the infrastructure.
	OnlyObserves, MayUpdate, MayDelete bool

	// Owns says that the Workspace was reconciled with the state that it owns.
	Owns bool

	// Ready, Synced and Drifted are the conditions of these names. Current says that Ready is
	// about the current generation.
	Ready, Synced, Drifted, Current bool

	// WasPaused says that the last reconcile found the Workspace paused. SaysWhy says that the status tells what pauses it now.
	WasPaused, SaysWhy bool

	// Complete says that a reconcile without any change to make would add nothing to the status.
	Complete bool
}

// settled says whether, according to the status, the last reconcile succeeded with nothing left
// to do, and the specification has not changed since.
func (f Facts) settled() bool { return f.Ready && f.Current && f.Synced && f.Complete && f.Owns }

// A Policy decides when a Workspace is reconciled: at a change, a poll, or a retry.
type Policy struct {
	// Interval between two polls of a Workspace without an annotation.
	Interval time.Duration

	// Jitter is the largest time by which a poll is delayed or advanced.
	Jitter time.Duration

	// ManagementPolicies says that management policies are enabled. Without them, an empty set means the
	// default, not a pause.
	ManagementPolicies bool
}

// Decide returns the action for a Workspace at the supplied time.
func (p Policy) Decide(f Facts, r Record, now time.Time) Decision {
	switch {
	case f.Paused && f.SaysWhy:
		return Decision{Action: Skip} // Until its next change.
	case f.Paused:
		return Decision{Action: Reconcile, Reason: "it is paused"}
	}

	if wait := r.Failures.Retry.Sub(now); r.Failures.of(f) && wait > 0 {
		return Decision{Action: Skip, After: wait}
	}

	reason := p.reason(f, r, now)

	switch {
	case reason == "":
		return Decision{Action: Skip, After: p.untilNext(f, r, now)}
	case needsSlot(f, r):
		return Decision{Action: ReconcileWithSlot, Reason: reason}
	default:
		return Decision{Action: Reconcile, Reason: reason}
	}
}

// reason returns the reason to reconcile a Workspace now. It is empty if there is none.
func (p Policy) reason(f Facts, r Record, now time.Time) string {
	switch {
	case f.Deleted && !r.Observation.isAwaiting(f):
		return "it is being deleted"
	case r.Failures.of(f):
		return "it is tried again after a failure"
	case f.Requested:
		return "a person asked for it"
	case !f.Synced:
		return "its last reconcile did not succeed"
	}

	if stale := p.Stale(f, r, now); stale != "" {
		return stale
	}

	if r.Observed() && !r.Observation.reported(f) {
		return "its status does not show what was observed"
	}

	return ""
}

// Stale returns why the last observation of a Workspace is not valid any more. It is empty if the
// observation is valid. Until the next poll, an instance that has just got a Workspace relies on
// the status that the previous instance wrote. Otherwise all Workspaces would be planned whenever
// a new version is rolled out or the number of shards changes.
func (p Policy) Stale(f Facts, r Record, now time.Time) string {
	switch {
	case !r.Observed() && !f.settled():
		return "it was not observed yet"
	case r.known() != f.Desired:
		return "it was changed"
	case f.WasPaused:
		return "it was paused until now"
	case r.Observed() && !r.Observation.needsNoChange(f):
		return "it is not what its module asks for"
	case p.untilNext(f, r, now) <= 0:
		return "a poll is due"
	default:
		return ""
	}
}

// needsSlot says whether a reconcile is expected to apply or destroy, as far as this is known
// before the plan.
func needsSlot(f Facts, r Record) bool {
	switch {
	case f.OnlyObserves:
		return false
	case f.Deleted:
		return f.MayDelete && (!r.Observed() || r.Observation.Exists)
	case r.Observed() && !r.Observation.UpToDate:
		return !r.Observation.needsNoChange(f)
	// The Workspace may be older than the observation of its creation. A plan that holds a slot
	// without need delays an apply.
	case r.Observed() && r.Observation.Desired == f.Desired:
		return false
	default:
		return !f.Owns || !f.Current
	}
}
