// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"cmp"
	"context"
	"strconv"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiwait "k8s.io/apimachinery/pkg/util/wait"
	coordinationv1client "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/shard"
)

// pollElected is how often the memory of this process is asked whether it is elected.
const pollElected = 50 * time.Millisecond

// An Election is the leader election of an instance: it says which replica works, and nothing else. Its
// Lease names the session that began to work last. Another replica begins when that session has ended.
type Election struct {
	// Config of the API server.
	Config *rest.Config

	// Kube reads from the API server and writes to it.
	Kube client.Client

	Namespace string
	ID        shard.ID
	Identity  string // of this process.
	Timing    Timing
	Observer  *Observer

	// Lost is called when another replica was elected after the gate of this one has opened. It must not
	// block.
	Lost func(error)

	Log logging.Logger

	mu sync.Mutex

	// holder that the Lease had last. former is the last one that had no session: an earlier version of the
	// provider. opened is the session whose gate is open.
	holder, former, opened string

	// unread is why the Lease could not be read the last time, or nil.
	unread error
}

// Run takes part in the election until ctx is done, and then gives the Lease up.
func (e *Election) Run(ctx context.Context) error {
	cfg := rest.AddUserAgent(rest.CopyConfig(e.Config), "leader-election")
	cfg.Timeout = e.Timing.request()

	c, err := coordinationv1client.NewForConfig(cfg)
	if err != nil {
		return errors.Wrap(err, "cannot make client of Leases")
	}

	lock := &resourcelock.LeaseLock{
		LeaseMeta:  metav1.ObjectMeta{Namespace: e.Namespace, Name: e.ID.LeaseName()},
		Client:     &electionLeases{LeaseInterface: c.Leases(e.Namespace), election: e},
		LockConfig: resourcelock.ResourceLockConfig{Identity: e.Identity},
	}
	// People list the shards by it.
	if e.ID.Name() != "" {
		lock.Labels = map[string]string{shard.LabelKey: e.ID.Name()}
	}

	config := leaderelection.LeaderElectionConfig{
		Lock:          lock,
		LeaseDuration: e.Timing.Duration,
		RenewDeadline: e.Timing.RenewDeadline,
		RetryPeriod:   e.Timing.RetryPeriod,
		Name:          "provider-terraform",
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) {},
			OnStoppedLeading: func() {},
		},
	}

	// An election that ends because the API server does not answer is not lost: see follow.
	for ctx.Err() == nil {
		elector, err := leaderelection.NewLeaderElector(config)
		if err != nil {
			return errors.Wrap(err, "cannot take part in the leader election")
		}

		elector.Run(ctx)
	}

	return e.release(context.WithoutCancel(ctx), lock)
}

// release gives up the Lease, so that a standby need not wait until it expires.
func (e *Election) release(ctx context.Context, lock *resourcelock.LeaseLock) error {
	ctx, cancel := context.WithTimeout(ctx, e.Timing.request())
	defer cancel()

	r, _, err := lock.Get(ctx)
	if err != nil || r.HolderIdentity != e.Identity {
		return client.IgnoreNotFound(err)
	}

	r.HolderIdentity, r.LeaseDurationSeconds = "", 1

	return errors.Wrap(lock.Update(ctx, *r), "cannot release Lease of the leader election")
}

// Await waits until this replica is elected.
func (e *Election) Await(ctx context.Context) error {
	return apiwait.PollUntilContextCancel(ctx, pollElected, true, func(context.Context) (bool, error) {
		e.mu.Lock()
		defer e.mu.Unlock()

		return e.holder == e.Identity, nil
	})
}

// Open waits until this replica is elected and the session that worked before it has ended. Then it
// records the supplied session in the Lease: only now this replica may work.
func (e *Election) Open(ctx context.Context, session string) error {
	key, waitsFor := client.ObjectKey{Namespace: e.Namespace, Name: e.ID.LeaseName()}, ""

	return apiwait.PollUntilContextCancel(ctx, e.Timing.RetryPeriod/2, true, func(ctx context.Context) (bool, error) {
		l, err := get(ctx, e.Kube, key)
		if err != nil {
			e.Log.Info("Cannot find out whether this instance may work, trying again", "error", err)

			return false, nil
		}

		ended := func(last string) bool {
			dead := e.hasEnded(ctx, l)
			if !dead && last != waitsFor {
				waitsFor = last
				e.Log.Info("Waiting for the session of the previous instance to end, or to expire", "lease", last)
			}

			return dead
		}

		switch decideGate(l, e.Identity, session, ended) {
		case enter:
			e.name(l, session)

			// After a conflict or without an answer, the next read shows what the Lease says.
			if err := e.Kube.Update(ctx, l); err != nil {
				return false, nil
			}
		case proceed:
		case standBy, awaitEnd:
			return false, nil
		}

		e.mu.Lock()
		defer e.mu.Unlock()

		e.opened = session

		return true, nil
	})
}

// name records a session of this process in the Lease. Its own Lease may be gone when an observer asks for how long it may
// work.
func (e *Election) name(l *coordinationv1.Lease, session string) {
	metav1.SetMetaDataAnnotation(&l.ObjectMeta, shard.SessionAnnotationKey, session)
	metav1.SetMetaDataAnnotation(&l.ObjectMeta, shard.LongestAnnotationKey, strconv.Itoa(int(e.Timing.Longest()/time.Second)))
}

// hasEnded says whether the session that the Lease names has ended.
func (e *Election) hasEnded(ctx context.Context, l *coordinationv1.Lease) bool {
	ctx, cancel := context.WithTimeout(ctx, e.Timing.request())
	defer cancel()

	// It is 0 if it is not known.
	longest, _ := strconv.ParseInt(l.GetAnnotations()[shard.LongestAnnotationKey], 10, 32)

	return e.Observer.State(ctx, commonv1beta1.Claim{
		Namespace: e.Namespace, Lease: l.GetAnnotations()[shard.SessionAnnotationKey], Instance: e.ID.Instance(), LongestSeconds: longest,
	}) == Dead
}

// awaits returns the session that has to end before this replica may take the Lease, or "" if it holds it.
func (e *Election) awaits(l *coordinationv1.Lease) string {
	e.mu.Lock()
	defer e.mu.Unlock()

	last := l.GetAnnotations()[shard.SessionAnnotationKey]
	if e.holder == e.Identity || last == e.opened {
		return ""
	}

	return last
}

// Decided returns an error if it is not known yet which replica works.
func (e *Election) Decided() error {
	e.mu.Lock()
	defer e.mu.Unlock()

	switch lease := e.Namespace + "/" + e.ID.LeaseName(); {
	case e.holder != "":
		return nil
	case e.unread != nil:
		return errors.Wrapf(e.unread, "cannot get Lease %s", lease)
	default:
		return errors.Errorf("nobody holds Lease %s", lease)
	}
}

// Holds says whether this replica holds the Lease.
func (e *Election) Holds() bool {
	e.mu.Lock()
	defer e.mu.Unlock()

	return e.holder == e.Identity
}

// Former returns the last holder of the Lease before this one that had no session, or "".
func (e *Election) Former() string {
	e.mu.Lock()
	defer e.mu.Unlock()

	return e.former
}

// follow records the holder of the Lease.
func (e *Election) follow(l *coordinationv1.Lease) {
	e.mu.Lock()
	defer e.mu.Unlock()

	holder := ptr.Deref(l.Spec.HolderIdentity, "")
	if l.GetAnnotations()[shard.SessionAnnotationKey] == "" && holder != "" && holder != e.Identity {
		e.former = holder
	}

	switch before := e.holder; {
	case holder == before, holder == "", holder == e.Identity:
	case e.opened != "":
		e.Lost(errors.Errorf("the Lease %s/%s of this instance is held by %q: find out whether two instances have the same shard name, or who changes Leases", e.Namespace, e.ID.LeaseName(), holder))
	default:
		e.Log.Info("The Lease cannot be taken yet", "lease", e.Namespace+"/"+e.ID.LeaseName(),
			"reason", errors.Errorf("it is held by %q, until that releases it or has not renewed it for %ds", holder, ptr.Deref(l.Spec.LeaseDurationSeconds, 0)))
	}

	e.holder = cmp.Or(holder, e.holder)
}

// electionLeases is a client of the Lease of an Election. A LeaseLock knows no annotations.
type electionLeases struct {
	coordinationv1client.LeaseInterface

	election *Election
}

// Leases returns the client itself: a LeaseLock needs a client of any namespace, and uses one.
func (c *electionLeases) Leases(string) coordinationv1client.LeaseInterface { return c }

func (c *electionLeases) Get(ctx context.Context, name string, o metav1.GetOptions) (*coordinationv1.Lease, error) {
	l, err := c.LeaseInterface.Get(ctx, name, o)

	c.election.mu.Lock()
	c.election.unread = err
	c.election.mu.Unlock()

	return c.followed(l, err)
}

// Create creates the Lease that a person has deleted, or the first one. It names the open session.
func (c *electionLeases) Create(ctx context.Context, l *coordinationv1.Lease, o metav1.CreateOptions) (*coordinationv1.Lease, error) {
	c.election.mu.Lock()
	opened := c.election.opened
	c.election.mu.Unlock()

	if opened != "" {
		c.election.name(l, opened)
	}

	return c.followed(c.LeaseInterface.Create(ctx, l, o))
}

// Update renews the Lease, or takes it. It is not taken before the session that it names has ended. In an outage of the API
// server the Lease expires, but an apply of its holder may go on for longer. If another replica were elected, the holder
// would interrupt it.
func (c *electionLeases) Update(ctx context.Context, l *coordinationv1.Lease, o metav1.UpdateOptions) (*coordinationv1.Lease, error) {
	if last := c.election.awaits(l); last != "" && !c.election.hasEnded(ctx, l) {
		return nil, errors.Errorf("session %q has not ended", last)
	}

	return c.followed(c.LeaseInterface.Update(ctx, l, o))
}

func (c *electionLeases) followed(l *coordinationv1.Lease, err error) (*coordinationv1.Lease, error) {
	if err == nil {
		c.election.follow(l)
	}

	return l, err
}
