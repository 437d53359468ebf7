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
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/test/spread"
)

// Shards of the elastic story, named as the pods of a StatefulSet are.
const (
	pod0 = "pod-0"
	pod1 = "pod-1"
	pod2 = "pod-2"
)

const apps = 12

// appModule keeps its id for as long as it exists.
const appModule = `
resource "terraform_data" "app" {}

output "id" {
  value = terraform_data.app.id
}
`

func (d *demo) elasticStory() []expectation {
	return append(d.setup(),
		expectation{title: fmt.Sprintf("two instances are ready, %s and %s, with --assign-shards", pod0, pod1), within: 2 * time.Minute, check: d.starts(pod0, pod1)},
		expectation{title: "each of them holds the Lease of its shard", within: time.Minute, check: d.expectLeases},
		expectation{title: fmt.Sprintf("%d Workspaces were created without a label: all are Ready, on the shards that they were assigned to", apps), within: 3 * time.Minute, check: d.createApps, table: true},
		expectation{title: pod2 + " has joined, and serves its share; the others stay where they are", within: 2 * time.Minute, check: d.join, table: true},
		expectation{title: pod0 + " was killed: its Workspaces are served by the others", within: 3 * time.Minute, check: d.killFirst, table: true},
		expectation{title: "all of them were Ready all the time, and nothing was created a second time", within: time.Minute, check: d.expectKept},
	)
}

// createApps creates the Workspaces without a label, and waits until all are served.
func (d *demo) createApps(ctx context.Context) error {
	began := time.Now()

	if err := apply(ctx, d.plane.Kube, filepath.Join("examples", "cluster", "providerconfig.yaml")); err != nil {
		return err
	}

	for n := range apps {
		ws := &clusterv1beta1.Workspace{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("app-%02d", n+1)}}
		ws.Spec.ForProvider.Source = commonv1beta1.ModuleSourceInline
		ws.Spec.ForProvider.Module = appModule

		if err := d.plane.Kube.Create(ctx, ws); err != nil {
			return errors.Wrapf(err, "cannot create Workspace %q", ws.GetName())
		}
	}

	seen, err := d.expectSpread(ctx)
	if err != nil {
		return err
	}

	d.record.add(fmt.Sprintf("%d Workspaces are created", apps), time.Since(began), seen)

	d.created = map[string]string{}
	for name, s := range seen {
		d.created[name] = s.outputs()
	}

	return nil
}

// join starts one more instance, and waits until it serves its share. No Workspace moves between
// the others.
func (d *demo) join(ctx context.Context) error {
	began := time.Now()

	before, err := d.observe(ctx)
	if err != nil {
		return err
	}

	if err := d.start(ctx, pod2); err != nil {
		return err
	}

	after, err := d.expectSpread(ctx)
	if err != nil {
		return err
	}

	for _, name := range slices.Sorted(maps.Keys(after)) {
		if from, to := before[name].servedBy, after[name].servedBy; from != to && to != pod2 {
			return errors.Errorf("%s has moved from %s to %s", name, from, to)
		}
	}

	d.record.add(pod2+" starts", time.Since(began), after)

	return nil
}

// killFirst kills the first instance, as the loss of its node does.
func (d *demo) killFirst(ctx context.Context) error {
	began := time.Now()

	d.instances[0].kill()
	d.instances = d.instances[1:]

	seen, err := d.expectSpread(ctx)
	if err == nil {
		d.record.add(pod0+" is killed", time.Since(began), seen)
	}

	return err
}

// expectSpread waits until the Workspaces are spread over the instances, and each is served there. It
// returns the Workspaces.
func (d *demo) expectSpread(ctx context.Context) (map[string]sight, error) {
	var last map[string]sight

	err := d.await(ctx, func(seen map[string]sight) error {
		last = seen

		var shards []string
		for _, i := range d.instances {
			shards = append(shards, i.shard)
		}

		var labels []map[string]string
		for _, s := range seen {
			labels = append(labels, s.GetLabels())
		}

		if err := spread.Check(shards, labels...); err != nil {
			return err
		}

		for _, name := range slices.Sorted(maps.Keys(seen)) {
			s := seen[name]
			d.lapse(name, s)

			if err := s.served(s.outputs()); err != nil {
				return errors.Wrap(err, name)
			}
		}

		return nil
	})

	return last, err
}

// lapse records a Workspace that was Ready and is not any more.
func (d *demo) lapse(name string, s sight) {
	if d.created != nil && s.status(xpv2.TypeReady) != "True" && !slices.Contains(d.lapsed, name) {
		d.lapsed = append(d.lapsed, name)
	}
}

func (d *demo) expectKept(ctx context.Context) error {
	if len(d.lapsed) > 0 {
		return errors.Errorf("not Ready at some time: %s", strings.Join(d.lapsed, ", "))
	}

	seen, err := d.observe(ctx)
	if err != nil {
		return err
	}

	for _, name := range slices.Sorted(maps.Keys(seen)) {
		if got := seen[name].outputs(); got != d.created[name] {
			return errors.Errorf("%s was created again: its outputs are %s, and were %s", name, got, d.created[name])
		}
	}

	return nil
}
