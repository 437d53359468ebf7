// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"math"
	"os"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"

	namespacedv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/namespaced/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/shard"
)

const (
	// memoryWorkers is large, so that the instance soon reconciles all Workspaces.
	memoryWorkers = 100

	// collections of garbage that are waited for before the heap is read.
	collections = 10

	// few Workspaces need so little memory that the differences between two starts are
	// some percent of it. The mean of several starts is used.
	few = 1000

	fewStarts = 3

	// example of the Workspaces. Its size is realistic. A minimal Workspace would need
	// less memory than those of users.
	example = "examples/namespaced/workspace-inline.yaml"
)

// memories measures the memory of instances for Workspaces that are Ready and wait for
// their next poll: of one instance that serves all of them, and of shards.
func (b *bench) memories(ctx context.Context, r *report) error {
	lean := *b
	// Measured memory is close to live memory: the garbage collector runs often, and caches of the
	// runtime and libraries exist once and not once per CPU.
	lean.variables = []string{"GOGC=10", "GOMAXPROCS=1"}

	shards := namesOf("memory", split)

	model, err := lean.model(ctx)
	if err != nil {
		return err
	}

	// Threads, connections and metrics come with the first Workspaces, and are not heap
	// for the others. Each worker has got one.
	first := memoryWorkers * split
	there := 0
	before := map[int]memory{}

	for _, size := range append([]int{0}, b.held...) {
		b.sayf("memory: creation of %d Workspaces", first+size-there)

		if err := b.createSettled(ctx, model, shards, there, first+size); err != nil {
			return err
		}

		there = first + size

		for _, n := range []int{1, split} {
			b.sayf("memory: %d Workspaces on %s", there, plural(n, "instance"))

			m, err := lean.memory(ctx, shards[:n], size, there/n)
			if err != nil {
				return err
			}

			if size == 0 {
				before[n] = m

				continue
			}

			m.Workspaces, m.Before = size, before[n].Heap

			if n == 1 {
				if m.MaxRSS, err = b.maxRSS(ctx, there); err != nil {
					return err
				}
			}

			r.Memory = append(r.Memory, m)
		}
	}

	return nil
}

// memory returns the mean of instances, one for each of the supplied shards, after each has
// reconciled its share of the Workspaces. A single instance has no shard. If the Workspaces are few,
// it is the mean of several starts.
func (b *bench) memory(ctx context.Context, shards []string, size, share int) (memory, error) {
	mean, starts := memory{Shards: len(shards)}, 1
	if size <= few {
		starts = fewStarts
	}

	if len(shards) == 1 {
		shards = []string{""}
	}

	for range starts {
		if err := b.addMemory(ctx, &mean, shards, share, float64(starts*len(shards))); err != nil {
			return memory{}, err
		}
	}

	return mean, nil
}

// addMemory starts instances, and adds what each of them needs to the mean of n.
func (b *bench) addMemory(ctx context.Context, mean *memory, shards []string, share int, n float64) error {
	instances, err := b.startShards(ctx, shards, memoryWorkers)
	if err != nil {
		return err
	}
	defer killAll(instances)

	for _, i := range instances {
		if err := i.idle(ctx, share); err != nil {
			return err
		}
	}

	all := make([]memory, len(instances))
	g := &errgroup.Group{}

	for k, i := range instances {
		g.Go(func() (err error) {
			all[k], err = i.memory(ctx)

			return err
		})
	}

	if err := g.Wait(); err != nil {
		return err
	}

	for _, one := range all {
		mean.Heap += one.Heap / n
		mean.RSS += one.RSS / n
		mean.Goroutines += one.Goroutines / n
	}

	return stopAll(instances)
}

// maxRSS returns the largest RSS of one instance with the default rate, in bytes, after it has
// reconciled all Workspaces.
func (b *bench) maxRSS(ctx context.Context, there int) (float64, error) {
	var r reading

	err := b.withInstance(ctx, "memory", 1, func(i *instance) (err error) {
		r, err = i.readIdle(ctx, there)

		return err
	}, "--poll="+never.String())

	return float64(r.rss), err
}

// memory of the instance. The heap is the smallest one after several garbage collections.
func (i *instance) memory(ctx context.Context) (memory, error) {
	m := memory{Heap: math.Inf(1)}
	first := -1.0

	// Each scrape makes some garbage, so that there are collections.
	err := i.until(ctx, 0, func(s series) error {
		cycles := s.sum("go_gc_cycles_total_gc_cycles_total", "")
		if first < 0 {
			first = cycles
		}

		if cycles > first {
			m.Heap = min(m.Heap, s.sum("go_gc_heap_live_bytes", ""))
		}

		m.RSS = s.sum("process_resident_memory_bytes", "")
		m.Goroutines = s.sum("go_goroutines", "")

		if cycles < first+collections {
			return errors.Errorf("%g of %d collections", cycles-first, collections)
		}

		return nil
	})

	return m, err
}

// createSettled creates Workspaces that are Ready and wait for their next poll, up to
// the supplied number: copies of the model.
func (b *bench) createSettled(ctx context.Context, model *namespacedv1beta1.Workspace, shards []string, from, to int) error {
	var all []*namespacedv1beta1.Workspace

	for n := from; n < to; n++ {
		ws := model.DeepCopy()

		ws.ObjectMeta = metav1.ObjectMeta{
			Namespace:   namespace,
			Name:        numbered("settled", n),
			Annotations: model.GetAnnotations(),
			Finalizers:  model.GetFinalizers(),
		}
		if len(shards) > 0 {
			ws.Labels = map[string]string{shard.LabelKey: shards[n%len(shards)]}
		}

		all = append(all, ws)
	}

	usages := resource.NewProviderConfigUsageTracker(b.plane.Kube, &namespacedv1beta1.ProviderConfigUsage{})

	return each(ctx, writers, all, func(ctx context.Context, ws *namespacedv1beta1.Workspace) error {
		if err := b.plane.Kube.Create(ctx, ws); err != nil {
			return errors.Wrap(err, "cannot create Workspace")
		}

		ws.Status = *model.Status.DeepCopy()
		if err := b.plane.Kube.Status().Update(ctx, ws); err != nil {
			return errors.Wrap(err, "cannot update Workspace")
		}

		// The first plan records it, and each instance caches it.
		ws.SetGroupVersionKind(namespacedv1beta1.WorkspaceGroupVersionKind)

		return errors.Wrap(usages.Track(ctx, ws), "cannot record usage of ProviderConfig")
	})
}

// model makes the example of a Workspace Ready and returns it. A copy of it, status and name of the
// Terraform workspace included, is as good as if it had been made Ready itself.
func (b *bench) model(ctx context.Context) (*namespacedv1beta1.Workspace, error) {
	text, err := os.ReadFile(example)
	if err != nil {
		return nil, err
	}

	ws := &namespacedv1beta1.Workspace{}
	if err := yaml.UnmarshalStrict(text, ws); err != nil {
		return nil, errors.Wrap(err, example)
	}

	ws.SetNamespace(namespace)

	if err := b.withInstance(ctx, "model", 1, func(i *instance) error {
		if _, err := b.untilReady(ctx, []*namespacedv1beta1.Workspace{ws}); err != nil {
			return err
		}

		if err := i.idle(ctx, 1); err != nil {
			return err
		}

		return b.plane.Kube.Get(ctx, client.ObjectKeyFromObject(ws), ws)
	}, "--poll="+never.String()); err != nil {
		return nil, err
	}

	return ws, b.clear(ctx)
}
