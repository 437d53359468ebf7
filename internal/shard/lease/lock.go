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

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordinationv1client "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
)

// NewIdentity returns a unique name for this process, for its Lease and its claims: the name of the
// host, so that people can find the process, and 80 random bits.
func NewIdentity() (string, error) {
	host, err := os.Hostname()

	return host + identitySeparator + strings.ToLower(rand.Text()[:16]), errors.Wrap(err, "cannot get name of host")
}

// A Fence ends this process at a time on its own clock, unless that time is moved.
type Fence interface {
	Now() (time.Duration, error)
	Arm(at time.Duration) error
	Disarm() error
}

// A Lock is the Lease of this instance, as leader election uses it. Leader election decides when
// to acquire and to renew the Lease. The Lock decides everything else, because leader election
// would release the Lease while runs continue, would wait for the answer to a request that hangs,
// and would take a Lease that was deleted while its holder works.
//
// At the renew deadline a timer calls lost, once. Shortly before others may take the Lease, the
// fence ends the process and its runs.
type Lock struct {
	resourcelock.Interface

	fence   Fence
	timing  Timing
	lost    func(error)
	once    sync.Once
	options LockOptions

	// writing is held during a request that writes the Lease, which may hang.
	writing sync.Mutex

	// fenced is the deadline that the fence is armed with.
	fenced time.Duration

	// mu is never held during a request.
	mu       sync.Mutex
	held     bool
	paused   bool
	waiting  bool
	deadline time.Time
	timer    *time.Timer

	// seen is the knowledge about the Lease. ended is the holder at the last read, if it is proven to
	// be dead and to have written that version of the Lease.
	seen  observation
	ended string

	// taken names the instance that holds the Lease instead of this one. reason says why the Lease was
	// lost.
	taken, reason error

	// predecessors are the hosts of the instances that held the Lease before this one took it.
	// since is the time at which it took the Lease.
	predecessors []string
	since        time.Time
	served       time.Time // See Served.

	// holder is the other instance that held the Lease when this one last looked.
	holder string
}

// LockOptions configure a Lock. Pause and Resume are optional, all others are required.
type LockOptions struct {
	// Applying says whether an apply or a destroy is in progress.
	Applying func() bool

	// Files are the process files of this pod.
	Files ProcessFiles

	// Pause is called at the renew deadline. It returns false if something is in progress. Otherwise
	// nothing may begin until Resume is called: when this instance gets its Lease back, if no other
	// instance has held the Lease since.
	Pause  func() bool
	Resume func()

	// Assignable lets Workspaces without a label be assigned to this shard.
	Assignable bool

	Log logging.Logger
}

// NewLock returns the Lease of the supplied name, which is not held yet. lost is called if the Lease
// could not be renewed until the renew deadline, or has another holder. It must not block.
func NewLock(cfg *rest.Config, namespace, name, identity string, t Timing, f Fence, lost func(error), o LockOptions) (*Lock, error) {
	cfg = rest.AddUserAgent(rest.CopyConfig(cfg), "leader-election")
	// One hanging request must not use up the time for renewal.
	cfg.Timeout = max(t.RenewDeadline/2, time.Second)

	c, err := coordinationv1client.NewForConfig(cfg)
	if err != nil {
		return nil, errors.Wrap(err, "cannot make client of Lease")
	}

	return newLock(c, namespace, name, identity, t, f, lost, o), nil
}

func newLock(c coordinationv1client.LeasesGetter, namespace, name, identity string, t Timing, f Fence, lost func(error), o LockOptions) *Lock {
	l := &Lock{fence: f, timing: t, lost: lost, options: o, seen: newObservation(t)}
	l.Interface = &resourcelock.LeaseLock{
		LeaseMeta:  metav1.ObjectMeta{Namespace: namespace, Name: name},
		Client:     &signedLeases{LeaseInterface: c.Leases(namespace), lock: l},
		LockConfig: resourcelock.ResourceLockConfig{Identity: identity},
	}

	return l
}

// Predecessors returns the hosts of the instances that held the Lease before this one, the latest
// first, and the time at which this one took it. These instances do not work any more, regardless
// of how they ended.
func (l *Lock) Predecessors() ([]string, time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()

	return l.predecessors, l.since
}

// Served returns when the holder before this instance last renewed the Lease, according to its own
// clock. It is zero if there was none.
func (l *Lock) Served() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()

	return l.served
}

// Get returns the Lease. If another instance holds the Lease that this one had taken, the Lock is
// lost. A Lease that must not be taken yet is returned as if another instance held it. A Lease
// whose holder is proven to be dead is returned as if no instance held it: leader election would
// wait for its duration.
func (l *Lock) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	r, raw, err := l.Interface.Get(ctx)
	if err != nil && !kerrors.IsNotFound(err) {
		return r, raw, err
	}

	holder := ""
	if err == nil {
		holder = r.HolderIdentity
	}

	ended := l.hasEnded(holder)

	if free := holder == "" || ended; free && l.reportWait() {
		return &resourcelock.LeaderElectionRecord{HolderIdentity: "unknown", LeaseDurationSeconds: int(l.timing.Longest() / time.Second)}, []byte("waiting"), nil
	}

	if err == nil {
		l.see(r, ended)
	}

	if err := l.check(holder, err == nil); err != nil {
		l.lose(err)

		return nil, nil, err
	}

	if ended {
		l.options.Log.Info("The Lease can be taken at once: its holder and all children of it have ended", "lease", l.Describe(), "holder", holder)

		r.HolderIdentity = ""
	}

	return r, raw, err
}

// see records the renewal of a Lease that this instance does not hold yet. It logs which instance
// has to end first, once: until then this one is ready, and does nothing.
func (l *Lock) see(r *resourcelock.LeaderElectionRecord, ended bool) {
	l.mu.Lock()
	defer l.mu.Unlock()

	if !l.since.IsZero() {
		return
	}

	l.served = r.RenewTime.Time

	other := r.HolderIdentity
	if other != "" && other != l.Identity() && other != l.holder && !ended {
		l.options.Log.Info("The Lease cannot be taken yet", "lease", l.Describe(),
			"reason", errors.Errorf("it is held by %q, until that releases it or has not renewed it for %ds", other, r.LeaseDurationSeconds))
	}

	l.holder = other
}

// reportWait logs once why a Lease without a holder must not be taken yet. It returns false if the
// Lease may be taken.
func (l *Lock) reportWait() bool {
	reason := l.mayWrite()

	l.mu.Lock()
	defer l.mu.Unlock()

	if reason != nil && !l.waiting {
		l.options.Log.Info("The Lease cannot be taken yet", "lease", l.Describe(), "reason", reason)
	}

	l.waiting = reason != nil

	return l.waiting
}

// check returns an error if another instance holds the Lease that this instance has taken.
func (l *Lock) check(holder string, exists bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()

	// If another instance has worked on the Workspaces of a paused instance, its records are out
	// of date.
	switch {
	case l.paused && !exists:
		holder = "unknown"
	case l.paused && holder == "" && len(l.seen.names) > 0:
		holder = l.seen.names[0]
	}

	if (l.held || l.paused) && l.taken == nil && holder != "" && holder != l.Identity() {
		l.taken = errors.Errorf("the Lease %s of this instance is held by %q, or was: find out whether two instances have the same shard name, or who changes Leases", l.Describe(), holder)
	}

	return l.taken
}

// Create creates the Lease.
func (l *Lock) Create(ctx context.Context, r resourcelock.LeaderElectionRecord) error {
	return l.write(ctx, r, l.Interface.Create)
}

// Update acquires or renews the Lease.
func (l *Lock) Update(ctx context.Context, r resourcelock.LeaderElectionRecord) error {
	return l.write(ctx, r, l.Interface.Update)
}

func (l *Lock) write(ctx context.Context, r resourcelock.LeaderElectionRecord, write func(context.Context, resourcelock.LeaderElectionRecord) error) error {
	l.writing.Lock()
	defer l.writing.Unlock()

	if err := l.mayWrite(); err != nil {
		return err
	}

	duration := l.timing.Duration
	if l.options.Applying() {
		duration = l.timing.Longest()
	}

	r.LeaseDurationSeconds = int(duration / time.Second)

	// Others see the renewal after this moment, and count from that later time.
	start := time.Now()

	now, err := l.fence.Now()
	if err != nil {
		return err
	}

	held := l.isHeld()
	if !held {
		if err := l.options.Files.Begin(l.Identity()); err != nil {
			l.options.Log.Info("If this process is killed, the next one in this pod will wait until the Lease has expired", "error", err)
		}
	}

	// Even without an answer, others may see this duration from now on.
	if at := now + l.timing.fenced(duration); held && at < l.fenced {
		if err := l.arm(at, start.Add(l.timing.deadline(duration))); err != nil {
			return err
		}
	}

	if err := write(ctx, r); err != nil {
		return err
	}

	l.take()

	return l.arm(now+l.timing.fenced(duration), start.Add(l.timing.deadline(duration)))
}

// mayWrite returns an error if this instance must not write the Lease.
func (l *Lock) mayWrite() error {
	l.mu.Lock()
	defer l.mu.Unlock()

	if l.held || l.taken != nil {
		return l.taken
	}

	return l.mayTake(time.Now())
}

func (l *Lock) isHeld() bool {
	l.mu.Lock()
	defer l.mu.Unlock()

	return l.held
}

// take records that this instance holds the Lease.
func (l *Lock) take() {
	l.mu.Lock()
	defer l.mu.Unlock()

	if l.since.IsZero() {
		l.predecessors, l.since = hostsOf(l.seen.names, l.Identity()), time.Now()

		// The files of the earlier holders are not needed any more.
		for _, id := range l.seen.names {
			if id != l.Identity() {
				l.options.Files.Remove(id)
			}
		}
	}

	l.held = true
}
