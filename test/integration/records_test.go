// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	namespacedv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/namespaced/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// TestUsage checks the ProviderConfigUsage for a ProviderConfig of each kind: an older
// version of the provider has left the same one.
func TestUsage(t *testing.T) {
	t.Parallel()

	c, ns, shard, _ := useTerraform(t)

	eachConfig(t, func(t *testing.T, s scope, newConfig func(string, configSpec) client.Object) {
		t.Parallel()

		cfg := newConfig(ns, withBackend(ns, "usage"))
		c.create(t, cfg)

		ws := c.createWorkspace(t, s, ns, inShard(shard), withConfig(cfg), withModule(moduleFile(t, "outputs.tf")))
		expectReady(t, c, ws)
		expectUsers(t, c, cfg, 1)

		if !slices.Contains(cfg.GetFinalizers(), "in-use.crossplane.io") {
			t.Errorf("finalizers of %T: %q", cfg, cfg.GetFinalizers())
		}

		usage, want := usageOf(ws), map[string]string{"crossplane.io/provider-config": cfg.GetName()}

		switch cfg.(type) {
		case *namespacedv1beta1.ProviderConfig:
			want["crossplane.io/provider-config-kind"] = "ProviderConfig"
		case *namespacedv1beta1.ClusterProviderConfig:
			want["crossplane.io/provider-config-kind"] = "ClusterProviderConfig"
		}

		c.get(t, usage)

		if diff := cmp.Diff(want, usage.GetLabels()); diff != "" {
			t.Errorf("labels of the usage: -want, +got:\n%s", diff)
		}

		if !metav1.IsControlledBy(usage, ws) {
			t.Errorf("want the Workspace to control the usage, got owners %v", usage.GetOwnerReferences())
		}
	})
}

// TestUnusableConfig ensures that a ProviderConfig that no Workspace can use is deleted.
func TestUnusableConfig(t *testing.T) {
	t.Parallel()

	c, ns, _, _ := useTerraform(t)

	eachConfig(t, func(t *testing.T, _ scope, newConfig func(string, configSpec) client.Object) {
		t.Parallel()

		cfg := newConfig(ns, withBackend(ns, "usage"))
		cfg.SetName(unique(strings.Repeat("long-", 13) + "name"))
		c.create(t, cfg)
		// Without a finalizer the API server would delete it alone.
		eventually(t, func() error {
			c.get(t, cfg)

			if len(cfg.GetFinalizers()) == 0 {
				return errors.New("no instance has seen the ProviderConfig")
			}

			return nil
		})
		c.remove(t, cfg)
		expectGone(t, c, cfg)
	})
}

// TestUsageOfNamesakes has two kinds of ProviderConfig with one name. Only one of
// them is in use.
func TestUsageOfNamesakes(t *testing.T) {
	t.Parallel()

	c, ns, shard, _ := useOpenTofu(t)

	one := newConfig(namespacedScope, ns, withBackend(ns, "usage"))
	all := newClusterConfig(withBackend(ns, "usage"))
	all.SetName(one.GetName())
	c.create(t, one)
	c.create(t, all)

	ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(one), withModule(moduleFile(t, "outputs.tf")))
	expectReady(t, c, ws)
	expectUsers(t, c, one, 1)
	expectUsers(t, c, all, 0)

	c.remove(t, one)
	c.remove(t, all)
	expectGone(t, c, all)
	expectTerminating(t, c, one)
}

// usageOf returns the record that the Workspace uses its ProviderConfig.
func usageOf(ws workspace.Workspace) client.Object {
	o := metav1.ObjectMeta{Namespace: ws.GetNamespace(), Name: string(ws.GetUID())}

	if ws.GetNamespace() != "" {
		return &namespacedv1beta1.ProviderConfigUsage{ObjectMeta: o}
	}

	return &clusterv1beta1.ProviderConfigUsage{ObjectMeta: o}
}

// TestInterruptedCreation has a Workspace whose creation was interrupted without a result.
// Its state has the result, so that the annotation need not be removed by hand.
func TestInterruptedCreation(t *testing.T) {
	t.Parallel()

	c, ns, shard, _ := useTerraform(t)

	e := newEvidence(t)
	cfg := c.createConfig(t, clusterScope, ns, withBackend(ns, "interrupted"))
	ws := newWorkspace(clusterScope, ns, inShard(shard), withConfig(cfg), withEvidence(t, "evidence.tf", e))
	meta.SetExternalName(ws, ws.GetName())
	meta.SetExternalCreatePending(ws, time.Now())
	c.create(t, ws)
	expectReady(t, c, ws)
	expectDone(t, e, "created")
}

// TestForeignFinalizer deletes a Workspace with the finalizer of another controller: it is
// destroyed when that finalizer is removed.
func TestForeignFinalizer(t *testing.T) {
	t.Parallel()

	c, ns, shard, i := useTerraform(t)

	e := newEvidence(t)
	cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, "finalizer"))
	ws := newWorkspace(namespacedScope, ns, inShard(shard), withConfig(cfg), withEvidence(t, "evidence.tf", e))
	ws.SetFinalizers([]string{"example.org/needed"})
	c.create(t, ws)
	expectReady(t, c, ws)

	other := c.createWorkspace(t, namespacedScope, ns, inShard(shard), polledOften, withConfig(cfg), withModule(moduleFile(t, "outputs.tf")))
	expectReady(t, c, other)

	c.remove(t, ws)
	// The queue is served in the meantime.
	expectAnotherRun(t, i, other, "plan")
	expectAnotherRun(t, i, other, "plan")
	expectDone(t, e, "created")

	c.get(t, ws)
	c.patch(t, ws, map[string]any{"metadata": map[string]any{"finalizers": []string{finalizer}}})
	expectGone(t, c, ws)
	expectDone(t, e, "created", "destroyed")
}
