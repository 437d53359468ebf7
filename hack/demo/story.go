// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/shard"
)

const (
	shard0 = "shard-0"
	shard1 = "shard-1"

	// systemNamespace is where Crossplane lives, and where the examples keep the
	// Leases and most of the state.
	systemNamespace = "crossplane-system"

	moved = "database"

	unlabelled = "team-a/alarm"
)

// A served Workspace has the shard that is to serve it, and its outputs in the table.
type served struct{ shard, outputs string }

func labelled() map[string]served {
	return map[string]served{
		moved:            {shard: shard0, outputs: "disk=20 GB, host=orders.db.example.org"},
		"queue":          {shard: shard1, outputs: `topics=["orders","refunds"]`},
		"team-a/cache":   {shard: shard1, outputs: `endpoints=["cache-0.example.org","cache-1.example.org"]`},
		"team-a/network": {shard: shard0, outputs: `subnets={"a":"10.20.0.0/24","b":"10.20.1.0/24"}`},
	}
}

func examples() []string {
	files := []string{
		"cluster/providerconfig.yaml",
		"cluster/workspace-inline.yaml",
		"cluster/workspace-json.yaml",
		"namespaced/namespace.yaml",
		"namespaced/rbac.yaml",
		"namespaced/clusterproviderconfig.yaml",
		"namespaced/providerconfig.yaml",
		"namespaced/workspace-inline.yaml",
		"namespaced/workspace-json.yaml",
		"namespaced/workspace-providerconfig.yaml",
	}
	for i, f := range files {
		files[i] = filepath.Join("examples", f)
	}

	return files
}

func (d *demo) setup() []expectation {
	return []expectation{
		{title: "etcd and the API server are up, with the CRDs", within: 2 * time.Minute, check: d.startControlPlane},
		{title: "the provider's RBAC is installed", within: time.Minute, check: d.install},
		{title: "the provider is built", within: 20 * time.Minute, check: d.build},
	}
}

func (d *demo) story() []expectation {
	return append(d.setup(),
		expectation{title: "two instances are ready, " + shard0 + " and " + shard1, within: 2 * time.Minute, check: d.starts(shard0, shard1)},
		expectation{title: "each of them holds the Lease of its shard", within: time.Minute, check: d.expectLeases},
		expectation{title: "the examples are created without a shard: no instance serves them", within: time.Minute, check: d.create, table: true},
		expectation{title: "four of them have a label now, are Ready, and are served by the shard it names", within: 5 * time.Minute, check: d.label, table: true},
		expectation{title: "outputs are in the status, and the sensitive one in the connection Secret only", within: time.Minute, check: d.expectPassword},
		expectation{title: unlabelled + " has no label: no instance has touched it", within: time.Minute, check: d.expectUntouched},
		expectation{title: moved + " has moved from " + shard0 + " to " + shard1, within: 3 * time.Minute, check: d.relabel, table: true},
		expectation{title: shard1 + " has applied a change to " + moved + ", on the state that " + shard0 + " made", within: 3 * time.Minute, check: d.change, table: true},
		expectation{title: shard1 + " polls " + moved + " now, and " + shard0 + " has left it alone", within: 2 * time.Minute, check: d.expectLeftAlone},
		expectation{title: unlabelled + " is still as it was created", within: time.Minute, check: d.expectUntouched},
	)
}

// starts returns a check that starts the instances of the supplied shards.
func (d *demo) starts(shards ...string) func(context.Context) error {
	return func(ctx context.Context) error { return d.start(ctx, shards...) }
}

// await observes the Workspaces until check returns nil.
func (d *demo) await(ctx context.Context, check func(seen map[string]sight) error) error {
	return until(ctx, d.screen.progress, func(ctx context.Context) error {
		seen, err := d.observe(ctx)
		if err != nil {
			return err
		}

		return check(seen)
	})
}

// start starts an instance for each shard, and waits until all instances are ready.
func (d *demo) start(ctx context.Context, shards ...string) error {
	// The instances have the rights that cluster/deploy/common gives, and no others.
	kubeconfig := filepath.Join(d.dir, "provider.kubeconfig")
	if err := d.plane.KubeconfigOf(ctx, kubeconfig, systemNamespace, serviceAccount); err != nil {
		return err
	}

	for _, s := range shards {
		i, err := d.startInstance(s, kubeconfig)
		if err != nil {
			return err
		}

		d.instances = append(d.instances, i)
		d.logs = append(d.logs, log{name: s, path: i.Log})
	}

	return until(ctx, d.screen.progress, func(ctx context.Context) error {
		for _, i := range d.instances {
			if err := i.Ready(ctx); err != nil {
				return err
			}
		}

		return nil
	})
}

func (d *demo) expectLeases(ctx context.Context) error {
	return until(ctx, d.screen.progress, func(ctx context.Context) error {
		holders := map[string]bool{}

		for _, i := range d.instances {
			holder, err := d.leaseHolder(ctx, i.shard)
			if err != nil {
				return err
			}

			if holder == "" {
				return errors.Errorf("the Lease of %s has no holder", i.shard)
			}

			holders[holder] = true
		}

		if len(holders) < len(d.instances) {
			return errors.New("one instance holds more than one Lease")
		}

		return nil
	})
}

// leaseHolder returns the holder of the Lease of the supplied shard, empty if it has none.
func (d *demo) leaseHolder(ctx context.Context, name string) (string, error) {
	id, err := shard.Parse(name)
	if err != nil {
		return "", err
	}

	l := &coordinationv1.Lease{}
	err = d.plane.Kube.Get(ctx, types.NamespacedName{Namespace: systemNamespace, Name: id.LeaseName()}, l)

	return ptr.Deref(l.Spec.HolderIdentity, ""), client.IgnoreNotFound(err)
}

func (d *demo) create(ctx context.Context) error {
	if err := apply(ctx, d.plane.Kube, examples()...); err != nil {
		return err
	}

	seen, err := d.observe(ctx)
	if err != nil {
		return err
	}

	for _, name := range slices.Sorted(maps.Keys(seen)) {
		if err := seen[name].untouched(); err != nil {
			return errors.Wrap(err, name)
		}
	}

	return nil
}

func (d *demo) label(ctx context.Context) error {
	want := labelled()

	for _, name := range slices.SortedFunc(maps.Keys(want), byScope) {
		if err := d.setShard(ctx, name, want[name].shard); err != nil {
			return err
		}
	}

	return d.await(ctx, func(seen map[string]sight) error {
		for _, name := range slices.SortedFunc(maps.Keys(want), byScope) {
			if err := seen[name].served(want[name].outputs); err != nil {
				return errors.Wrap(err, name)
			}
		}

		return nil
	})
}

func (d *demo) setShard(ctx context.Context, name, shardName string) error {
	return d.patch(ctx, name, fmt.Sprintf(`{"metadata":{"labels":{%q:%q}}}`, shard.LabelKey, shardName))
}

func (d *demo) patch(ctx context.Context, name, json string) error {
	seen, err := d.observe(ctx)
	if err != nil {
		return err
	}

	s, ok := seen[name]
	if !ok {
		return errors.Errorf("there is no Workspace %q", name)
	}

	return errors.Wrapf(d.plane.Kube.Patch(ctx, s.Workspace, client.RawPatch(types.MergePatchType, []byte(json))), "cannot patch %s", name)
}

func (d *demo) expectPassword(ctx context.Context) error {
	password, err := d.readPassword(ctx)
	if err != nil {
		return err
	}

	if password == "" {
		return errors.New("there is no password in the connection Secret")
	}

	d.password = password

	seen, err := d.observe(ctx)
	if err != nil {
		return err
	}

	if _, found := seen[moved].GetObservation().Outputs["password"]; found {
		return errors.New("the password is in the status")
	}

	return nil
}

// readPassword returns the password in the connection Secret of the Workspace that
// is moved. Its module makes another one whenever it is created.
func (d *demo) readPassword(ctx context.Context) (string, error) {
	s := &corev1.Secret{}
	err := d.plane.Kube.Get(ctx, types.NamespacedName{Namespace: systemNamespace, Name: moved}, s)

	return string(s.Data["password"]), err
}

func (d *demo) expectUntouched(ctx context.Context) error {
	seen, err := d.observe(ctx)
	if err != nil {
		return err
	}

	return seen[unlabelled].untouched()
}

func (d *demo) relabel(ctx context.Context) error {
	if err := d.setShard(ctx, moved, shard1); err != nil {
		return err
	}

	return d.expectMoved(ctx, labelled()[moved].outputs)
}

// expectMoved waits until the moved Workspace is served by its new shard, with these outputs.
func (d *demo) expectMoved(ctx context.Context, outputs string) error {
	return d.await(ctx, func(seen map[string]sight) error {
		return errors.Wrap(seen[moved].served(outputs), moved)
	})
}

func (d *demo) change(ctx context.Context) error {
	if err := d.patch(ctx, moved, `{"spec":{"forProvider":{"vars":[{"key":"name","value":"orders"},{"key":"gigabytes","value":"50"}]}}}`); err != nil {
		return err
	}

	if err := d.expectMoved(ctx, "disk=50 GB, host=orders.db.example.org"); err != nil {
		return err
	}

	password, err := d.readPassword(ctx)
	if err != nil {
		return err
	}

	if password != d.password {
		return errors.New("the password is another one: the database was created a second time")
	}

	return nil
}

// expectLeftAlone waits until the new instance polls the moved Workspace again. The old
// instance would have polled it by then, too.
func (d *demo) expectLeftAlone(ctx context.Context) error {
	began := time.Now()

	return d.await(ctx, func(seen map[string]sight) error {
		polled := false

		for _, i := range d.instances {
			last, err := i.lastRun(string(seen[moved].GetUID()))
			if err != nil {
				return err
			}

			switch worked := last.After(began); {
			case worked && i.shard == shard0:
				return errors.Errorf("%s ran the CLI for it at %s", shard0, last)
			case worked:
				polled = true
			}
		}

		if !polled {
			return errors.Errorf("%s polls every %s", shard1, poll)
		}

		return nil
	})
}

// end sends SIGTERM to the instances, as Kubernetes does, and waits until they have ended
// and released their Leases.
func (d *demo) end(ctx context.Context) error {
	g := &errgroup.Group{}
	for _, i := range d.instances {
		g.Go(i.terminate)
	}

	all := []error{g.Wait()}

	for _, i := range d.instances {
		holder, err := d.leaseHolder(ctx, i.shard)
		if err == nil && holder != "" {
			err = errors.Errorf("%s still holds the Lease of %s", holder, i.shard)
		}

		all = append(all, err)
	}

	return errors.Join(all...)
}
