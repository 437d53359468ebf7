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

// FailedRuns records the times in which runs of this instance may have locked a state without
// unlocking it, because the backend was unavailable for example. It is safe for concurrent use.
type FailedRuns struct {
	mu   sync.Mutex
	runs map[types.UID][]Run
}

// maxRuns is the number of failed runs that are kept for a Workspace. The first successful run
// that takes a lock clears them, but a broken module has no such run. The oldest run is always
// kept: when the backend becomes unavailable, that run had the lock, and all later ones fail soon
// after their start.
const maxRuns = 8

// A Run of the CLI.
type Run struct {
	Start, End time.Time

	// PlanWithoutLock says that it was a plan without a lock.
	PlanWithoutLock bool
}

// NewFailedRuns returns an empty FailedRuns.
func NewFailedRuns() *FailedRuns { return &FailedRuns{runs: map[types.UID][]Run{}} }

// Record a failed run on a Workspace.
func (f *FailedRuns) Record(uid types.UID, r Run) {
	f.mu.Lock()
	defer f.mu.Unlock()

	f.runs[uid] = append(f.runs[uid], r)
	if len(f.runs[uid]) > maxRuns {
		f.runs[uid] = slices.Delete(f.runs[uid], 1, 2)
	}
}

// Forget all runs on a Workspace, because its state turned out not to be locked, the Workspace was
// released for another instance, or it was deleted.
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

// left says whether one of the runs may have left the supplied lock behind, which was made at the
// supplied time.
func (f *FailedRuns) left(uid types.UID, l terraform.Lock, since time.Time) bool {
	f.mu.Lock()
	defer f.mu.Unlock()

	return slices.ContainsFunc(f.runs[uid], func(r Run) bool {
		return !since.Before(r.Start) && !since.After(r.End) && (!r.PlanWithoutLock || l.ForPlan())
	})
}
