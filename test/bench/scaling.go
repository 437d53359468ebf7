// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	namespacedv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/namespaced/v1beta1"
)

// scalingWorkers is few, so that the machine has less to do than it can: applies wait.
const scalingWorkers = 1

// scalings measures how long slow applies take on different numbers of shards, each
// of which has the same number of Workspaces.
func (b *bench) scalings(ctx context.Context, r *report) error {
	shards := namesOf("slow", slices.Max(b.shards))

	instances, err := b.startShards(ctx, shards, scalingWorkers)
	if err != nil {
		return err
	}
	defer killAll(instances)

	// The costs of the first Workspace of a module are not part of the measurement.
	if _, err := b.untilReady(ctx, slowWorkspaces(shards, "first", 1, 0)); err != nil {
		return err
	}

	for _, n := range b.shards {
		b.sayf("slow applies on %s", plural(n, "shard"))

		took, err := b.untilReady(ctx, slowWorkspaces(shards[:n], numbered("of", n), b.slow, b.takes))
		if err != nil {
			return err
		}

		r.Scaling = append(r.Scaling, scaling{Shards: n, PerShard: b.slow, Takes: b.takes.Seconds(), Wall: took[len(took)-1].Seconds()})
	}

	if err := stopAll(instances); err != nil {
		return err
	}

	return b.clear(ctx)
}

// slowWorkspaces returns as many slow Workspaces for each of the shards.
func slowWorkspaces(shards []string, name string, number int, takes time.Duration) []*namespacedv1beta1.Workspace {
	var all []*namespacedv1beta1.Workspace

	for n := range number {
		for _, shard := range shards {
			all = append(all, newWorkspace(numbered(shard+"-"+name, n), shard, sleepModule, commonv1beta1.Var{Key: "takes", Value: takes.String()}))
		}
	}

	return all
}

// startShards starts an instance for each of the supplied shards. It has no shard if that is empty.
func (b *bench) startShards(ctx context.Context, shards []string, workers int, args ...string) ([]*instance, error) {
	instances := make([]*instance, len(shards))

	g := &errgroup.Group{}
	for n, shard := range shards {
		g.Go(func() (err error) {
			instances[n], err = b.startInstance(ctx, "shard-"+shard, workers, append([]string{"--poll=" + never.String(), "--shard-name=" + shard}, args...)...)

			return err
		})
	}

	if err := g.Wait(); err != nil {
		killAll(instances)

		return nil, err
	}

	return instances, nil
}

func killAll(instances []*instance) {
	for _, i := range instances {
		if i != nil {
			i.Kill()
		}
	}
}

func stopAll(instances []*instance) error {
	g := &errgroup.Group{}
	for _, i := range instances {
		g.Go(i.stop)
	}

	return g.Wait()
}
