// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"

	"github.com/crossplane-contrib/provider-terraform/internal/providerconfig"
)

// cacheLag is how long to wait for the cache to see a usage that the API server
// has.
const cacheLag = time.Second

// A liveReconciler keeps a deleted ProviderConfig for as long as the API server
// knows a usage of it. The reconciler of crossplane-runtime counts usages in the
// cache; a usage that another shard has just recorded may not be there yet, and
// its finalizer would go while a Workspace starts to use it.
type liveReconciler struct {
	inner  reconcile.Reconciler
	client client.Reader
	live   client.Reader
	scheme *runtime.Scheme
	kind   providerconfig.Kind
}

// Reconcile passes on to the common reconciler. Instances of several shards write
// the same ProviderConfigs, so that conflicts are to be expected and not worth an
// error in the log.
func (r *liveReconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	return errors.SilentlyRequeueOnConflict(r.reconcile(ctx, req))
}

func (r *liveReconciler) reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	pc, ok := r.kind.Object.DeepCopyObject().(client.Object)
	if !ok {
		return reconcile.Result{}, reconcile.TerminalError(errors.Errorf("%T is not an object", r.kind.Object))
	}

	if err := r.client.Get(ctx, req.NamespacedName, pc); err != nil {
		return reconcile.Result{}, errors.Wrap(resource.IgnoreNotFound(err), "cannot get ProviderConfig")
	}

	if !meta.WasDeleted(pc) {
		return r.inner.Reconcile(ctx, req)
	}

	cached, err := r.inUse(ctx, r.client, pc)
	if err != nil {
		return reconcile.Result{}, err
	}

	// The common reconciler blocks the deletion and says so.
	if cached {
		return r.inner.Reconcile(ctx, req)
	}

	live, err := r.inUse(ctx, r.live, pc)
	if err != nil {
		return reconcile.Result{}, err
	}

	if live {
		return reconcile.Result{RequeueAfter: cacheLag}, nil
	}

	return r.inner.Reconcile(ctx, req)
}

// inUse says whether kube knows a usage of pc by a Workspace that exists.
func (r *liveReconciler) inUse(ctx context.Context, kube client.Reader, pc client.Object) (bool, error) {
	o, err := r.scheme.New(r.kind.UsageList)
	if err != nil {
		return false, errors.Wrap(err, "cannot make list of ProviderConfig usages")
	}

	l, ok := o.(resource.ProviderConfigUsageList)
	if !ok {
		return false, reconcile.TerminalError(errors.Errorf("%T is not a list of ProviderConfig usages", o))
	}

	labels := client.MatchingLabels{xpv2.LabelKeyProviderName: pc.GetName()}
	if _, legacy := r.kind.Usage.(resource.LegacyProviderConfigUsage); !legacy {
		labels[xpv2.LabelKeyProviderKind] = r.kind.Config.Kind
	}

	if err := kube.List(ctx, l, labels, client.InNamespace(pc.GetNamespace())); err != nil {
		return false, errors.Wrap(err, "cannot list ProviderConfig usages")
	}

	for _, u := range l.GetItems() {
		// A usage without a controller is stale: the common reconciler deletes it.
		if metav1.GetControllerOf(u) != nil {
			return true, nil
		}
	}

	return false, nil
}
