// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"

	"github.com/crossplane-contrib/provider-terraform/internal/statusclient"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// The managed reconciler marks a resource that it has created as Creating, and one that it has
// deleted as Deleting, and observes it once more: for most resources that is only the request.
// An apply or destroy is complete when it ends. Without the types in this file, a Workspace would
// become Ready, or be gone, only after all others that wait in the queue.

type completionKey struct{}

// A completion records which operations one reconcile has completed.
type completion struct {
	// created says that everything was created, and deleted that everything was destroyed. gone
	// says that nothing is left of the state, either.
	created, deleted, gone bool

	// latest is the Workspace as it was written after that. It is nil if that failed.
	latest workspace.Workspace
}

// completeCreation records in the context of a completionReconciler that Create has succeeded.
func completeCreation(ctx context.Context) {
	if c, ok := ctx.Value(completionKey{}).(*completion); ok {
		c.created = true
	}
}

// completeDeletion records in the context of a completionReconciler that Delete has succeeded.
func completeDeletion(ctx context.Context, gone bool) {
	if c, ok := ctx.Value(completionKey{}).(*completion); ok {
		c.deleted, c.gone = true, gone
	}
}

// A completionReconciler calls inner again immediately after a creation or deletion, without a
// request to read the Workspace. The metric of the time to readiness needs that after a creation,
// and the removal of the finalizer after a deletion.
type completionReconciler struct{ inner reconcile.Reconciler }

func (r completionReconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	c := &completion{}

	result, err := r.inner.Reconcile(context.WithValue(ctx, completionKey{}, c), req)
	if c.latest == nil {
		return result, err
	}

	return r.inner.Reconcile(statusclient.WithLatest(ctx, c.latest), req)
}

// A completionClient marks a Workspace as Ready in the status write that ends its creation, and
// leaves out the one after its deletion if only the removal of the finalizer follows. It must be
// the client of the managed reconciler.
type completionClient struct{ client.Client }

// Status returns a writer of statuses.
func (c completionClient) Status() client.SubResourceWriter {
	return completionStatusWriter{c.Client.Status()}
}

type completionStatusWriter struct{ client.SubResourceWriter }

func (w completionStatusWriter) Update(ctx context.Context, o client.Object, opts ...client.SubResourceUpdateOption) error {
	c, ok := ctx.Value(completionKey{}).(*completion)
	ws, isWorkspace := o.(workspace.Workspace)

	// What was created may not have been published.
	if !ok || !isWorkspace || ws.GetCondition(xpv2.TypeSynced).Status != corev1.ConditionTrue {
		return w.SubResourceWriter.Update(ctx, o, opts...)
	}

	if c.created {
		ready(ws)
	}

	if !c.gone || !isGoneWithoutFinalizer(ws) {
		if err := w.SubResourceWriter.Update(ctx, o, opts...); err != nil {
			return err
		}
	}

	if c.created || c.deleted {
		c.latest = ws
	}

	return nil
}

// isGoneWithoutFinalizer says whether only the finalizer of the managed reconciler keeps a
// Workspace. With others it stays for some time, and its conditions are read.
func isGoneWithoutFinalizer(ws workspace.Workspace) bool {
	f := ws.GetFinalizers()

	return len(f) == 1 && f[0] == managed.FinalizerName
}
