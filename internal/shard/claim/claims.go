// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package claim

import (
	"context"
	"slices"
	"time"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpevent "github.com/crossplane/crossplane-runtime/v2/pkg/event"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/shard"
	"github.com/crossplane-contrib/provider-terraform/internal/shard/session"
)

// releaseTimeout limits one attempt to release a claim.
const releaseTimeout = 10 * time.Second

const errCannotClaim = "cannot claim Workspace"

// errNotKept is the error for a claim that was written and is missing.
var errNotKept = errors.New("the API server does not keep status.ownership. Install the CustomResourceDefinitions of this version of the provider")

// Sessions is a session.Observer, which describes the methods.
type Sessions interface {
	State(ctx context.Context, c Claim) session.State
	OnEnd(fn func(lease client.ObjectKey))
}

// FailedRuns reports the Workspaces on whose states a run of this instance may have left a lock. Forget
// drops the record of a Workspace that is released or deleted.
type FailedRuns interface {
	Any(uid types.UID) bool
	Forget(uid types.UID)
}

// Metrics counts the Workspaces that this instance waits for.
type Metrics interface {
	// ClaimsWaiting is called with the number of Workspaces that wait for another instance.
	ClaimsWaiting(n int)

	// HandedOff is called when this instance got a Workspace of another instance, with the time
	// that it has waited, and with what that instance has done: handOffReleased or handOffDead.
	HandedOff(previous string, took time.Duration)
}

// Options of Claims. All are required.
type Options struct {
	// FailedRuns are those that may have left a lock. At its release, a Workspace with one gets a record for
	// the next instance.
	FailedRuns FailedRuns

	Recorder xpevent.Recorder
	Metrics  Metrics

	// MayRun returns an error if no run may begin now: see session.Session.
	MayRun func() error

	// RetryPeriod is the time after which a Workspace that could not be claimed is tried again. One that
	// another instance has claimed is checked again after five to ten times as long: its release is
	// an event, and the end of its session puts it into the queue.
	RetryPeriod time.Duration

	// LongestRun is longer than any reconcile of a Workspace takes. If a Workspace waits for longer, it is
	// reported that the holder of its claim may not release it.
	LongestRun time.Duration
}

// Claims are the claims of one process, and what it knows of the claims of others.
type Claims struct {
	Options

	id shard.ID

	// me is the claim of this process. It is the zero value for one without a session.
	me Claim

	sessions Sessions
	cache    client.Reader
	kube     client.Client

	held  *holdings
	queue workqueue.TypedRateLimitingInterface[ref]
	waits *waits
}

// New returns the claims of a process that serves id, and claims with me. The zero value is for a
// process without a session: it claims nothing, and only respects the claims of others. The cache holds
// the Workspaces that the process is to serve. kube reads from the API server.
func New(id shard.ID, me Claim, sessions Sessions, cache client.Reader, kube client.Client, o Options) *Claims {
	c := &Claims{
		Options:  o,
		id:       id,
		me:       me,
		sessions: sessions,
		cache:    cache,
		kube:     kube,
		queue:    workqueue.NewTypedRateLimitingQueue(workqueue.NewTypedItemExponentialFailureRateLimiter[ref](100*time.Millisecond, 5*time.Second)),
		waits:    newWaits(o.Metrics.ClaimsWaiting),
	}

	c.held = newHoldings(func(r ref) { c.queue.Add(r) })
	sessions.OnEnd(c.waits.ended)

	return c
}

// Start releases claims on Workspaces that have left, until ctx is done. Claims that are not
// released by then are released with the session.
func (c *Claims) Start(ctx context.Context) error {
	ctl, err := controller.NewTypedUnmanaged("claims", controller.TypedOptions[ref]{
		SkipNameValidation: new(true),
		// A request without an answer does not delay all other releases.
		MaxConcurrentReconciles: 4,
		// A Workspace may leave before the controller has started.
		NewQueue: func(string, workqueue.TypedRateLimiter[ref]) workqueue.TypedRateLimitingInterface[ref] {
			return c.queue
		},
		Logger: log.FromContext(ctx),
		Reconciler: reconcile.TypedFunc[ref](func(ctx context.Context, r ref) (reconcile.Result, error) {
			return reconcile.Result{}, errors.Wrapf(c.release(ctx, r), "cannot release Workspace %q", r.key)
		}),
	})
	if err != nil {
		return errors.Wrap(err, "cannot make controller of claims")
	}

	return ctl.Start(ctx)
}

// canRun says whether runs may begin now. The reason why not is in the log of the session.
func (c *Claims) canRun() bool { return c.MayRun() == nil }

// situation returns the Situation of the supplied Workspace, as read in o.
func (c *Claims) situation(ctx context.Context, r ref, o Object) Situation {
	s := Situation{
		Me:      c.me,
		Serves:  c.id.Serves(o.GetLabels(), o.GetUID()),
		Holds:   c.held.holds(r, o.GetUID()),
		Claimed: Of(o),
	}

	if s.Serves && s.Claimed != (Claim{}) && !s.Claimed.Same(c.me) {
		s.Claimant = c.sessions.State(ctx, s.Claimed)
	}

	return s
}

// Changed returns a predicate that accepts updates in which the claim on a Workspace changes, unless it
// becomes that of this process. Other changes of the status require no new decision.
func (c *Claims) Changed() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, wasWorkspace := e.ObjectOld.(Object)
		after, isWorkspace := e.ObjectNew.(Object)

		return wasWorkspace && isWorkspace && !Of(before).Same(Of(after)) && !Of(after).Same(c.me)
	}}
}

// isOther says whether a Workspace with the supplied claim, or without one, may have been served by another
// instance, and not by an earlier process of this one. The disk and the run records apply only to the
// latter. Versions without claims served every Workspace, like an unsharded instance.
func (c *Claims) isOther(previous Claim) bool {
	if previous == (Claim{}) {
		return c.id.Sharded()
	}

	return previous.Instance != c.me.Instance
}

// take writes the claim on an added Workspace that was read as o. It returns the Workspace with the claim,
// or nil if the Workspace has changed since.
func (c *Claims) take(ctx context.Context, r ref, o Object) (Object, error) {
	taken, err := c.write(ctx, o)
	if kerrors.IsConflict(err) {
		taken, err = c.conflicted(ctx, r, o, err)
	}

	switch {
	case kerrors.IsConflict(err), kerrors.IsNotFound(err):
		c.held.refuse(r)

		return nil, nil //nolint:nilnil // See above.
	case isRefusal(err):
		c.held.refuse(r)

		return nil, errors.Wrap(err, errCannotClaim)
	case err != nil:
		c.held.doubt(r, o)

		return nil, errors.Wrap(err, errCannotClaim)
	}

	c.held.accept(r)

	return taken, nil
}

// conflicted returns the supplied conflict of a write of the claim, or the Workspace if it has that claim.
// client-go repeats a request if the answer has the header Retry-After, as that of a proxy may have. The
// first request may have taken effect then, and the second one conflicts with it.
func (c *Claims) conflicted(ctx context.Context, r ref, o Object, conflict error) (Object, error) {
	latest, err := c.get(ctx, r)

	switch {
	case kerrors.IsNotFound(err):
		return nil, err
	case err != nil:
		return nil, errors.Errorf("cannot find out whether Workspace is claimed: %v", err) // The cause must not count as the result of the write.
	case latest.GetUID() == o.GetUID() && Of(latest).Same(c.me):
		return latest, nil
	default:
		return nil, conflict
	}
}

// isRefusal says whether an error of write proves that there is no claim, and will be the same until a
// person acts.
func isRefusal(err error) bool {
	return errors.Is(err, errNotKept) || kerrors.IsForbidden(err) || kerrors.IsInvalid(err) || kerrors.IsBadRequest(err)
}

// write writes the claim of this process on a Workspace, if the Workspace is unchanged since o. It returns
// the Workspace as it is then.
func (c *Claims) write(ctx context.Context, o Object) (Object, error) {
	own, claim := o.GetOwnership(), c.me

	previous := Of(o)
	if host := session.HostOf(previous.Holder); !previous.Same(c.me) && host != "" {
		own.PreviousHosts = addHost(own.PreviousHosts, host)
	}

	own.Claim, own.ClaimedAt = &claim, new(metav1.Now())

	written, err := c.patch(ctx, o, own)
	if err == nil && !Of(written).Same(c.me) {
		err = errNotKept
	}

	return written, err
}

// maxHosts is the number of claimants whose hosts are remembered. A lock that one of them has left is removed when no
// run can hold it any more, unless so many others have claimed the Workspace by then.
const maxHosts = 10

// addHost returns a list of hosts with one more in front: the latest host is first.
func addHost(hosts []string, host string) []string {
	hosts = slices.DeleteFunc(slices.Clone(hosts), func(h string) bool { return h == host })
	hosts = slices.Insert(hosts, 0, host)

	return hosts[:min(len(hosts), maxHosts)]
}

// patch writes an ownership to the status of a Workspace, if the Workspace is unchanged since o.
// It returns the resulting Workspace.
func (c *Claims) patch(ctx context.Context, o Object, own commonv1beta1.Ownership) (Object, error) {
	after, ok := o.DeepCopyObject().(Object)
	if !ok {
		return nil, errors.Errorf("the copy of a %T is of another type", o)
	}

	after.SetOwnership(own)

	return after, c.kube.Status().Patch(ctx, after, client.MergeFromWithOptions(o, client.MergeFromWithOptimisticLock{}))
}

// Abandoned returns the hosts of the instances that worked on the supplied Workspace and are dead, or
// have released it. It also returns the time since which this instance holds it, or zero if it does not.
func (c *Claims) Abandoned(o client.Object) ([]string, time.Time) {
	ws, ok := o.(Object)
	if !ok {
		return nil, time.Time{}
	}

	hosts := ws.GetOwnership().PreviousHosts

	// A process without a session works only on Workspaces that no live one has claimed.
	if host := session.HostOf(Of(ws).Holder); c.me == (Claim{}) && host != "" {
		hosts = append(hosts, host)
	}

	return hosts, c.holding(o).taken
}

// ServedByOtherBefore says whether another instance may have served a Workspace before this process took
// it.
func (c *Claims) ServedByOtherBefore(o client.Object) bool { return c.holding(o).previousWasOther }

// holding returns that of a Workspace, or the zero value if this instance does not hold it.
func (c *Claims) holding(o client.Object) holding { return c.held.of(c.refOf(o), o.GetUID()) }

// refOf returns the name of a Workspace.
func (c *Claims) refOf(o client.Object) ref {
	// The scheme has all kinds of Workspaces.
	kind, _ := c.kube.GroupVersionKindFor(o)

	return ref{kind: kind, key: client.ObjectKeyFromObject(o)}
}

// Left forgets and releases a Workspace that has left the cache. It does not block. A run that was
// in progress then may fail later: Left is to be called again at its end.
func (c *Claims) Left(o client.Object) {
	r := c.refOf(o)
	c.waits.forget(r)

	// The release of a held Workspace drops the record of its failed runs, after it has read it. No
	// release follows for a Workspace that is not held.
	if !c.held.leave(r, o.GetUID()) {
		c.FailedRuns.Forget(o.GetUID())
	}
}

// release releases a Workspace that has left, unless work on it is in progress.
func (c *Claims) release(ctx context.Context, r ref) error {
	uid, unsure, ok := c.held.leavable(r)
	if !ok || ctx.Err() != nil {
		return nil
	}

	ctx, cancel := context.WithTimeout(ctx, releaseTimeout)
	defer cancel()

	if err := c.resolve(ctx, unsure); err != nil {
		c.reportFailure(r, unsure, err)

		return errors.Wrap(err, "cannot find out whether Workspace is claimed")
	}

	err := retry.RetryOnConflict(retry.DefaultRetry, func() error { return c.erase(ctx, r, uid) })
	if err != nil {
		return errors.Wrap(err, "cannot remove claim")
	}

	c.FailedRuns.Forget(uid)
	c.held.remove(r)

	// A failure may have been reported after the Workspace left the cache.
	if unsure != nil {
		c.waits.forget(r)
	}

	return nil
}

// resolve writes the claim on a Workspace that was read as o once more, if it is unknown whether it was
// written. After any answer, the first request has taken effect or never will. Otherwise it could still
// arrive later, as a claim that no instance knows of or releases.
func (c *Claims) resolve(ctx context.Context, o Object) error {
	if o == nil {
		return nil
	}

	_, err := c.write(ctx, o)
	if kerrors.IsConflict(err) || kerrors.IsNotFound(err) || errors.Is(err, errNotKept) {
		return nil
	}

	return errors.Wrap(err, errCannotClaim)
}

// erase removes the claim of this instance from a Workspace. It fails if anything changes
// meanwhile: a delayed request must not remove a claim that this instance has made since.
func (c *Claims) erase(ctx context.Context, r ref, uid types.UID) error {
	o, err := c.get(ctx, r)
	if err != nil {
		return client.IgnoreNotFound(err)
	}

	if o.GetUID() != uid || !Of(o).Same(c.me) {
		return nil
	}

	own := o.GetOwnership()
	own.Claim, own.ClaimedAt = nil, nil

	if c.FailedRuns.Any(uid) {
		own.PreviousHosts = addHost(own.PreviousHosts, session.HostOf(c.me.Holder))
	}

	_, err = c.patch(ctx, o, own)

	return client.IgnoreNotFound(err)
}

// get reads a Workspace from the API server.
func (c *Claims) get(ctx context.Context, r ref) (Object, error) {
	empty, err := c.kube.Scheme().New(r.kind)
	if err != nil {
		return nil, errors.Wrap(err, "cannot make an object")
	}

	o, ok := empty.(Object)
	if !ok {
		return nil, errors.Errorf("%T has no claim", empty)
	}

	return o, c.kube.Get(ctx, r.key, o)
}
