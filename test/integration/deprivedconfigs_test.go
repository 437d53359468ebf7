// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	namespacedv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/namespaced/v1beta1"
)

// configs creates a ProviderConfig of each kind that the first right is about.
func (d *deprived) configs(t *testing.T) []client.Object {
	t.Helper()

	configs := []client.Object{newClusterConfig(withoutBackend())}
	if !slices.Contains([]string{"clusterproviderconfigs", "clusterproviderconfigs/status"}, d.rights[0].resource) {
		configs = []client.Object{newConfig(clusterScope, d.ns, withoutBackend()), newConfig(namespacedScope, d.ns, withoutBackend())}
	}

	for _, cfg := range configs {
		d.c.create(t, cfg)
	}

	return configs
}

// touch makes the controller of the ProviderConfig try again now.
func (d *deprived) touch(t *testing.T, cfg client.Object) {
	t.Helper()
	d.c.patch(t, cfg, map[string]any{"metadata": map[string]any{"annotations": map[string]any{"touched": unique("now")}}})
}

// unfinalizedConfig cannot add a finalizer to a ProviderConfig.
func unfinalizedConfig(t *testing.T, d *deprived) {
	t.Helper()
	d.takeAway(t)

	configs := d.configs(t)
	for _, cfg := range configs {
		expectEvent(t, d.c, cfg, "UsageAccounting", "cannot update ProviderConfig", "cannot update resource")
	}

	d.expectLogged(t)
	d.giveBack(t)

	for _, cfg := range configs {
		d.touch(t, cfg)
		eventually(t, func() error {
			d.c.get(t, cfg)

			if len(cfg.GetFinalizers()) == 0 {
				return errors.Errorf("%T %q has no finalizer", cfg, cfg.GetName())
			}

			return nil
		})
	}
}

// uncountedUsers cannot write how many users a ProviderConfig has.
func uncountedUsers(t *testing.T, d *deprived) {
	t.Helper()
	d.takeAway(t)

	configs := d.configs(t)
	for _, cfg := range configs {
		d.c.create(t, d.newUsage(cfg, metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "user", UID: types.UID(unique("uid")), Controller: new(true)}))
	}

	d.expectLogged(t, "Reconciler error", "cannot update ProviderConfig status")
	d.giveBack(t)

	for _, cfg := range configs {
		d.touch(t, cfg)
		expectUsers(t, d.c, cfg, 1)
	}
}

// staleUsage cannot delete the usage of something that is not known any more.
func staleUsage(t *testing.T, d *deprived) {
	t.Helper()
	d.takeAway(t)

	configs, usages := d.configs(t), []client.Object{}
	for _, cfg := range configs {
		u := d.newUsage(cfg)
		d.c.create(t, u)
		usages = append(usages, u)
	}

	for _, cfg := range configs {
		expectEvent(t, d.c, cfg, "UsageAccounting", "cannot delete ProviderConfigUsage", `cannot delete resource "providerconfigusages"`)
	}

	d.expectLogged(t)
	d.giveBack(t)

	for i, cfg := range configs {
		d.touch(t, cfg)
		expectGone(t, d.c, usages[i])
	}
}

// newUsage returns a usage of a ProviderConfig.
func (d *deprived) newUsage(cfg client.Object, owners ...metav1.OwnerReference) client.Object {
	meta := metav1.ObjectMeta{
		Namespace:       d.ns,
		Name:            unique("usage"),
		Labels:          map[string]string{xpv2.LabelKeyProviderName: cfg.GetName()},
		OwnerReferences: owners,
	}
	user := xpv2.TypedReference{APIVersion: "v1", Kind: "ConfigMap", Name: "user"}

	kind := namespacedv1beta1.ProviderConfigKind

	switch cfg.(type) {
	case *clusterv1beta1.ProviderConfig:
		meta.Namespace = ""

		u := &clusterv1beta1.ProviderConfigUsage{ObjectMeta: meta}
		u.ProviderConfigReference, u.ResourceReference = xpv2.Reference{Name: cfg.GetName()}, user

		return u
	case *namespacedv1beta1.ClusterProviderConfig:
		kind = namespacedv1beta1.ClusterProviderConfigKind
	}

	meta.Labels[xpv2.LabelKeyProviderKind] = kind

	u := &namespacedv1beta1.ProviderConfigUsage{ObjectMeta: meta}
	u.ProviderConfigReference, u.ResourceReference = xpv2.ProviderConfigReference{Kind: kind, Name: cfg.GetName()}, user

	return u
}
