// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
)

// Failures are the times in which runs of this instance may have locked a state and
// did not unlock it, because the backend was away for example. It is safe for
// concurrent use.
type Failures struct {
	mu    sync.Mutex
	spans map[types.UID][]span
}

// maxSpans is how many failed runs on a Workspace are remembered: the first one that
// takes a lock and succeeds ends that, but a module that is broken has none. The first of
// them is: when the backend goes away, that is the run that had the lock, and all that
// follow fail soon, one after the other.
const maxSpans = 8

// A span is from the start of a run to its end.
type span struct {
	start, end time.Time

	// plan says that it was one without a lock.
	plan bool
}

// left says whether the run may have left the supplied lock behind.
func (s span) left(l terraform.Lock, since time.Time) bool {
	return !since.Before(s.start) && !since.After(s.end) && (!s.plan || l.ForPlan())
}

// NewFailures returns Failures of which there are none.
func NewFailures() *Failures { return &Failures{spans: map[types.UID][]span{}} }

// add a run that failed.
func (f *Failures) add(uid types.UID, s span) {
	f.mu.Lock()
	defer f.mu.Unlock()

	f.spans[uid] = append(f.spans[uid], s)
	if len(f.spans[uid]) > maxSpans {
		f.spans[uid] = slices.Delete(f.spans[uid], 1, 2)
	}
}

// Forget all runs on a Workspace, because its state turned out not to be locked, or has
// become the business of another instance.
func (f *Failures) Forget(uid types.UID) {
	f.mu.Lock()
	defer f.mu.Unlock()

	delete(f.spans, uid)
}

// Any says whether there are such runs on a Workspace.
func (f *Failures) Any(uid types.UID) bool {
	f.mu.Lock()
	defer f.mu.Unlock()

	return len(f.spans[uid]) > 0
}

// left says whether one of the runs may have left a lock behind, which was made at the
// supplied time.
func (f *Failures) left(uid types.UID, l terraform.Lock, since time.Time) bool {
	f.mu.Lock()
	defer f.mu.Unlock()

	return slices.ContainsFunc(f.spans[uid], func(s span) bool { return s.left(l, since) })
}
