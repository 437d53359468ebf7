// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"cmp"
	"context"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/shard"
)

// A State says whether a session has ended.
type State string

// The states of a session.
const (
	// Alive is a session that has not ended, as far as is known. Its process may be running.
	Alive State = "alive"

	// Dead is a session that has ended. Its process runs nothing and never will again.
	Dead State = "dead"

	// Unknown is a session whose Lease cannot be read, or whose end cannot be written.
	Unknown State = "unknown"
)

// An Observer knows the sessions of all processes, and ends those that have expired. It lists the Leases
// of one namespace at intervals, more often while a caller waits for an end. It is safe for concurrent use.
type Observer struct {
	kube      client.Client
	namespace string
	timing    Timing
	interval  time.Duration
	now       func() time.Time
	log       logging.Logger

	// ended is called with each session that is found to have ended. It must not block.
	ended func(client.ObjectKey)

	// wake says that a caller waits for an end.
	wake chan struct{}

	mu       sync.Mutex
	sessions map[client.ObjectKey]*tracked
	listed   time.Time
}

// tracked is what is known of one session. It is never forgotten that one has ended.
type tracked struct {
	observation

	// lease as of the last read, or nil if there was none. at is the time of that read. unlisted says that
	// the last list did not have it.
	lease    *coordinationv1.Lease
	at       time.Time
	unlisted bool

	// named is what the last claim says about the session, with the longest duration of all.
	named commonv1beta1.Claim

	// appeared says that the session was opened after the first list.
	appeared bool

	// awaited is when a caller last asked about the session and learned that it has not ended.
	awaited time.Time
}

// NewObserver returns an Observer that reads and writes with kube, which must not read from a cache: a
// cache may be older than the Lease in question. t is the timing of the sessions.
func NewObserver(kube client.Client, namespace string, t Timing, log logging.Logger) *Observer {
	return &Observer{
		kube:      kube,
		namespace: namespace,
		timing:    t,
		// Sessions that are lost are ended later by as much: it counts when their last version was seen.
		interval: max(t.Duration/15, t.RetryPeriod),
		now:      time.Now,
		log:      log,
		ended:    func(client.ObjectKey) {},
		wake:     make(chan struct{}, 1),
		sessions: map[client.ObjectKey]*tracked{},
	}
}

// OnEnd sets the function that is called with each session that is found to have ended. It must not
// block.
func (o *Observer) OnEnd(fn func(client.ObjectKey)) {
	o.mu.Lock()
	defer o.mu.Unlock()

	o.ended = fn
}

// Start observes all sessions until ctx is done, so that the time of the last change of each is known
// before its state is requested.
func (o *Observer) Start(ctx context.Context) error {
	for {
		if err := o.refresh(ctx); err != nil && ctx.Err() == nil {
			o.log.Info("Cannot list the Leases of other instances", "error", err)
		}

		next := time.After(o.interval)
		if len(o.awaited()) > 0 {
			next = time.After(o.timing.RetryPeriod)
		}

		select {
		case <-ctx.Done():
			return nil
		case <-next:
		case <-o.wake:
			select {
			case <-ctx.Done():
			case <-time.After(o.timing.RetryPeriod):
			}
		}
	}
}

// State returns the state of the session that a claim names. It is Dead when the Lease of the session
// says so: for a session that has expired, State writes that first. The Lease may be in another
// namespace. An answer may be as old as the retry period.
func (o *Observer) State(ctx context.Context, c commonv1beta1.Claim) State {
	key := client.ObjectKey{Namespace: c.Namespace, Name: c.Lease}

	o.mu.Lock()
	t := o.track(key)
	// An old CRD drops the duration from claims.
	c.LongestSeconds = max(c.LongestSeconds, t.named.LongestSeconds)
	t.named = c
	recent := t.ended || o.now().Sub(t.at) < o.timing.RetryPeriod
	o.mu.Unlock()

	if !recent {
		if err := o.read(ctx, key); err != nil {
			return Unknown
		}
	}

	if err := o.expire(ctx, key); err != nil {
		o.log.Debug("Cannot end a session that has expired", "lease", key, "error", err)

		return Unknown
	}

	o.mu.Lock()
	defer o.mu.Unlock()

	if t.ended {
		return Dead
	}

	if o.now().Sub(t.awaited) > o.interval {
		select {
		case o.wake <- struct{}{}:
		default:
		}
	}

	t.awaited = o.now()

	return Alive
}

// track returns what is known of a session. The caller holds mu.
func (o *Observer) track(key client.ObjectKey) *tracked {
	t, ok := o.sessions[key]
	if !ok {
		t = &tracked{observation: newObservation(), appeared: !o.listed.IsZero()}
		o.sessions[key] = t
	}

	return t
}

// read reads one Lease.
func (o *Observer) read(ctx context.Context, key client.ObjectKey) error {
	l, err := get(ctx, o.kube, key)
	if err == nil {
		o.see(key, l)
	}

	return err
}

// see records the Lease that was read, or nil if there was none.
func (o *Observer) see(key client.ObjectKey, l *coordinationv1.Lease) {
	o.mu.Lock()
	defer o.mu.Unlock()

	t := o.track(key)
	before := t.ended
	t.see(l, o.now())
	t.lease, t.at, t.unlisted = l, o.now(), false

	if t.ended && !before {
		o.ended(key)
	}
}

// expire ends a session if it has expired.
func (o *Observer) expire(ctx context.Context, key client.ObjectKey) error {
	o.mu.Lock()
	t := o.track(key)
	l, named := t.lease, t.named
	longest := max(o.timing.Longest(), time.Duration(named.LongestSeconds)*time.Second)
	expired := !t.ended && t.expired(o.now(), o.timing.Duration, longest)
	o.mu.Unlock()

	if !expired {
		return nil
	}

	holder := named.Holder
	if l != nil {
		holder = cmp.Or(ptr.Deref(l.Spec.HolderIdentity, ""), holder)
	}

	switch err := writeEnd(ctx, o.kube, key, l, cmp.Or(holder, key.Name), named.Instance); {
	case err == nil:
		o.log.Info("Ended a session that was not renewed for its duration", "lease", key, "holder", holder)
	case l == nil && (isNamespaceMissing(err) || kerrors.IsForbidden(err)):
		// The end cannot be written, and need not be: a session whose Lease was gone once is never renewed again. The
		// API server asks for the right first, so that it forbids a Lease in a namespace that does not exist.
		o.log.Info("A session has ended whose Lease is gone", "lease", key, "holder", holder)

		o.mu.Lock()
		defer o.mu.Unlock()

		t.ended = true
		o.ended(key)

		return nil
	case !kerrors.IsConflict(err) && !kerrors.IsAlreadyExists(err) && !kerrors.IsNotFound(err):
		return errors.Wrapf(err, "cannot end session %q", key)
	}

	return o.read(ctx, key)
}

// isNamespaceMissing says whether an object could not be created because its namespace does not exist. Something
// between this process and the API server may answer any request with the same code.
func isNamespaceMissing(err error) bool {
	status := kerrors.APIStatus(nil)
	if !kerrors.IsNotFound(err) || !errors.As(err, &status) {
		return false
	}

	details := status.Status().Details

	return details != nil && details.Kind == "namespaces"
}

// awaited returns the sessions that a caller has asked about lately, and that have not ended.
func (o *Observer) awaited() []client.ObjectKey {
	o.mu.Lock()
	defer o.mu.Unlock()

	var keys []client.ObjectKey

	for key, t := range o.sessions {
		if !t.ended && o.now().Sub(t.awaited) < max(o.interval, 20*o.timing.RetryPeriod) {
			keys = append(keys, key)
		}
	}

	return keys
}

// refresh reads all Leases, and ends the sessions that have expired. A request without an answer must not
// keep the next ones back.
func (o *Observer) refresh(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, o.listAge())
	defer cancel()

	var failed []error

	found := map[client.ObjectKey]bool{}

	// An instance without a namespace for Leases reads those that claims name.
	if o.namespace != "" {
		list := &coordinationv1.LeaseList{}
		if err := o.kube.List(ctx, list, client.InNamespace(o.namespace), client.HasLabels{shard.InstanceLabelKey}); err != nil {
			return errors.Wrap(err, "cannot list Leases")
		}

		for i := range list.Items {
			key := client.ObjectKeyFromObject(&list.Items[i])
			found[key] = true
			o.see(key, &list.Items[i])
		}

		o.mu.Lock()
		o.listed = o.now()
		o.mu.Unlock()
	}

	// The Lease may be in another namespace, be gone, or have lost its label.
	for _, key := range o.awaited() {
		if !found[key] {
			failed = append(failed, o.read(ctx, key))
			found[key] = true
		}
	}

	for key := range found {
		failed = append(failed, o.expire(ctx, key))
	}

	o.forget(found)

	return errors.Join(failed...)
}

// forget records which sessions were not found.
func (o *Observer) forget(found map[client.ObjectKey]bool) {
	o.mu.Lock()
	defer o.mu.Unlock()

	for key, t := range o.sessions {
		t.unlisted = t.unlisted || !found[key]

		// It is a part of a list, which would stay in memory.
		if t.unlisted && t.ended {
			t.lease = nil
		}
	}
}

// Serving returns the IDs of all instances that have a session, as of the last list. It returns false if
// that list is too old.
func (o *Observer) Serving() ([]shard.ID, bool) {
	var ids []shard.ID

	recent := o.each(func(id shard.ID, t *tracked) {
		if !t.ended {
			ids = append(ids, id)
		}
	})

	return ids, recent
}

// A Presence says whether a shard has an instance.
type Presence struct {
	// Alive says that the shard has a session that has not ended, and Renewed that this one was seen to be
	// opened or renewed. The process of another one may have died long ago.
	Alive, Renewed bool
}

// Shards returns the shards that have the Lease of a session and that Workspaces may be assigned to, by
// name, as of the last list. It returns false if that list is too old.
func (o *Observer) Shards() (map[string]Presence, bool) {
	shards := map[string]Presence{}

	recent := o.each(func(id shard.ID, t *tracked) {
		if id.Name() == "" || t.lease.GetLabels()[shard.AssignableLabelKey] != "true" {
			return
		}

		p := shards[id.Name()]
		shards[id.Name()] = Presence{Alive: p.Alive || !t.ended, Renewed: p.Renewed || !t.ended && (t.changed || t.appeared)}
	})

	return shards, recent
}

// each calls fn with each session in the last list. It returns false if that list is too old.
func (o *Observer) each(fn func(id shard.ID, t *tracked)) bool {
	o.mu.Lock()
	defer o.mu.Unlock()

	for key, t := range o.sessions {
		if t.lease == nil || t.unlisted || key.Namespace != o.namespace {
			continue
		}

		if id, ok := shard.FromInstance(t.lease.GetLabels()[shard.InstanceLabelKey]); ok {
			fn(id, t)
		}
	}

	return !o.listed.IsZero() && o.now().Sub(o.listed) < o.listAge()
}

// listAge is the age at which a list is too old.
func (o *Observer) listAge() time.Duration { return max(o.timing.Duration/2, 2*o.interval) }
