// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package statelock

import (
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
)

// FailedRuns are the times in which runs of this instance may have locked a state and
// did not unlock it, because the backend was away for example. It is safe for
// concurrent use.
type FailedRuns struct {
	mu   sync.Mutex
	runs map[types.UID][]Run
}

// maxRuns is how many failed runs on a Workspace are remembered: the first run that takes a
// lock and succeeds clears them, but a module that is broken has no such run. The oldest
// one is kept: when the backend goes away, that is the run that had the lock, and all that
// follow fail soon, one after the other.
const maxRuns = 8

// A Run of the CLI.
type Run struct {
	Start, End time.Time

	// Plan says that it was a plan without a lock.
	Plan bool
}

// left says whether the run may have left the supplied lock behind.
func (r Run) left(l terraform.Lock, since time.Time) bool {
	return !since.Before(r.Start) && !since.After(r.End) && (!r.Plan || l.ForPlan())
}

// NewFailedRuns returns an empty FailedRuns.
func NewFailedRuns() *FailedRuns { return &FailedRuns{runs: map[types.UID][]Run{}} }

// Record a run on a Workspace that failed.
func (f *FailedRuns) Record(uid types.UID, r Run) {
	f.mu.Lock()
	defer f.mu.Unlock()

	f.runs[uid] = append(f.runs[uid], r)
	if len(f.runs[uid]) > maxRuns {
		f.runs[uid] = slices.Delete(f.runs[uid], 1, 2)
	}
}

// Forget all runs on a Workspace, because its state turned out not to be locked, or another
// instance serves the Workspace now.
func (f *FailedRuns) Forget(uid types.UID) {
	f.mu.Lock()
	defer f.mu.Unlock()

	delete(f.runs, uid)
}

// Any says whether there are such runs on a Workspace.
func (f *FailedRuns) Any(uid types.UID) bool {
	f.mu.Lock()
	defer f.mu.Unlock()

	return len(f.runs[uid]) > 0
}

// left says whether one of the runs may have left a lock behind, which was made at the
// supplied time.
func (f *FailedRuns) left(uid types.UID, l terraform.Lock, since time.Time) bool {
	f.mu.Lock()
	defer f.mu.Unlock()

	return slices.ContainsFunc(f.runs[uid], func(r Run) bool { return r.left(l, since) })
}
