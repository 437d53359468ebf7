// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package claim

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"

	"github.com/crossplane-contrib/provider-terraform/internal/shard"
	"github.com/crossplane-contrib/provider-terraform/internal/shard/lease"
)

const reasonWaiting event.Reason = "WaitingForOwner"

// repeatWarning is how often people are warned of a Workspace that nobody serves until they
// do something.
const repeatWarning = 10 * time.Minute

// A Reconciler passes on the requests for Workspaces of one kind that this instance
// may work on now.
type Reconciler struct {
	inner  reconcile.Reconciler
	claims *Claims
	reader client.Reader
	object client.Object
	kind   schema.GroupVersionKind
}

// Reconciler returns a Reconciler in front of inner, for Workspaces of the kind of
// the supplied empty object.
func (c *Claims) Reconciler(inner reconcile.Reconciler, kind schema.GroupVersionKind, object client.Object) *Reconciler {
	r := &Reconciler{inner: inner, claims: c, reader: c.cache, object: object, kind: kind}
	// An unsharded instance writes nothing that would fail if a cache was behind.
	if c.me == (Claim{}) {
		r.reader = c.kube
	}

	return r
}

// Reconcile passes a request on if this instance may work on the Workspace, and
// otherwise does what is needed to get there: read it, decide, act.
func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	name := newRef(r.kind, req.NamespacedName)

	o, ok := r.object.DeepCopyObject().(Object)
	if !ok {
		return reconcile.Result{}, reconcile.TerminalError(errors.Errorf("%T has no claim", r.object))
	}

	if err := r.reader.Get(ctx, req.NamespacedName, o); err != nil {
		if resource.IgnoreNotFound(err) == nil {
			r.claims.held.leave(name)
		}

		return reconcile.Result{}, errors.Wrap(resource.IgnoreNotFound(err), "cannot get Workspace to find out whose it is")
	}

	s := r.claims.situation(ctx, name, o)

	switch a := Decide(s); a {
	case Run:
		return r.run(ctx, req, o)
	case Take:
		// The claim comes back as an event, which Changed accepts, and with it the next
		// request.
		_, err := r.claims.take(ctx, name, o)

		return reconcile.Result{RequeueAfter: r.claims.retry}, err
	case Wait, WaitForUnsharded:
		r.claims.tell(o, a, s)

		return reconcile.Result{RequeueAfter: wait.Jitter(5*r.claims.retry, 1)}, nil
	case Release:
		r.claims.held.leave(name)
	case Ignore:
	}

	return reconcile.Result{}, nil
}

func (r *Reconciler) run(ctx context.Context, req reconcile.Request, o client.Object) (reconcile.Result, error) {
	r.claims.told.forget(o.GetUID())

	if r.claims.me == (Claim{}) {
		return r.inner.Reconcile(ctx, req)
	}

	name := newRef(r.kind, client.ObjectKeyFromObject(o))
	if !r.claims.held.begin(name, o.GetUID()) {
		return reconcile.Result{}, nil
	}
	defer r.claims.held.end(name)

	return r.inner.Reconcile(ctx, req)
}

// Handler returns an event handler for a cache of the Workspaces of the kind. It
// releases those that leave the cache at once, even when all workers are busy.
func (r *Reconciler) Handler() cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		DeleteFunc: func(obj any) {
			if d, ok := obj.(cache.DeletedFinalStateUnknown); ok {
				obj = d.Obj
			}

			if o, ok := obj.(client.Object); ok {
				r.claims.told.forget(o.GetUID())
				r.claims.held.left(newRef(r.kind, client.ObjectKeyFromObject(o)), o.GetUID())
			}
		},
	}
}

// tell people what a Workspace waits for: once, unless somebody has to do something about
// it. Then it is a warning, and repeated: nothing else shows that the Workspace is not served.
func (c *Claims) tell(o client.Object, a Action, s Situation) {
	state, message := s.Claimant, waiting(s)
	if a == WaitForUnsharded {
		state, message = s.Unsharded, waitingForUnsharded(s)
	}

	e, again := event.Normal(reasonWaiting, message), time.Duration(0)
	if state == lease.Unknown {
		e, again = event.Warning(reasonWaiting, errors.New(message)), repeatWarning
	}

	if c.told.due(o.GetUID(), message, again) {
		c.record.Event(o, e)
	}
}

// waiting says why a Workspace waits for whoever has claimed it.
func waiting(s Situation) string {
	whom := s.Claimed.Lease
	if id, ok := shard.FromLeaseName(s.Claimed.Lease); ok {
		whom = id.String()
	}

	if s.Claimant == lease.Unknown {
		return fmt.Sprintf("Waiting until it is known whether the instance of %s on %q is alive: its Lease %q cannot be read. Give this instance the right to get Leases in that namespace, or one --lease-namespace to all instances", whom, s.Claimed.Host(), s.Claimed.Namespace+"/"+s.Claimed.Lease)
	}

	return fmt.Sprintf("Waiting for the instance of %s on %q to finish what it does and to release the Workspace, or to be dead", whom, s.Claimed.Host())
}

// waitingForUnsharded says why a Workspace that nobody has claimed waits.
func waitingForUnsharded(s Situation) string {
	if s.Unsharded == lease.Unknown {
		return fmt.Sprintf("Waiting until it is known whether there is an unsharded instance: its Lease %q cannot be read. Check the right to get Leases", shard.ID{}.LeaseName())
	}

	return "Waiting for the unsharded instance to stop: it serves every Workspace, and claims none. Run it with --shard-catch-all next to shards"
}

// told remembers what people were last told about each Workspace, and when.
type told struct {
	mu   sync.Mutex
	last map[types.UID]news
}

type news struct {
	message string
	at      time.Time
}

func newTold() *told { return &told{last: map[types.UID]news{}} }

// due says whether this is news, or was told so long ago that it is to be told again. Zero
// is never.
func (t *told) due(uid types.UID, message string, again time.Duration) bool {
	t.mu.Lock()
	defer t.mu.Unlock()

	last := t.last[uid]
	if last.message == message && (again == 0 || time.Since(last.at) < again) {
		return false
	}

	t.last[uid] = news{message: message, at: time.Now()}

	return true
}

func (t *told) forget(uid types.UID) {
	t.mu.Lock()
	defer t.mu.Unlock()

	delete(t.last, uid)
}
