// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"context"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"

	pkgv1 "github.com/crossplane/crossplane/apis/v2/pkg/v1"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/shard/session"
	"github.com/crossplane-contrib/provider-terraform/test/wait"
)

// uninstalled removes the provider in the order of docs/install.md. Only the Leases that this page
// names are left.
func (s *Story) uninstalled(ctx context.Context) error {
	for _, name := range slices.Sorted(maps.Keys(s.workspaces)) {
		if err := s.Client.Delete(ctx, s.workspaces[name].Workspace); err != nil {
			return err
		}
	}

	for _, name := range slices.Sorted(maps.Keys(s.workspaces)) {
		if err := s.expectGone(ctx, s.workspaces[name].Workspace); err != nil {
			return err
		}

		s.gone(name)
	}

	if err := s.expectNoStates(ctx); err != nil {
		return err
	}

	configs, err := s.examples(configFiles()...)
	if err != nil {
		return err
	}

	// The namespace of the team goes last: it is deleted with everything that the story has
	// created there.
	slices.Reverse(configs)
	slices.SortStableFunc(configs, func(a, b *unstructured.Unstructured) int {
		return strings.Compare(isNamespace(a), isNamespace(b))
	})

	if err := s.removeAll(ctx, configs); err != nil {
		return err
	}

	if err := s.removeInstances(ctx); err != nil {
		return err
	}

	objects, err := s.overlay("elastic-package", s.second)
	if err != nil {
		return err
	}

	if err := s.removeAll(ctx, objects); err != nil {
		return err
	}

	return s.expectLeftovers(ctx)
}

// removeInstances deletes the Provider, whose instances are the last ones, and waits until their pods
// are gone: they still have their rights.
func (s *Story) removeInstances(ctx context.Context) error {
	if err := s.remove(ctx, &pkgv1.Provider{ObjectMeta: metav1.ObjectMeta{Name: providerName}}); err != nil {
		return err
	}

	return wait.Until(ctx, wait.Patience, func() error {
		l := &corev1.PodList{}
		if err := s.Client.List(ctx, l, client.InNamespace(system), client.MatchingLabels(ours())); err != nil {
			return err
		}

		if len(l.Items) > 0 {
			return errors.Errorf("%d instances are left, %q for example", len(l.Items), l.Items[0].GetName())
		}

		return nil
	})
}

// expectNoStates waits until no Workspace has left a state: all of their infrastructure is destroyed.
func (s *Story) expectNoStates(ctx context.Context) error {
	return wait.Until(ctx, wait.Soon, func() error {
		l := &corev1.SecretList{}
		if err := s.Client.List(ctx, l, client.MatchingLabels{"tfstate": "true"}); err != nil {
			return err
		}

		if len(l.Items) > 0 {
			return errors.Errorf("%d states are left, %s/%s for example", len(l.Items), l.Items[0].GetNamespace(), l.Items[0].GetName())
		}

		return nil
	})
}

func isNamespace(o *unstructured.Unstructured) string {
	if o.GetKind() == "Namespace" {
		return "1"
	}

	return "0"
}

func (s *Story) removeAll(ctx context.Context, objects []*unstructured.Unstructured) error {
	all := make([]client.Object, 0, len(objects))
	for _, o := range objects {
		all = append(all, o)
	}

	return s.remove(ctx, all...)
}

// expectLeftovers waits until the cluster has the same objects as before the story, except for the
// Leases that stay according to docs/install.md.
func (s *Story) expectLeftovers(ctx context.Context) error {
	return wait.Until(ctx, wait.Patience, func() error {
		now, err := s.objects(ctx)
		if err != nil {
			return err
		}

		var left []string

		for _, name := range slices.Sorted(maps.Keys(now)) {
			if !s.before[name] && !isDocumentedLeftover(name) && !isOfCrossplane(name) {
				left = append(left, name)
			}
		}

		if len(left) > 0 {
			return errors.Errorf("these objects are left:\n%s", strings.Join(left, "\n"))
		}

		return nil
	})
}

// isDocumentedLeftover says whether docs/install.md says that an object stays.
func isDocumentedLeftover(name string) bool {
	lease, ok := strings.CutPrefix(name, "Lease.coordination.k8s.io "+system+"/")

	return ok && (strings.HasPrefix(lease, "crossplane-leader-election-provider-terraform") || strings.HasPrefix(lease, session.NamePrefix) ||
		lease == "crossplane-provider-terraform-assigner" || strings.HasPrefix(lease, "lock-tfstate-"))
}

// isOfCrossplane says whether Crossplane itself creates an object some time after it has started.
func isOfCrossplane(name string) bool {
	return name == "Lease.coordination.k8s.io "+system+"/crossplane-leader-election-core" || name == "Lease.coordination.k8s.io "+system+"/crossplane-leader-election-rbac"
}

// objects returns the kinds and the names of all objects of the cluster that do not come and go by
// themselves.
func (s *Story) objects(ctx context.Context) (map[string]bool, error) {
	dc, err := discovery.NewDiscoveryClientForConfig(s.Config)
	if err != nil {
		return nil, err
	}

	lists, err := dc.ServerPreferredResources()
	if err != nil {
		return nil, err
	}

	found := map[string]bool{}

	for _, l := range lists {
		gv, err := schema.ParseGroupVersion(l.GroupVersion)
		if err != nil {
			return nil, err
		}

		for _, r := range l.APIResources {
			if gvk := gv.WithKind(r.Kind); slices.Contains(r.Verbs, "list") && !isTransient(gvk.GroupKind()) {
				if err := s.addObjects(ctx, gvk, found); err != nil {
					return nil, err
				}
			}
		}
	}

	return found, nil
}

func (s *Story) addObjects(ctx context.Context, gvk schema.GroupVersionKind, found map[string]bool) error {
	l := &metav1.PartialObjectMetadataList{}
	l.SetGroupVersionKind(gvk)

	// A CRD may have been deleted since discovery.
	if err := s.Client.List(ctx, l); client.IgnoreNotFound(err) != nil && !meta.IsNoMatchError(err) {
		return errors.Wrapf(err, "cannot list %s", gvk)
	}

	for _, o := range l.Items {
		found[gvk.GroupKind().String()+" "+o.GetNamespace()+"/"+o.GetName()] = true
	}

	return nil
}

// isTransient says whether controllers create and delete objects of this kind at any time. The pods
// of instances belong to Deployments.
func isTransient(gk schema.GroupKind) bool {
	return gk.Kind == "Event" || gk == schema.GroupKind{Kind: "Pod"} || gk.Group == "metrics.k8s.io"
}
