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

// FailedRuns records the times in which runs may have locked a state without unlocking it: because the
// backend was unavailable, for example, or because their process died. It is safe for concurrent use.
type FailedRuns struct {
	mu   sync.Mutex
	runs map[types.UID][]Run
}

// maxRuns is the number of failed runs that are kept for a Workspace. The first successful run
// that takes a lock clears them, but a broken module has no such run. The oldest run is always
// kept: when the backend becomes unavailable, that run had the lock, and all later ones fail soon
// after their start.
const maxRuns = 8

// A Run of the CLI. A process that dies leaves it as a record in the working directory.
type Run struct {
	Who   string    `json:"who"` // USER@HOST, as in a lock.
	Start time.Time `json:"start"`

	// End is zero while the run is in progress. It stays zero if the process dies.
	End time.Time `json:"end,omitzero"`

	// PlanWithoutLock says that it was a plan without a lock.
	PlanWithoutLock bool `json:"planWithoutLock,omitempty"`
}

func (r Run) is(other Run) bool { return r.Who == other.Who && r.Start.Equal(other.Start) }

// until returns the end of the run. If its process died, that is the end of the longest run, or
// earlier the time at which this instance took over. It is zero if the process may be alive.
func (r Run) until(p Predecessors, longest time.Duration) time.Time {
	switch {
	case !r.End.IsZero():
		return r.End
	case !slices.Contains(p.Hosts, terraform.Lock{Who: r.Who}.Host()):
		return time.Time{}
	}

	end := r.Start.Add(longest)
	if p.Until.Before(end) {
		end = p.Until
	}

	return end
}

// NewFailedRuns returns an empty FailedRuns.
func NewFailedRuns() *FailedRuns { return &FailedRuns{runs: map[types.UID][]Run{}} }

// Record runs on a Workspace, unless they are recorded.
func (f *FailedRuns) Record(uid types.UID, runs ...Run) {
	f.mu.Lock()
	defer f.mu.Unlock()

	for _, r := range runs {
		if slices.ContainsFunc(f.runs[uid], r.is) {
			continue
		}

		f.runs[uid] = append(f.runs[uid], r)
		if len(f.runs[uid]) > maxRuns {
			f.runs[uid] = slices.Delete(f.runs[uid], 1, 2)
		}
	}
}

// Of returns the recorded runs on a Workspace.
func (f *FailedRuns) Of(uid types.UID) []Run {
	f.mu.Lock()
	defer f.mu.Unlock()

	return slices.Clone(f.runs[uid])
}

// Forget all runs on a Workspace, because its state turned out not to be locked, the Workspace was
// released for another instance, or it was deleted.
func (f *FailedRuns) Forget(uid types.UID) {
	f.mu.Lock()
	defer f.mu.Unlock()

	delete(f.runs, uid)
}

// Any says whether there are such runs on a Workspace.
func (f *FailedRuns) Any(uid types.UID) bool { return len(f.Of(uid)) > 0 }
