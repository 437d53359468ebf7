// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package lease

import (
	"context"
	"crypto/rand"
	"os"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// NewIdentity returns a name for this process, which no other process has had or
// will have: the name of the host, which tells people where to look, and a random
// part. It is what the Lease of the process says who holds it, and part of every claim: 80
// random bits are enough for the processes of one host.
func NewIdentity() (string, error) {
	host, err := os.Hostname()

	return host + identitySeparator + strings.ToLower(rand.Text()[:16]), errors.Wrap(err, "cannot get name of host")
}

// A Fence ends this process at a time on a clock of its own, unless it is put off.
type Fence interface {
	Now() (time.Duration, error)
	Arm(at time.Duration) error
	Disarm() error
}

// Timing of a Lease.
type Timing struct {
	// Duration after which others take a Lease that was not renewed.
	Duration time.Duration

	// RenewDeadline is how long the holder tries to renew it before it gives up.
	RenewDeadline time.Duration

	// RetryPeriod is the time between two tries.
	RetryPeriod time.Duration
}

// Validate returns an error that names the flag, its value and what is allowed.
func (t Timing) Validate() error {
	switch {
	case t.Duration < 2*time.Second || t.Duration%time.Second != 0:
		return errors.Errorf("--lease-duration is %s: it must be 2s or more, in whole seconds", t.Duration)
	case t.RenewDeadline < time.Second || t.RenewDeadline > t.Duration-t.Duration/10:
		return errors.Errorf("--lease-renew-deadline is %s: it must be 1s or more, and a tenth less than --lease-duration (%s) or shorter, so that an instance that stops has time to do so", t.RenewDeadline, t.Duration)
	case t.RetryPeriod <= 0 || t.RetryPeriod > t.RenewDeadline/2:
		return errors.Errorf("--lease-retry-period is %s: it must be greater than 0, and half of --lease-renew-deadline (%s) or shorter", t.RetryPeriod, t.RenewDeadline)
	default:
		return nil
	}
}

// fenced returns how long after a renewal the holder is no more, at the latest. It
// is a little less than what others wait for.
func (t Timing) fenced() time.Duration {
	return t.Duration - (t.Duration-t.RenewDeadline)/10
}

// A Lock is the Lease of this instance, as leader election sees it. As long as this
// instance holds it, it keeps putting off the fence; when it could not renew the
// Lease for so long that others may soon take it, the fence ends the process and
// its runs.
//
// It has to be a fence and not the end of leader election that does that. Leader
// election runs in this process: one that was stopped for a while learns of it too
// late, and its children were not stopped.
type Lock struct {
	resourcelock.Interface

	fence Fence
	after time.Duration

	// mu keeps a renewal from putting off a fence that a release has just disarmed.
	mu sync.Mutex

	// holders of the Lease, predecessors those before this instance took it, and since
	// when that was.
	holders      *holders
	predecessors []string
	since        time.Time
}

// NewLock returns the Lease of the supplied name, not yet held.
func NewLock(cfg *rest.Config, namespace, name, identity string, t Timing, f Fence) (*Lock, error) {
	cfg = rest.AddUserAgent(rest.CopyConfig(cfg), "leader-election")
	// One request that hangs must not use up all the time there is for renewal.
	cfg.Timeout = max(t.RenewDeadline/2, time.Second)

	clients, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return nil, errors.Wrap(err, "cannot make client of Lease")
	}

	h := &holders{CoordinationV1Interface: clients.CoordinationV1(), identity: identity}

	inner, err := resourcelock.New(resourcelock.LeasesResourceLock, namespace, name, clients.CoreV1(), h, resourcelock.ResourceLockConfig{Identity: identity})
	if err != nil {
		return nil, errors.Wrapf(err, "cannot use Lease %q", name)
	}

	return &Lock{Interface: inner, fence: f, after: t.fenced(), holders: h}, nil
}

// Predecessors returns the hosts of the instances that held the Lease before this one,
// the latest first, and when this one took it. However they ended, they work on nothing
// any more.
func (l *Lock) Predecessors() ([]string, time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()

	return l.predecessors, l.since
}

// Create the Lease.
func (l *Lock) Create(ctx context.Context, r resourcelock.LeaderElectionRecord) error {
	return l.write(ctx, r, l.Interface.Create)
}

// Update the Lease: acquire, renew or release it.
func (l *Lock) Update(ctx context.Context, r resourcelock.LeaderElectionRecord) error {
	return l.write(ctx, r, l.Interface.Update)
}

func (l *Lock) write(ctx context.Context, r resourcelock.LeaderElectionRecord, write func(context.Context, resourcelock.LeaderElectionRecord) error) error {
	l.mu.Lock()
	defer l.mu.Unlock()

	// Others see the renewal after this moment, and count from when they saw it.
	now, err := l.fence.Now()
	if err != nil {
		return err
	}

	if err := write(ctx, r); err != nil {
		return err
	}

	if r.HolderIdentity != l.Identity() {
		return l.fence.Disarm()
	}

	if l.since.IsZero() {
		l.predecessors, l.since = l.holders.before(), time.Now()
	}

	return l.fence.Arm(now + l.after)
}
