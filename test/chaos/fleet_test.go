// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"context"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/crossplane-contrib/provider-terraform/test/background"
)

// A fleet is all instances.
type fleet map[string]*instance

// newFleet makes three shards, two of them with two replicas, and the catch-all. Some
// share their workdirs, some do not.
func newFleet(env *environment) (fleet, error) {
	f := fleet{}
	at := func(root string) string { return filepath.Join(env.dir, root) }

	for _, i := range []*instance{
		{name: "a", shard: "a", root: at("common"), grace: 3 * time.Second},
		{name: "a2", shard: "a", root: at("common"), grace: 3 * time.Second},
		{name: "b", shard: "b", root: at("own-b"), grace: 2 * leaseDuration},
		{name: "b2", shard: "b", root: at("own-b2"), grace: 2 * leaseDuration},
		{name: disk, shard: disk, root: at("own-c"), grace: 3 * time.Second},
		{name: "catch", root: at("common"), grace: 3 * time.Second},
	} {
		i.environment = env
		i.kubeconfig = at("kubeconfig-" + i.name)

		transport, err := rest.TransportFor(env.api)
		if err != nil {
			return nil, err
		}

		if i.proxy, err = startProxy(env.api.Host, transport, i.kubeconfig); err != nil {
			return nil, err
		}

		f[i.name] = i
	}

	return f, nil
}

// elastic says whether the shards assign the Workspaces without a label: with every second seed.
// Those that are relabelled are pinned then, and each absence of a shard may move the others.
func elastic(seed uint64) bool { return seed%2 == 0 }

// byShard returns the names of the instances by their shard.
func (f fleet) byShard() map[string][]string {
	names := map[string][]string{}
	for _, name := range sorted(f) {
		names[f[name].shard] = append(names[f[name].shard], name)
	}

	return names
}

// roots returns the directories with all workdirs.
func (f fleet) roots() []string {
	var roots []string
	for _, i := range f {
		roots = append(roots, i.root)
	}

	slices.Sort(roots)

	return slices.Compact(roots)
}

// start starts all instances. The function it returns stops them.
func (f fleet) start(t *testing.T) func() {
	t.Helper()

	all := []func(context.Context) error{}
	for _, i := range f {
		all = append(all, i.serve)

		t.Cleanup(func() {
			if err := i.proxy.stop(); err != nil {
				t.Errorf("cannot stop proxy: %v", err)
			}
		})
	}

	return background.Run(t, all...)
}

// ready returns an error unless all instances say they are ready.
func (f fleet) ready(ctx context.Context) error {
	for _, name := range sorted(f) {
		if err := f[name].ready(ctx); err != nil {
			return err
		}
	}

	return nil
}
