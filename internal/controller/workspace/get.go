// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"

	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// get the Workspace that a request is about. It is nil if there is none (any more).
func get(ctx context.Context, kube client.Reader, kind workspace.Kind, req reconcile.Request) (workspace.Workspace, error) {
	ws, ok := kind.Object.DeepCopyObject().(workspace.Workspace)
	if !ok {
		return nil, reconcile.TerminalError(errors.Errorf("%T is not a Workspace", kind.Object))
	}

	if err := kube.Get(ctx, req.NamespacedName, ws); err != nil {
		return nil, errors.Wrap(resource.IgnoreNotFound(err), "cannot get Workspace")
	}

	return ws, nil
}
