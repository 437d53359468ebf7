// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"

	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

const (
	// stallAfter is how many failures in a row make a Workspace stalled. They take
	// about half a minute with the backoff of the queue.
	stallAfter = 5

	// stallBase is the time between two tries of a Workspace that has just
	// stalled. It doubles with every failure, up to the poll interval.
	stallBase = time.Minute
)

// A version of a Workspace is what a person can change to have it tried again.
type version struct {
	desired string
	deleted bool
}

func versionOf(o client.Object) version {
	return version{desired: desired(o), deleted: meta.WasDeleted(o)}
}

// A failure is a series of them.
type failure struct {
	version version
	count   int
	retry   time.Time
}

// nextTry is when the Workspace is tried again, as people read it.
func (f failure) nextTry() string { return f.retry.UTC().Format(time.RFC3339) }

// A staller keeps Workspaces that fail over and over again from taking the workers
// that healthy ones need. It is safe for concurrent use.
type staller struct {
	poll time.Duration
	now  func() time.Time
	log  logging.Logger

	mu       sync.Mutex
	failures map[types.UID]failure
}

func newStaller(poll time.Duration, now func() time.Time, log logging.Logger) *staller {
	return &staller{poll: poll, now: now, log: log, failures: map[types.UID]failure{}}
}

// failed records that a reconcile of the supplied Workspace failed.
func (s *staller) failed(o client.Object) {
	s.mu.Lock()
	defer s.mu.Unlock()

	f := s.failures[o.GetUID()]
	if v := versionOf(o); f.version != v {
		f = failure{version: v}
	}

	f.count++

	f.retry = s.now()
	if f.count >= stallAfter {
		f.retry = f.retry.Add(min(stallBase<<min(f.count-stallAfter, 10), max(s.poll, stallBase)))
	}

	s.failures[o.GetUID()] = f
}

// succeeded records that a reconcile of the Workspace of the supplied UID did.
func (s *staller) succeeded(uid types.UID) {
	s.mu.Lock()
	defer s.mu.Unlock()

	delete(s.failures, uid)
}

// stalled returns the failures of a Workspace that is stalled.
func (s *staller) stalled(o client.Object) (failure, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()

	f, ok := s.failures[o.GetUID()]

	return f, ok && f.version == versionOf(o) && f.count >= stallAfter
}

// reconciler returns one in front of inner that puts off stalled Workspaces until
// they are due, or a person changes them, and tells about it in a condition.
func (s *staller) reconciler(inner reconcile.Reconciler, kube client.Client, live client.Reader, kind workspace.Kind) reconcile.Reconciler {
	return reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
		ws, err := get(ctx, kube, kind, req)
		if ws == nil || err != nil {
			return reconcile.Result{}, err
		}

		if f, ok := s.stalled(ws); ok && !meta.IsPaused(ws) {
			if wait := f.retry.Sub(s.now()); wait > 0 {
				return reconcile.Result{RequeueAfter: wait}, nil
			}
		}

		result, err := inner.Reconcile(ctx, req)
		if err != nil {
			return result, err
		}

		f, stalled := s.stalled(ws)
		// Nothing is due for a paused one: its next try is never nearer.
		if stalled && !meta.IsPaused(ws) {
			// The backoff of the queue ends at a minute: too short by now.
			result = reconcile.Result{RequeueAfter: max(f.retry.Sub(s.now()), time.Second)}
		}

		return result, s.tell(ctx, kube, live, ws, f, stalled)
	})
}

// tell records in a condition whether a Workspace is stalled and when it is tried again,
// if that changed. That it stalls, and that it does no longer, is logged: there is no
// other trace of a failure in the log, unless it is that of --debug.
func (s *staller) tell(ctx context.Context, kube client.Client, live client.Reader, ws workspace.Workspace, f failure, stalled bool) error {
	was := ws.GetCondition(typeStalled)
	if !stalled && was.Status != corev1.ConditionTrue {
		return nil
	}

	c := stalledCondition(ws, f, stalled)
	if was.Equal(c) {
		return nil
	}

	// The reconcile has just written the status. The cache may not know it yet, and
	// the whole status is written back.
	uid, own := ws.GetUID(), ws.GetOwnership()
	if err := live.Get(ctx, client.ObjectKeyFromObject(ws), ws); err != nil {
		return errors.Wrap(resource.IgnoreNotFound(err), "cannot get Workspace")
	}

	if ws.GetUID() != uid || own.TakenBy(ws.GetOwnership()) {
		return nil
	}

	// Another try of a stalled Workspace is no transition.
	was = ws.GetCondition(typeStalled)
	if was.Status == c.Status {
		c.LastTransitionTime = was.LastTransitionTime
	}

	ws.SetConditions(c)

	if err := kube.Status().Update(ctx, ws); err != nil {
		return errors.Wrap(resource.IgnoreNotFound(err), "cannot update status of Workspace")
	}

	if was.Status != c.Status {
		s.logTransition(ws, f, stalled)
	}

	return nil
}

func stalledCondition(ws workspace.Workspace, f failure, stalled bool) xpv2.Condition {
	c := xpv2.Condition{
		Type:               typeStalled,
		Status:             corev1.ConditionFalse,
		Reason:             reasonRetried,
		LastTransitionTime: metav1.Now(),
		ObservedGeneration: ws.GetGeneration(),
	}

	if stalled {
		c.Status = corev1.ConditionTrue
		c.Reason = reasonRepeatedFailure
		c.Message = fmt.Sprintf("Failed %d times or more: it is tried less often, until it succeeds or changes. The next try is at %s. Synced has the last failure",
			stallAfter, f.nextTry())
	}

	return c
}

// logTransition logs that a Workspace has stalled, or does no longer. Its condition Synced
// has the last failure, without secrets.
func (s *staller) logTransition(ws workspace.Workspace, f failure, stalled bool) {
	log := s.log.WithValues("uid", ws.GetUID(), "namespace", ws.GetNamespace(), "name", ws.GetName())

	if stalled {
		log.Info("Workspace is stalled: it keeps failing, and is tried less often", "error", ws.GetCondition(xpv2.TypeSynced).Message, "next-try", f.nextTry())

		return
	}

	log.Info("Workspace is not stalled any more")
}
