// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"runtime"
	"sync/atomic"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"

	namespacedv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/namespaced/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/shard"
	"github.com/crossplane-contrib/provider-terraform/internal/shard/assigner"
	"github.com/crossplane-contrib/provider-terraform/internal/shard/session"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
	"github.com/crossplane-contrib/provider-terraform/test/apiserver"
	"github.com/crossplane-contrib/provider-terraform/test/spread"
	"github.com/crossplane-contrib/provider-terraform/test/wait"
)

const (
	// elasticLease and elasticGrace are shorter than the defaults: the loss of a shard takes both.
	elasticLease = 15 * time.Second
	elasticGrace = 5 * time.Second

	// movable is the number of Workspaces that move when a shard joins or is lost.
	movable = 1000
)

// elastics measures shards that assign Workspaces to themselves: the assigner alone, for each
// size, and real instances of which one joins and one is killed.
func (b *bench) elastics(ctx context.Context, r *report) error {
	// Those of another part own the state of the model.
	if err := b.clear(ctx); err != nil {
		return err
	}

	model, err := b.model(ctx)
	if err != nil {
		return err
	}

	for _, size := range b.held {
		b.sayf("elastic: creation of %d Workspaces without a label", size)

		if err := b.createSettled(ctx, model, nil, 0, size); err != nil {
			return err
		}

		b.sayf("elastic: %d Workspaces are assigned", size)

		a, err := b.assignment(ctx, size)
		if err != nil {
			return err
		}

		r.Assigned = append(r.Assigned, a)

		if err := b.clear(ctx); err != nil {
			return err
		}
	}

	moves, err := b.moves(ctx, model)
	r.Moves = moves

	return err
}

// moves lets a third shard join two, and kills one of the three.
func (b *bench) moves(ctx context.Context, model *namespacedv1beta1.Workspace) ([]move, error) {
	names := namesOf("elastic", 3)

	b.sayf("elastic: creation of %d Workspaces without a label", movable)

	if err := b.createSettled(ctx, model, nil, 0, movable); err != nil {
		return nil, err
	}

	args := []string{
		"--assign-shards", "--assign-rate=1000", "--shard-grace-period=" + elasticGrace.String(),
		"--lease-duration=" + elasticLease.String(), "--lease-renew-deadline=" + (elasticLease * 2 / 3).String(),
	}

	instances, err := b.startShards(ctx, names[:2], memoryWorkers, args...)
	if err != nil {
		return nil, err
	}
	defer func() { killAll(instances) }()

	served, err := b.untilServed(ctx, names[:2])
	if err != nil {
		return nil, err
	}

	b.sayf("elastic: a shard joins")

	joined, err := b.move(ctx, served, &instances, names, func() error {
		third, err := b.startShards(ctx, names[2:], memoryWorkers, args...)
		instances = append(instances, third...)

		return err
	})
	if err != nil {
		return nil, err
	}

	joined.What = fmt.Sprintf("a shard joins two, with %d idle Workspaces", movable)

	b.sayf("elastic: a shard is killed")

	killed := instances[0]
	instances = instances[1:]

	lost, err := b.move(ctx, served, &instances, names[1:], func() error {
		killed.Kill()

		return nil
	})
	if err != nil {
		return nil, err
	}

	lost.What = fmt.Sprintf("one of three shards is killed, with %d idle Workspaces", movable)
	lost.Wait = (elasticLease + elasticGrace).Seconds()

	return []move{joined, lost}, errors.Join(stopAll(instances), b.clear(ctx))
}

// move changes the shards, and waits until each Workspace is served by its own one of the supplied
// ones. It counts the runs of the CLI by the instances, and the Workspaces that were served
// elsewhere before.
func (b *bench) move(ctx context.Context, served map[string]string, instances *[]*instance, names []string, change func() error) (move, error) {
	before, err := runsOf(ctx, *instances)
	if err != nil {
		return move{}, err
	}

	start := time.Now()

	if err := change(); err != nil {
		return move{}, err
	}

	now, err := b.untilServed(ctx, names)
	if err != nil {
		return move{}, err
	}

	m := move{Ideal: float64(len(now)) / 3, Seconds: time.Since(start).Seconds()}

	after, err := runsOf(ctx, *instances)
	if err != nil {
		return move{}, err
	}

	m.Runs = after - before

	for name, by := range now {
		if served[name] != by {
			m.Moved++
		}
	}

	maps.Copy(served, now)

	return m, nil
}

// untilServed waits until the Workspaces are spread over the shards, and no live instance of another shard has
// claimed one. It returns the shard of each, by the name of the Workspace.
func (b *bench) untilServed(ctx context.Context, names []string) (map[string]string, error) {
	served := map[string]string{}

	err := wait.Until(ctx, 10*wait.Patience, func() error {
		if err := wait.For(ctx, time.Second/2); err != nil {
			return err
		}

		l := &namespacedv1beta1.WorkspaceList{}
		if err := b.plane.Kube.List(ctx, l, client.InNamespace(namespace)); err != nil {
			return err
		}

		leases, live := &coordinationv1.LeaseList{}, map[string]bool{}
		if err := b.plane.Kube.List(ctx, leases, client.InNamespace(namespace), client.HasLabels{shard.InstanceLabelKey}); err != nil {
			return err
		}

		for _, l := range leases.Items {
			live[l.GetName()] = ptr.Deref(l.Spec.HolderIdentity, "") != ""
		}

		var labels []map[string]string

		waiting := 0

		for i := range l.Items {
			ws := &l.Items[i]
			labels = append(labels, ws.GetLabels())

			id, err := shard.Parse(ws.GetLabels()[shard.LabelKey])
			if err != nil {
				return err
			}

			c := ws.GetOwnership().Claim
			if ws.GetLabels()[shard.LabelKey] != id.Name() || c != nil && c.Instance != id.Instance() && live[c.Lease] {
				waiting++

				continue
			}

			served[ws.GetName()] = id.Name()
		}

		if waiting > 0 {
			return errors.Errorf("%d Workspaces are not served by their shard", waiting)
		}

		return spread.Check(names, labels...)
	})

	return served, err
}

// runsOf returns how often the instances have run the CLI, apart from asking for its version when
// they started.
func runsOf(ctx context.Context, instances []*instance) (float64, error) {
	n := 0.0

	for _, i := range instances {
		s, err := scrape(ctx, i.Metrics)
		if err != nil {
			return 0, err
		}

		n += s.sum(cliRuns, "") - s.sum(cliRuns, "version")
	}

	return n, nil
}

type move struct {
	What  string `json:"what"`
	Moved int    `json:"moved"`

	// Ideal is how many Workspaces are the share of the shard.
	Ideal float64 `json:"ideal"`

	// Seconds until the last one was served by its new shard, and Wait how long the loss of a
	// shard takes to be believed.
	Seconds float64 `json:"seconds"`
	Wait    float64 `json:"wait,omitempty"`

	Runs float64 `json:"runs"`
}

func (m move) rows() []row {
	took := row{m.What + ": time until the last one is served", seconds(m.Seconds)}
	if m.Wait > 0 {
		took[2] = seconds(m.Wait) + " Lease and grace period"
	}

	return []row{
		{m.What + ": moved", number(float64(m.Moved)), number(m.Ideal) + " share of a shard", ratio(float64(m.Moved) / m.Ideal)},
		took,
		row{0: m.What + ": runs of the CLI", 1: number(m.Runs)}.bounded(m.Runs, 0, atMost, number),
	}
}

// assignment runs an assigner in this process, until all Workspaces have a label.
func (b *bench) assignment(ctx context.Context, size int) (assigned, error) {
	requests := atomic.Int64{}
	config := apiserver.Through(b.plane.Config(), func(r *http.Request, next http.RoundTripper) (*http.Response, error) {
		requests.Add(1)

		return next.RoundTrip(r)
	})

	kube, err := client.New(config, client.Options{Scheme: b.plane.Kube.Scheme()})
	if err != nil {
		return assigned{}, err
	}

	a := assigned{Workspaces: size}
	before := liveHeap()

	ctx, cancel := context.WithCancel(ctx)
	defer cancel()

	m := &movesCounter{}
	worker := &assigner.Assigner{
		Config:    config,
		Namespace: namespace,
		Identity:  "bench",
		Kinds:     workspace.GroupVersionKinds(),
		Live:      kube,
		Kube:      kube,
		Leases:    staticShards{},
		Grace:     elasticGrace,
		Rate:      1000000, // In effect there is no limit.
		Metrics:   m,
		Log:       logging.NewNopLogger(),
	}
	ended := make(chan error, 1)

	go func() { ended <- worker.Start(ctx) }()

	start := time.Now()

	if err := wait.Until(ctx, 10*wait.Patience, func() error {
		if have := m.n.Load(); have < int64(size) {
			return errors.Errorf("%d of %d Workspaces are assigned", have, size)
		}

		return nil
	}); err != nil {
		return assigned{}, err
	}

	a.Seconds = time.Since(start).Seconds()
	a.Requests = float64(requests.Load()) / float64(size)
	a.Heap = liveHeap() - before

	cancel()

	return a, <-ended
}

// liveHeap is the heap of this process after a garbage collection, in bytes.
func liveHeap() float64 {
	m := runtime.MemStats{}

	runtime.GC()
	runtime.ReadMemStats(&m)

	return float64(m.HeapAlloc)
}

type staticShards struct{}

func (staticShards) Shards() (map[string]session.Presence, bool) {
	here := session.Presence{Alive: true, Renewed: true}

	return map[string]session.Presence{"a": here, "b": here, "c": here}, true
}

type movesCounter struct{ n atomic.Int64 }

func (*movesCounter) Members(int) {}
func (m *movesCounter) Moved()    { m.n.Add(1) }

// assigned is the cost of the assignment of Workspaces without a label.
type assigned struct {
	Workspaces int     `json:"workspaces"`
	Seconds    float64 `json:"seconds"`

	Requests float64 `json:"requests"`

	// Heap of the assigner afterwards, in bytes.
	Heap float64 `json:"heap"`
}

func (a assigned) rows(first assigned) []row {
	name := func(what string) string {
		return fmt.Sprintf("%d Workspaces without a label: %s", a.Workspaces, what)
	}

	heap := row{name("heap of the assigner"), megabytes(a.Heap)}
	if a != first {
		heap[2] = megabytes(first.Heap) + fmt.Sprintf(" for %d", first.Workspaces)
		heap = heap.bounded(a.Heap, max(first.Heap, 0)+heapMargin, atMost, megabytes)
	}

	return []row{
		{name("assigned per second"), number(float64(a.Workspaces) / a.Seconds)},
		{name("API requests each"), number(a.Requests)},
		heap,
	}
}
