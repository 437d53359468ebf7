// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"net/http"
	"runtime"
	"sync/atomic"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"

	"github.com/crossplane-contrib/provider-terraform/internal/shard/assigner"
	"github.com/crossplane-contrib/provider-terraform/internal/shard/lease"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
	"github.com/crossplane-contrib/provider-terraform/test/apiserver"
	"github.com/crossplane-contrib/provider-terraform/test/wait"
)

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

func (staticShards) Shards() (map[string]lease.Presence, bool) {
	here := lease.Presence{Alive: true, Renewed: true}

	return map[string]lease.Presence{"a": here, "b": here, "c": here}, true
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
