// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package claim

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	"github.com/crossplane-contrib/provider-terraform/internal/shard"
	"github.com/crossplane-contrib/provider-terraform/internal/shard/lease"
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

// handedOff ends the wait of a Workspace that this instance may work on from now on, and counts it if it
// was one of another instance until then. The claim of a dead instance that it had no need to wait for
// counts too, except for an unsharded instance: it finds that claim again and again.
func (c *Claims) handedOff(r ref, s Situation) {
	took, waited := c.waits.forget(r)
	other := s.Claimed.Namespace != s.Me.Namespace || s.Claimed.Lease != s.Me.Lease

	switch {
	case s.Claimed == (Claim{}) && waited:
		c.Metrics.HandedOff(handOffReleased, took)
	case s.Claimed != (Claim{}) && other && (waited || s.sharded()):
		c.Metrics.HandedOff(handOffDead, took)
	}
}

// notify records an Event with the reason why a Workspace waits, once for each reason. If a person has to
// act, the Event is a warning and is repeated: nothing else shows that the Workspace is not served.
func (c *Claims) notify(r ref, o client.Object, a Action, s Situation) {
	longest := c.LongestRun
	if meta.WasDeleted(o) {
		longest *= 2 // To destroy, and to delete the Terraform workspace.
	}

	message, warn := reason(a, s, longest, c.waits.since(r, o.GetUID(), s.Claimed) > longest)
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
func reason(a Action, s Situation, longest time.Duration, overdue bool) (message string, warn bool) {
	whom := s.Claimed.Lease
	if id, ok := shard.FromLeaseName(s.Claimed.Lease); ok {
		whom = id.String()
	}

	claimant := fmt.Sprintf("the instance of %s on %q", whom, lease.HostOf(s.Claimed.Holder))

	switch {
	case a == WaitForUnsharded && s.UnshardedPeer == lease.Unknown:
		return fmt.Sprintf("Waiting until it is known whether there is an unsharded instance: its Lease %q cannot be read. Check the right to get Leases", shard.ID{}.LeaseName()), true
	case a == WaitForUnsharded:
		return "Waiting for the unsharded instance to stop: it serves every Workspace, and claims none. If it is to stay, run it with --shard-catch-all", false
	case s.Claimant == lease.Unknown:
		return fmt.Sprintf("Waiting until it is known whether %s is alive: its Lease %q cannot be read. Give this instance the right to get Leases in that namespace, or one --lease-namespace to all instances", claimant, s.Claimed.Namespace+"/"+s.Claimed.Lease), true
	case overdue:
		return fmt.Sprintf("Waiting for %s for more than %s, and no run takes longer: it cannot release the Workspace, or does not know of the claim in status.ownership, which a person may have restored. Restart that instance: its claims end with it", claimant, longest), true
	default:
		return fmt.Sprintf("Waiting for %s to finish what it does and to release the Workspace, or to be dead. No run takes longer than %s", claimant, longest), false
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
	return &waits{now: time.Now, changed: changed, messages: map[ref]message{}, waiting: map[ref]stay{}}
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

	if !ok || w.claim != c {
		w.claim, w.since = c, l.now()
		l.waiting[r] = w
		l.changed(len(l.waiting))
	}

	return l.now().Sub(w.since)
}

// has says whether a Workspace waits.
func (l *waits) has(r ref, uid types.UID) bool {
	l.mu.Lock()
	defer l.mu.Unlock()

	w, ok := l.waiting[r]

	return ok && w.uid == uid
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
