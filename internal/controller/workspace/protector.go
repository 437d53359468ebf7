// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"
	"strings"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"

	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// A protector adds the finalizer of the provider again to Workspaces with infrastructure: a manifest that replaces a Workspace
// (kubectl replace, Replace=true of Argo CD) removes it, and a deletion would destroy nothing then.
//
// The managed reconciler adds a finalizer only after it has observed, and not to a paused Workspace. So this is a controller of
// its own, which waits for no apply and for no correction of a mistake.
type protector struct {
	kube  client.Client
	cache client.Reader
	kind  workspace.Kind
}

// setupProtector adds the controller of a protector.
func setupProtector(mgr manager.Manager, kind workspace.Kind) error {
	return builder.ControllerManagedBy(mgr).
		Named("finalizer/"+strings.ToLower(kind.GroupKind())).
		For(kind.Object, builder.WithPredicates(predicate.NewPredicateFuncs(isUnprotected))).
		Complete(protector{kube: mgr.GetClient(), cache: mgr.GetCache(), kind: kind})
}

// isUnprotected says whether the finalizer of a Workspace with infrastructure is missing.
func isUnprotected(o client.Object) bool {
	ws, ok := o.(workspace.Workspace)

	return ok && !meta.WasDeleted(ws) && !meta.FinalizerExists(ws, managed.FinalizerName) && (workspace.Owns(ws) || workspace.HasBegun(ws))
}

// Reconcile adds the finalizer, if it is missing.
func (p protector) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	ws, _ := p.kind.Object.DeepCopyObject().(workspace.Workspace)

	if err := p.cache.Get(ctx, req.NamespacedName, ws); err != nil || !isUnprotected(ws) {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}

	patch := client.MergeFromWithOptions(ws.DeepCopyObject().(client.Object), client.MergeFromWithOptimisticLock{}) //nolint:forcetypeassert // It is one.
	meta.AddFinalizer(ws, managed.FinalizerName)

	// A conflict means that there is a later version, which is another event.
	if err := p.kube.Patch(ctx, ws, patch); err != nil && !kerrors.IsConflict(err) && !kerrors.IsNotFound(err) {
		return reconcile.Result{}, errors.Wrap(err, "cannot add the finalizer again")
	}

	return reconcile.Result{}, nil
}
