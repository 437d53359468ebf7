// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestDecide has a row for each reason to reconcile a Workspace and each reason not to. All
// times are relative to that of the decision.
func TestDecide(t *testing.T) {
	t.Parallel()

	const interval = 10 * time.Minute

	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	policy := Policy{Interval: interval}

	// The phase of a Workspace decides when its polls are due. At the age fresh of an observation
	// the next poll is certainly not due, and at the age old it certainly is.
	const fresh, old = time.Second, 2 * interval

	facts := func(change ...func(f *Facts)) Facts {
		f := Facts{UID: "a", Interval: interval, Desired: "d", MayUpdate: true, MayDelete: true, Owns: true, Ready: true, Synced: true, Current: true, Complete: true}
		for _, fn := range change {
			fn(&f)
		}

		return f
	}
	observed := func(age time.Duration, change ...func(o *Observation)) Record {
		o := Observation{At: now.Add(-age), Desired: "d", Exists: true, UpToDate: true, written: true}
		for _, fn := range change {
			fn(&o)
		}

		return Record{UID: "a", initial: "before", Observation: o}
	}
	inherited := func(age time.Duration) Record { return Record{UID: "a", Since: now.Add(-age), initial: "d"} }
	failing := func(r Record, retry time.Duration, deleted bool) Record {
		r.Failures = Failures{Count: 1, Retry: now.Add(retry), desired: "d", deleted: deleted}

		return r
	}

	changed := func(f *Facts) { f.Desired, f.Current = "other", false }
	annotated := func(f *Facts) { f.Desired = "other" }
	deleted := func(f *Facts) { f.Deleted = true }
	onlyObserves := func(f *Facts) { f.OnlyObserves, f.MayUpdate, f.Owns = true, false, false }
	orphans := func(f *Facts) { f.MayDelete = false }
	noUpdates := func(f *Facts) { f.MayUpdate = false }
	differs := func(o *Observation) { o.UpToDate = false }
	unwritten := func(o *Observation) { o.written = false }
	waits := func(o *Observation) { o.UpToDate, o.Awaiting = false, &Awaiting{} }
	missing := func(o *Observation) { o.UpToDate, o.Exists = false, false }

	reconcile := func(reason string) Decision { return Decision{Action: Reconcile, Reason: reason} }
	withSlot := func(reason string) Decision { return Decision{Action: ReconcileWithSlot, Reason: reason} }
	later := Decision{Action: Skip}

	cases := map[string]struct {
		reason string
		facts  Facts
		record Record
		want   Decision
	}{
		"Settled":      {reason: "The Workspace matches its specification.", facts: facts(), record: observed(fresh), want: later},
		"JustNow":      {reason: "It was observed this moment.", facts: facts(), record: observed(0), want: later},
		"Poll":         {reason: "Polls detect drift.", facts: facts(), record: observed(old), want: reconcile("a poll is due")},
		"Future":       {reason: "The clock was ahead when the Workspace was observed.", facts: facts(), record: observed(-old), want: reconcile("a poll is due")},
		"New":          {reason: "There is something to create.", facts: Facts{UID: "a", Interval: interval, Desired: "d", MayUpdate: true}, record: inherited(0), want: withSlot("its last reconcile did not succeed")},
		"Changed":      {reason: "The change is likely to change the infrastructure.", facts: facts(changed), record: observed(fresh), want: withSlot("it was changed")},
		"Annotated":    {reason: "The plan of a Workspace with the same specification is likely to be empty.", facts: facts(annotated), record: observed(fresh), want: reconcile("it was changed")},
		"Requested":    {reason: "A person waits.", facts: facts(func(f *Facts) { f.Requested = true }), record: observed(fresh), want: reconcile("a person asked for it")},
		"NotSynced":    {reason: "The last reconcile left something to do.", facts: facts(func(f *Facts) { f.Synced = false }), record: observed(fresh), want: reconcile("its last reconcile did not succeed")},
		"Differs":      {reason: "A drift waits for a slot.", facts: facts(), record: observed(fresh, differs), want: withSlot("it is not what its module asks for")},
		"MayNotChange": {reason: "A drift that may not be corrected is shown.", facts: facts(noUpdates, func(f *Facts) { f.Drifted = true }), record: observed(fresh, differs), want: later},
		"NotShown":     {reason: "The status with the drift was not written.", facts: facts(noUpdates), record: observed(fresh, differs), want: reconcile("its status does not show what was observed")},
		"NotReady":     {reason: "The status of a creation was not written.", facts: facts(func(f *Facts) { f.Ready = false }), record: observed(fresh), want: reconcile("its status does not show what was observed")},
		"NotCurrent":   {reason: "The status is that of another generation.", facts: facts(func(f *Facts) { f.Current = false }), record: observed(fresh), want: reconcile("its status does not show what was observed")},
		"NotWritten":   {reason: "The status has the same conditions as before, but not the new outputs.", facts: facts(), record: observed(fresh, unwritten), want: reconcile("its status does not show what was observed")},
		"DriftUnsaid":  {reason: "The status has an earlier drift.", facts: facts(noUpdates, func(f *Facts) { f.Drifted = true }), record: observed(fresh, differs, unwritten), want: reconcile("its status does not show what was observed")},
		"StaleCache":   {reason: "The cache does not show the end of the creation yet.", facts: Facts{UID: "a", Interval: interval, Desired: "d", MayUpdate: true}, record: observed(fresh), want: reconcile("its last reconcile did not succeed")},
		"Resumed":      {reason: "People want to see what happened during the pause.", facts: facts(func(f *Facts) { f.WasPaused = true }), record: observed(fresh), want: reconcile("it was paused until now")},
		"Paused":       {reason: "The managed reconciler records it.", facts: facts(changed, func(f *Facts) { f.Paused = true }), record: failing(observed(fresh), time.Minute, false), want: reconcile("it is paused")},

		"Waits":             {reason: "Its plan waits for approval.", facts: facts(func(f *Facts) { f.Ready, f.Current = false, false }), record: observed(fresh, waits), want: later},
		"WaitsForCreation":  {reason: "It does so before anything exists.", facts: facts(func(f *Facts) { f.Ready, f.Owns, f.Complete = false, false, false }), record: observed(fresh, waits, func(o *Observation) { o.Exists = false }), want: later},
		"WaitsApproved":     {reason: "A person has approved the plan, or changed it.", facts: facts(annotated), record: observed(fresh, waits), want: reconcile("it was changed")},
		"WaitsPoll":         {reason: "The plan may have changed.", facts: facts(), record: observed(old, waits), want: reconcile("a poll is due")},
		"WaitsUnsaid":       {reason: "The status does not say that it waits.", facts: facts(), record: observed(fresh, waits, unwritten), want: reconcile("its status does not show what was observed")},
		"DeletionWaits":     {reason: "The deletion waits for approval.", facts: facts(deleted), record: observed(fresh, waits), want: later},
		"DeletionApproved":  {reason: "A person has approved it.", facts: facts(deleted, annotated), record: observed(fresh, waits), want: withSlot("it is being deleted")},
		"DeletionWaitsPoll": {reason: "The state may have changed.", facts: facts(deleted), record: observed(old, waits), want: withSlot("a poll is due")},

		"Inherited":         {reason: "According to the previous instance, there is nothing to do.", facts: facts(), record: inherited(fresh), want: later},
		"InheritedPoll":     {reason: "The poll of the previous instance is due.", facts: facts(), record: inherited(old), want: reconcile("a poll is due")},
		"InheritedChanged":  {reason: "A person has changed it since.", facts: facts(annotated), record: inherited(fresh), want: reconcile("it was changed")},
		"InheritedSpec":     {reason: "It was changed while no instance was running.", facts: facts(func(f *Facts) { f.Current = false }), record: inherited(fresh), want: withSlot("it was not observed yet")},
		"InheritedNotReady": {reason: "The previous instance left it not ready.", facts: facts(func(f *Facts) { f.Ready = false }), record: inherited(fresh), want: reconcile("it was not observed yet")},
		"InheritedPlan":     {reason: "The plan of the previous instance had changes.", facts: facts(func(f *Facts) { f.Complete = false }), record: inherited(fresh), want: reconcile("it was not observed yet")},
		"InheritedForeign":  {reason: "The owner of the state is unknown.", facts: facts(func(f *Facts) { f.Owns = false }), record: inherited(fresh), want: withSlot("it was not observed yet")},

		"Failed":         {reason: "It waits for the next retry.", facts: facts(), record: failing(observed(fresh), time.Minute, false), want: Decision{Action: Skip, After: time.Minute}},
		"FailedDue":      {reason: "It is retried.", facts: facts(), record: failing(observed(fresh), -time.Second, false), want: reconcile("it is tried again after a failure")},
		"FailedChanged":  {reason: "The change may fix it.", facts: facts(annotated), record: failing(observed(fresh), time.Minute, false), want: reconcile("it was changed")},
		"FailedDeleted":  {reason: "It waits for the next retry.", facts: facts(deleted), record: failing(observed(fresh), time.Minute, true), want: Decision{Action: Skip, After: time.Minute}},
		"DeletedFailing": {reason: "The deletion was not tried yet.", facts: facts(deleted), record: failing(observed(fresh), time.Minute, false), want: withSlot("it is being deleted")},

		"Deleted":          {reason: "There is something to destroy.", facts: facts(deleted), record: observed(fresh), want: withSlot("it is being deleted")},
		"DeletedUnknown":   {reason: "There may be something to destroy.", facts: facts(deleted), record: inherited(fresh), want: withSlot("it is being deleted")},
		"DeletedNothing":   {reason: "Nothing is left to destroy.", facts: facts(deleted), record: observed(fresh, missing), want: reconcile("it is being deleted")},
		"DeletedOrphan":    {reason: "Its infrastructure stays.", facts: facts(deleted, orphans), record: inherited(fresh), want: reconcile("it is being deleted")},
		"DeletedObserver":  {reason: "It may not destroy anything.", facts: facts(deleted, onlyObserves), record: observed(fresh), want: reconcile("it is being deleted")},
		"ObservedNothing":  {reason: "The infrastructure to observe does not exist.", facts: facts(onlyObserves, func(f *Facts) { f.Synced = false }), record: observed(fresh, missing), want: reconcile("its last reconcile did not succeed")},
		"ObserverDrifted":  {reason: "An observer never needs a slot.", facts: facts(onlyObserves, func(f *Facts) { f.Drifted = true }), record: observed(old, differs), want: reconcile("a poll is due")},
		"CreationObserved": {reason: "There is something to create.", facts: facts(func(f *Facts) { f.Owns = false }), record: observed(fresh, missing), want: withSlot("it is not what its module asks for")},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got := policy.Decide(tc.facts, tc.record, now)

			// The time of the next poll depends on the phase: see TestDue.
			if tc.want == later {
				if got.After <= 0 || got.After > old {
					t.Errorf("\n%s\nDecide(...): want the next poll in at most %s, got %s", tc.reason, old, got.After)
				}

				got.After = 0
			}

			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nDecide(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestStillPaused ensures that a Workspace whose status says that it is paused needs nothing until its next
// change.
func TestStillPaused(t *testing.T) {
	t.Parallel()

	got := Policy{Interval: time.Minute}.Decide(Facts{Paused: true, WasPaused: true, SaysWhy: true}, Record{}, time.Now())
	if diff := cmp.Diff(Decision{Action: Skip}, got); diff != "" {
		t.Errorf("Decide(...): -want, +got:\n%s", diff)
	}

	// Something else pauses it now.
	got = Policy{Interval: time.Minute}.Decide(Facts{Paused: true, WasPaused: true}, Record{}, time.Now())
	if diff := cmp.Diff(Reconcile, got.Action); diff != "" {
		t.Errorf("Decide(...) with another reason: -want, +got:\n%s", diff)
	}
}
