// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"context"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-terraform/internal/shard"
	"github.com/crossplane-contrib/provider-terraform/test/spread"
)

// elastic changes static shards to elastic ones as docs/sharding.md says: the elastic shards start in
// place of the catch-all, the labels of the static shards are removed, and these end when they have
// no claims any more. Then the elastic shards are scaled down and up.
func (s *Story) elastic(ctx context.Context) error {
	if err := s.scale(ctx, 3, 2); err != nil {
		return err
	}

	if err := s.each(ctx, func(ws subject) error {
		if ws.GetLabels()[shard.AssignedLabelKey] != "" {
			return nil
		}

		return s.relabel(ctx, ws.GetName(), "")
	}); err != nil {
		return err
	}

	if err := s.expectPlaced(ctx); err != nil {
		return err
	}

	for _, name := range []string{shard0, shard1} {
		if err := s.remove(ctx, &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: system, Name: providerName + "-" + name}}); err != nil {
			return err
		}
	}

	for _, n := range []int{3, 2, 3} {
		if err := s.scale(ctx, n, 0); err != nil {
			return err
		}

		if err := s.expectPlaced(ctx); err != nil {
			return err
		}
	}

	return nil
}

// scale sets the number of elastic shards, and waits until they and the supplied number of other
// instances are ready.
func (s *Story) scale(ctx context.Context, n, others int) error {
	if err := s.deploy(ctx, "elastic-package", s.second,
		change{kind: "DeploymentRuntimeConfig", op: "replace", path: inPackage + "/replicas", value: n},
		// The Workspaces of a shard that was scaled away move after this time.
		change{kind: "DeploymentRuntimeConfig", op: "add", path: inPackage + firstContainer + "/args", value: []string{"--shard-grace-period=5s"}},
	); err != nil {
		return err
	}

	return s.expectInstances(ctx, n+others, s.second)
}

// expectPlaced waits until the Workspaces are spread over the elastic shards, and each is served by its
// shard.
func (s *Story) expectPlaced(ctx context.Context) error {
	var names []string

	pods, err := s.instances(ctx)
	if err != nil {
		return err
	}

	for _, p := range pods {
		// A static shard has a label.
		if p.GetLabels()[shard.LabelKey] == "" {
			names = append(names, p.GetName())
		}
	}

	slices.Sort(names)

	return s.expectServedWith(ctx, func(labels []map[string]string) error { return spread.Check(names, labels...) })
}
