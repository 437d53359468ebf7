// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package lease

import (
	"context"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"

	"github.com/crossplane-contrib/provider-terraform/internal/periodic"
	"github.com/crossplane-contrib/provider-terraform/internal/shard"
)

// An Observer decides by the rules of the package which instances are alive. It reads the Leases of one
// namespace at intervals. It is safe for concurrent use.
type Observer struct {
	live      client.Reader
	namespace string
	timing    Timing
	interval  time.Duration
	now       func() time.Time
	log       logging.Logger

	mu sync.Mutex

	// leases are not forgotten when they are deleted: an unsharded instance asks about their holders at
	// each poll of a Workspace that one of them had claimed. Each needs less than a kilobyte.
	leases map[client.ObjectKey]*trackedLease
	listed time.Time
}

// A trackedLease is one Lease, as of the last read.
type trackedLease struct {
	observation

	// read is the time of that read.
	read time.Time

	// renewed says that the Lease was seen to appear or to change, and assignable what the Lease
	// says.
	renewed, assignable bool
}

// NewObserver returns an Observer that reads with live, which must not be a cache: a cache may be
// older than the Lease in question. t is the timing of the Leases. An answer of alive may be as old
// as its retry period.
func NewObserver(live client.Reader, namespace string, t Timing, log logging.Logger) *Observer {
	return &Observer{
		live:      live,
		namespace: namespace,
		timing:    t,
		// That notices the death of an instance not much later than a constant watch.
		interval: max(t.Duration/6, t.RetryPeriod),
		now:      time.Now,
		log:      log,
		leases:   map[client.ObjectKey]*trackedLease{},
	}
}

// Start observes all Leases until ctx is done, so that the time of the last change of each is
// known before its state is requested.
func (o *Observer) Start(ctx context.Context) error {
	return periodic.Task{
		Interval: o.interval,
		AtOnce:   true,
		Do:       o.refresh,
		Failed:   func(err error) { o.log.Info("Cannot list the Leases of other instances", "error", err) },
	}.Start(ctx)
}

// NeedLeaderElection returns false: a standby replica observes, too, and so knows which instances
// are dead when it takes over.
func (o *Observer) NeedLeaderElection() bool { return false }

// Namespace of the Leases.
func (o *Observer) Namespace() string { return o.namespace }

// State of the instance with the supplied identity and Lease. An answer of alive may be a little
// old: the instance may be dead now. An answer of dead needs a read that started after this call: at
// an earlier read the instance may not have started yet. The Lease may be in another namespace.
// There it is read only when its state is requested, and without the right to read it the state is
// unknown.
func (o *Observer) State(ctx context.Context, lease client.ObjectKey, identity string) State {
	// The answer of the API server may arrive late, for example after this process was stopped. The
	// instance may have renewed its Lease in the meantime. Therefore the time of the request counts.
	asked := o.now()

	if o.recently(lease, func(r *trackedLease) bool { return r.mayLive(identity, asked) }) {
		return Alive
	}

	l, err := o.get(ctx, lease)
	if err != nil {
		return Unknown
	}

	o.mu.Lock()
	defer o.mu.Unlock()

	return o.track(lease, l).state(identity, asked)
}

// held says whether any instance may hold the Lease.
func (r *trackedLease) held(now time.Time) bool {
	holder, _ := r.alive(now)

	return holder != ""
}

// recently says whether an instance was alive at the last read of its Lease, a moment ago.
func (o *Observer) recently(lease client.ObjectKey, alive func(*trackedLease) bool) bool {
	o.mu.Lock()
	defer o.mu.Unlock()

	r, ok := o.leases[lease]

	return ok && o.now().Sub(r.read) < o.timing.RetryPeriod && alive(r)
}

func (o *Observer) unsharded() client.ObjectKey {
	return client.ObjectKey{Namespace: o.namespace, Name: shard.ID{}.LeaseName()}
}

// Unsharded returns the state of the unsharded instance: it is alive if any instance may hold that
// Lease. As for State, an answer of alive may be a little old, and an answer of dead needs a read.
func (o *Observer) Unsharded(ctx context.Context) State {
	asked := o.now()

	if o.recently(o.unsharded(), func(r *trackedLease) bool { return r.held(asked) }) {
		return Alive
	}

	l, err := o.get(ctx, o.unsharded())
	if err != nil {
		return Unknown
	}

	o.mu.Lock()
	defer o.mu.Unlock()

	if o.track(o.unsharded(), l).held(asked) {
		return Alive
	}

	return Dead
}

// UnshardedHosts returns the hosts of the unsharded instances that held their Lease, the latest
// first, as of the last read.
func (o *Observer) UnshardedHosts() []string {
	o.mu.Lock()
	defer o.mu.Unlock()

	r, ok := o.leases[o.unsharded()]
	if !ok {
		return nil
	}

	return hostsOf(r.names, "")
}

// Serving returns the IDs of all instances that hold their Lease, as of the last list of all
// Leases. It returns false if the last list is too old: all instances would seem to be dead.
func (o *Observer) Serving() ([]shard.ID, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()

	var ids []shard.ID

	for key, r := range o.leases {
		if id, ok := shard.FromLeaseName(key.Name); !ok || key.Namespace != o.namespace {
			continue
		} else if r.held(o.now()) {
			ids = append(ids, id)
		}
	}

	return ids, o.fresh()
}

// fresh says whether the last list of all Leases is recent enough to know which instances there are.
func (o *Observer) fresh() bool { return !o.listed.IsZero() && o.now().Sub(o.listed) < o.listAge() }

// listAge is the age at which a list is too old.
func (o *Observer) listAge() time.Duration { return max(o.timing.Duration/2, 2*o.interval) }

// A Presence says whether a shard has an instance.
type Presence struct {
	// Alive says that an instance may hold the Lease, and Renewed that it was seen to write it.
	// The holder of a Lease that was never seen to change may have died long ago.
	Alive, Renewed bool
}

// Shards returns the shards that have a Lease and that Workspaces may be assigned to, by name, as
// of the last list of all Leases. It returns false if the last list is too old.
func (o *Observer) Shards() (map[string]Presence, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()

	shards := map[string]Presence{}

	for key, r := range o.leases {
		if id, ok := shard.FromLeaseName(key.Name); ok && id.Name() != "" && key.Namespace == o.namespace && r.assignable && !r.missing {
			shards[id.Name()] = Presence{Alive: r.held(o.now()), Renewed: r.renewed}
		}
	}

	return shards, o.fresh()
}

// get reads one Lease. It returns nil if there is none.
func (o *Observer) get(ctx context.Context, key client.ObjectKey) (*coordinationv1.Lease, error) {
	l := &coordinationv1.Lease{}

	err := o.live.Get(ctx, key, l)
	if kerrors.IsNotFound(err) {
		return nil, nil //nolint:nilnil // A missing Lease is an answer.
	}

	return l, errors.Wrapf(err, "cannot get Lease %q", key)
}

// refresh reads all Leases. A request without an answer must not keep the next ones back.
func (o *Observer) refresh(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, o.listAge())
	defer cancel()

	// The kubernetes backend of the CLI keeps a Lease for each state, perhaps in the same namespace.
	notOfStates, err := labels.Parse("!tfstate")
	if err != nil {
		return errors.Wrap(err, "cannot parse selector of Leases")
	}

	list := &coordinationv1.LeaseList{}
	if err := o.live.List(ctx, list, client.InNamespace(o.namespace), client.MatchingLabelsSelector{Selector: notOfStates}); err != nil {
		return errors.Wrap(err, "cannot list Leases")
	}

	o.mu.Lock()
	defer o.mu.Unlock()

	found := make(map[client.ObjectKey]bool, len(list.Items))

	for i := range list.Items {
		l := &list.Items[i]
		if _, ok := shard.FromLeaseName(l.GetName()); ok {
			key := client.ObjectKey{Namespace: o.namespace, Name: l.GetName()}
			found[key] = true
			o.track(key, l)
		}
	}

	for key := range o.leases {
		// Its holder counts as dead one duration after the deletion of the Lease was noticed.
		if key.Namespace == o.namespace && !found[key] {
			o.track(key, nil)
		}
	}

	o.listed = o.now()

	return nil
}

// track stores the Lease that was read, or nil if there is none.
func (o *Observer) track(key client.ObjectKey, l *coordinationv1.Lease) *trackedLease {
	r, ok := o.leases[key]
	if !ok {
		// A Lease that was not there at the last list has just been written.
		r = &trackedLease{observation: newObservation(o.timing), renewed: !o.listed.IsZero()}
		o.leases[key] = r
	}

	before := r.version
	r.see(l, o.now())
	r.read = o.now()
	r.renewed = r.renewed || (ok && r.version != before)

	if l != nil {
		r.assignable = l.GetLabels()[shard.AssignableLabelKey] == "true"
	}

	return r
}
