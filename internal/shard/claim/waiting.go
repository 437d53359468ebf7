// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package claim

import (
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"

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

// handedOff records that this instance works on a Workspace from now on, if the Workspace was one of
// another instance until then. The claim of a dead instance that it had no need to wait for counts
// too, except for an unsharded instance: it finds that claim again and again.
func (c *Claims) handedOff(o client.Object, s Situation) {
	took, waited := c.notices.forget(o.GetUID())
	other := s.Claimed.Namespace != s.Me.Namespace || s.Claimed.Lease != s.Me.Lease

	switch {
	case s.Claimed == (Claim{}) && waited:
		c.Metrics.HandedOff(handOffReleased, took)
	case s.Claimed != (Claim{}) && other && (waited || s.sharded()):
		c.Metrics.HandedOff(handOffDead, took)
	}
}

// notify records an Event with the reason why a Workspace waits, once for each reason. If a person
// has to act, the Event is a warning and is repeated, because nothing else shows that the Workspace
// is not served.
func (c *Claims) notify(o client.Object, a Action, s Situation) {
	overdue := c.notices.waited(o.GetUID(), s.Claimed) > c.LongestRun
	message, warn := c.waiting(s), false

	switch {
	case a == WaitForUnsharded:
		message, warn = waitingForUnsharded(s), s.UnshardedPeer == lease.Unknown
	case s.Claimant == lease.Unknown:
		message, warn = waitingForLease(s), true
	case overdue:
		message, warn = c.waitingForEver(s), true
	}

	e, again := event.Normal(reasonWaiting, message), time.Duration(0)
	if warn {
		e, again = event.Warning(reasonWaiting, errors.New(message)), repeatWarning
	}

	if c.notices.due(o.GetUID(), message, again) {
		c.Recorder.Event(o, e)
	}
}

// reportRefusal records an Event if the API server, or an admission webhook, refuses the claim of
// this instance. Nothing else on the Workspace shows the reason.
func (c *Claims) reportRefusal(o client.Object, err error) {
	if isRefusal(err) && c.notices.due(o.GetUID(), err.Error(), repeatWarning) {
		c.Recorder.Event(o, event.Warning(reasonCannotClaim, err))
	}
}

// claimant names the instance that has claimed a Workspace.
func claimant(s Situation) string {
	whom := s.Claimed.Lease
	if id, ok := shard.FromLeaseName(s.Claimed.Lease); ok {
		whom = id.String()
	}

	return fmt.Sprintf("the instance of %s on %q", whom, s.Claimed.Host())
}

func (c *Claims) waiting(s Situation) string {
	return fmt.Sprintf("Waiting for %s to finish what it does and to release the Workspace, or to be dead. No run takes longer than %s", claimant(s), c.LongestRun)
}

// waitingForEver says why a Workspace waits for longer than any run takes. The holder of the
// claim may not know of it: then the claim is released when that instance ends, not before.
func (c *Claims) waitingForEver(s Situation) string {
	return fmt.Sprintf("Waiting for %s for more than %s, and no run takes longer: it cannot release the Workspace, or does not know of the claim in status.ownership, which a person may have restored. Restart that instance: its claims end with it", claimant(s), c.LongestRun)
}

func waitingForLease(s Situation) string {
	return fmt.Sprintf("Waiting until it is known whether %s is alive: its Lease %q cannot be read. Give this instance the right to get Leases in that namespace, or one --lease-namespace to all instances", claimant(s), s.Claimed.Namespace+"/"+s.Claimed.Lease)
}

// waitingForUnsharded says why a Workspace without a claim waits.
func waitingForUnsharded(s Situation) string {
	if s.UnshardedPeer == lease.Unknown {
		return fmt.Sprintf("Waiting until it is known whether there is an unsharded instance: its Lease %q cannot be read. Check the right to get Leases", shard.ID{}.LeaseName())
	}

	return "Waiting for the unsharded instance to stop: it serves every Workspace, and claims none. If it is to stay, run it with --shard-catch-all"
}

// A noticeLog records the last message about each Workspace, and its time. It also records the
// Workspaces that wait.
type noticeLog struct {
	now func() time.Time

	// changed is called with the number of Workspaces that wait, whenever it may have changed.
	changed func(waiting int)

	mu    sync.Mutex
	last  map[types.UID]notice
	waits map[types.UID]stay
}

// A notice is the last message about a Workspace that waits.
type notice struct {
	message string
	at      time.Time
}

// A stay is the wait of a Workspace for other instances.
type stay struct {
	began time.Time

	// claim that it waits for, and the time since which it waits for that one.
	claim Claim
	since time.Time
}

func newNoticeLog(changed func(waiting int)) *noticeLog {
	return &noticeLog{now: time.Now, changed: changed, last: map[types.UID]notice{}, waits: map[types.UID]stay{}}
}

// waited returns how long a Workspace has been waiting for the holder of a claim.
func (l *noticeLog) waited(uid types.UID, c Claim) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()

	s, ok := l.waits[uid]
	if !ok {
		s.began = l.now()
	}

	if !ok || s.claim != c {
		s.claim, s.since = c, l.now()
		l.waits[uid] = s
		l.changed(len(l.waits))
	}

	return l.now().Sub(s.since)
}

// due says whether the message is new, or was last sent so long ago that it is to be repeated. If
// again is zero, it is never repeated.
func (l *noticeLog) due(uid types.UID, message string, again time.Duration) bool {
	l.mu.Lock()
	defer l.mu.Unlock()

	last := l.last[uid]
	if last.message == message && (again == 0 || l.now().Sub(last.at) < again) {
		return false
	}

	last.message, last.at = message, l.now()
	l.last[uid] = last

	return true
}

// forget ends the wait of a Workspace and returns how long it was. It returns false if the Workspace
// did not wait.
func (l *noticeLog) forget(uid types.UID) (time.Duration, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()

	delete(l.last, uid)

	s, ok := l.waits[uid]
	if !ok {
		return 0, false
	}

	delete(l.waits, uid)
	l.changed(len(l.waits))

	return l.now().Sub(s.began), true
}
