// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"

	"github.com/crossplane-contrib/provider-terraform/internal/schedule"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// The managed reconciler writes a new resource three times before it creates anything: with its
// external name, with the finalizer, and with the annotation that creation begins. The types in
// this file leave the first two to the third write.

// An initializer sets the default of the external name, and leaves its write to the finalizer.
type initializer struct{ kube client.Client }

func (i initializer) Initialize(ctx context.Context, mg resource.Managed) error {
	if meta.WasDeleted(mg) || meta.FinalizerExists(mg, managed.FinalizerName) {
		return managed.NewNameAsExternalName(i.kube).Initialize(ctx, mg)
	}

	if meta.GetExternalName(mg) == "" {
		meta.SetExternalName(mg, mg.GetName())
	}

	return nil
}

// A finalizer leaves the write of the finalizer to the managed reconciler if a creation follows.
type finalizer struct {
	resource.Finalizer

	records *schedule.Records
}

func newFinalizer(kube client.Client, r *schedule.Records) finalizer {
	return finalizer{Finalizer: resource.NewAPIFinalizer(kube, managed.FinalizerName), records: r}
}

func (f finalizer) AddFinalizer(ctx context.Context, o resource.Object) error {
	ws, ok := o.(workspace.Workspace)
	if r := f.records.Get(o); !ok || !r.Observed() || r.Observation.Exists || !workspace.MayCreate(ws) {
		return f.Finalizer.AddFinalizer(ctx, o)
	}

	meta.AddFinalizer(o, managed.FinalizerName)

	return nil
}
