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
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"

	"github.com/crossplane-contrib/provider-terraform/internal/shard"
	"github.com/crossplane-contrib/provider-terraform/internal/shard/session"
)

const (
	reasonWaiting     event.Reason = "WaitingForOwner"
	reasonCannotClaim event.Reason = "CannotClaim"
)

// repeatWarning is the interval of warnings about one Workspace.
const repeatWarning = 10 * time.Minute

// What the previous instance of a Workspace that was handed off has done.
const (
	handOffReleased = "released"
	handOffDead     = "dead"
)

// handedOff ends the wait of a Workspace that this process works on from now on, and counts it if it was
// one of another instance until then. The claim of a dead instance that it had no need to wait for counts,
// too.
func (c *Claims) handedOff(r ref, s Situation) {
	took, waited := c.waits.forget(r)

	switch {
	case s.Claimed == (Claim{}) && waited:
		c.Metrics.HandedOff(handOffReleased, took)
	case s.Claimed != (Claim{}) && !s.Claimed.Same(s.Me) && s.Claimed.Instance != c.id.Instance():
		c.Metrics.HandedOff(handOffDead, took)
	}
}

// idle ends the wait of a Workspace that needs nothing now. A claim of a dead instance stays, and is counted
// when this process replaces it.
func (c *Claims) idle(r ref, s Situation) {
	if s.Claimed == (Claim{}) {
		c.handedOff(r, s)
	} else {
		c.waits.forget(r)
	}
}

// notify records an Event with the reason why a Workspace waits, once for each reason. If a person has to
// act, the Event is a warning and is repeated: nothing else shows that the Workspace is not served.
func (c *Claims) notify(r ref, o client.Object, s Situation) {
	message, warn := reason(s, c.LongestRun, c.waits.since(r, o.GetUID(), s.Claimed) > c.LongestRun)
	e, again := event.Normal(reasonWaiting, message), time.Duration(0)

	if warn {
		e, again = event.Warning(reasonWaiting, errors.New(message)), repeatWarning
	}

	if c.waits.due(r, o.GetUID(), message, again) {
		c.Recorder.Event(o, e)
	}
}

// reportFailure records an Event if the claim of this instance was not written, or if that is unknown.
// Nothing else on the Workspace shows the reason.
func (c *Claims) reportFailure(r ref, o client.Object, err error) {
	if !errors.Is(err, context.Canceled) && c.waits.due(r, o.GetUID(), err.Error(), repeatWarning) {
		c.Recorder.Event(o, event.Warning(reasonCannotClaim, err))
	}
}

// reason says why a Workspace waits, and whether a person has to act. It is overdue if it waits for
// longer than the longest run: the holder of the claim may not know of it.
func reason(s Situation, longest time.Duration, overdue bool) (message string, warn bool) {
	id, known := shard.FromInstance(s.Claimed.Instance)

	whom := s.Claimed.Lease
	if known {
		whom = id.String()
	}

	claimant := fmt.Sprintf("the instance of %s on %q", whom, session.HostOf(s.Claimed.Holder))

	switch {
	case s.Claimant == session.Unknown:
		return fmt.Sprintf("Waiting until it is known whether %s is alive: its Lease %q cannot be read or updated. Give this instance the rights to get, create and update Leases in that namespace, or one --lease-namespace to all instances", claimant, s.Claimed.Namespace+"/"+s.Claimed.Lease), true
	case known && !id.Sharded():
		return fmt.Sprintf("Waiting for the unsharded instance on %q to stop: it serves every Workspace%s", session.HostOf(s.Claimed.Holder), orSharded(s)), false
	case overdue:
		return fmt.Sprintf("Waiting for %s for more than %s, and no run takes longer: it cannot release the Workspace, or does not know of the claim in status.ownership, which a person may have restored. Restart that instance: its claims end with it", claimant, longest), true
	default:
		return fmt.Sprintf("Waiting for %s to finish what it does and to release the Workspace, or to be dead. No run takes longer than %s", claimant, longest), false
	}
}

// orSharded says what ends the wait for an unsharded instance that does not stop.
func orSharded(s Situation) string {
	me, known := shard.FromInstance(s.Me.Instance)

	switch {
	case known && me.Sharded():
		return ". If it is to stay, run it with --shard-catch-all"
	case s.Me.Namespace != s.Claimed.Namespace:
		return fmt.Sprintf(", and so does this one. They are two installs, with Leases in the namespaces %s and %s: remove one", s.Claimed.Namespace, s.Me.Namespace)
	default:
		return "" // The other one is an earlier pod.
	}
}

// waits are the Workspaces that wait for other instances, and the last message about each.
type waits struct {
	now func() time.Time

	// changed is called with the number of Workspaces that wait, whenever it may have changed.
	changed func(waiting int)

	mu       sync.Mutex
	messages map[ref]message
	waiting  map[ref]stay

	// wake puts a Workspace of a kind into the queue.
	wake map[schema.GroupVersionKind]func(reconcile.Request)
}

// A message is the last one about a Workspace.
type message struct {
	uid  types.UID
	text string
	sent time.Time
}

// A stay is the wait of a Workspace for other instances.
type stay struct {
	uid   types.UID
	began time.Time

	// claim that it waits for, and the time since which it waits for that one.
	claim Claim
	since time.Time
}

func newWaits(changed func(waiting int)) *waits {
	return &waits{now: time.Now, changed: changed, messages: map[ref]message{}, waiting: map[ref]stay{}, wake: map[schema.GroupVersionKind]func(reconcile.Request){}}
}

// since records that a Workspace waits for the holder of a claim, and returns for how long.
func (l *waits) since(r ref, uid types.UID, c Claim) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()

	// Another Workspace may have had the name, and its wait have been recorded after it was gone.
	w, ok := l.waiting[r]
	if ok = ok && w.uid == uid; !ok {
		w = stay{uid: uid, began: l.now()}
	}

	if !ok || !w.claim.Same(c) {
		w.claim, w.since = c, l.now()
		l.waiting[r] = w
		l.changed(len(l.waiting))
	}

	return l.now().Sub(w.since)
}

// wakes sets the function that puts a Workspace of a kind into the queue.
func (l *waits) wakes(kind schema.GroupVersionKind, add func(reconcile.Request)) {
	l.mu.Lock()
	defer l.mu.Unlock()

	l.wake[kind] = add
}

// ended puts all Workspaces into the queue that wait for a session.
func (l *waits) ended(lease client.ObjectKey) {
	l.mu.Lock()
	defer l.mu.Unlock()

	for r, w := range l.waiting {
		if w.claim.Namespace == lease.Namespace && w.claim.Lease == lease.Name {
			l.wake[r.kind](reconcile.Request{NamespacedName: r.key})
		}
	}
}

// due says whether the message is new, or was last sent so long ago that it is to be repeated. If
// again is zero, it is never repeated.
func (l *waits) due(r ref, uid types.UID, text string, again time.Duration) bool {
	l.mu.Lock()
	defer l.mu.Unlock()

	last := l.messages[r]
	if last.uid == uid && last.text == text && (again == 0 || l.now().Sub(last.sent) < again) {
		return false
	}

	l.messages[r] = message{uid: uid, text: text, sent: l.now()}

	return true
}

// forget ends the wait of a Workspace and returns how long it was. It returns false if the Workspace
// did not wait.
func (l *waits) forget(r ref) (time.Duration, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()

	delete(l.messages, r)

	w, ok := l.waiting[r]
	if !ok {
		return 0, false
	}

	delete(l.waiting, r)
	l.changed(len(l.waiting))

	return l.now().Sub(w.began), true
}
