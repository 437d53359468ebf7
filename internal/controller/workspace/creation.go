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

	"github.com/crossplane-contrib/provider-terraform/internal/statusclient"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// The managed reconciler marks a resource that it has created as Creating, and observes it once
// more: the creation of most resources goes on after the request for it. An apply is complete
// when it ends. Without the types in this file, a Workspace would become Ready only after all
// others that wait in the queue.

type creationKey struct{}

// A creation is what one reconcile creates.
type creation struct {
	// succeeded says that everything was created.
	succeeded bool

	// ready is the Workspace as it was written after that.
	ready workspace.Workspace
}

// succeed records in the context of a creationReconciler that Create has succeeded.
func succeed(ctx context.Context) {
	if c, ok := ctx.Value(creationKey{}).(*creation); ok {
		c.succeeded = true
	}
}

// A creationReconciler lets inner observe what it has created at once, without a request: its
// metric of the time to readiness needs that.
type creationReconciler struct{ inner reconcile.Reconciler }

func (r creationReconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	c := &creation{}

	result, err := r.inner.Reconcile(context.WithValue(ctx, creationKey{}, c), req)
	if c.ready == nil {
		return result, err
	}

	return r.inner.Reconcile(statusclient.WithLatest(ctx, c.ready), req)
}

// A creationClient marks a Workspace as Ready in the status write that ends its creation. It must
// be the client of the managed reconciler.
type creationClient struct{ client.Client }

// Status returns a writer of statuses.
func (c creationClient) Status() client.SubResourceWriter {
	return creationStatusWriter{c.Client.Status()}
}

type creationStatusWriter struct{ client.SubResourceWriter }

func (w creationStatusWriter) Update(ctx context.Context, o client.Object, opts ...client.SubResourceUpdateOption) error {
	c, ok := ctx.Value(creationKey{}).(*creation)
	ws, isWorkspace := o.(workspace.Workspace)

	// What was created may not have been published.
	if !ok || !isWorkspace || !c.succeeded || ws.GetCondition(xpv2.TypeSynced).Status != corev1.ConditionTrue {
		return w.SubResourceWriter.Update(ctx, o, opts...)
	}

	ready(ws)

	if err := w.SubResourceWriter.Update(ctx, o, opts...); err != nil {
		return err
	}

	c.ready = ws

	return nil
}
