// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package assigner

import (
	"context"
	"encoding/json"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/shard"
)

// assign decides where a Workspace belongs, and writes its labels if that is not where it is. It
// returns whether it has written them.
//
// The write fails if the Workspace was changed since it was read: a person may just have pinned
// it, or another assigner may have moved it. The write is decided again then.
func (a *Assigner) assign(ctx context.Context, ws *metav1.PartialObjectMetadata, members []string) (bool, error) {
	to, move := Decide(Situation{UID: ws.GetUID(), Labels: ws.GetLabels(), Members: members})
	if !move {
		return false, nil
	}

	if err := a.limiter.Wait(ctx); err != nil {
		return false, err
	}

	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid":             ws.GetUID(),
		"resourceVersion": ws.GetResourceVersion(),
		"labels":          map[string]string{shard.LabelKey: to, shard.AssignedLabelKey: to},
	}})
	if err != nil {
		return false, errors.Wrap(err, "cannot make patch of labels")
	}

	err = a.Kube.Patch(ctx, ws, client.RawPatch(types.MergePatchType, patch))

	switch {
	case kerrors.IsConflict(err), kerrors.IsNotFound(err):
		return false, nil
	case err != nil:
		return false, errors.Wrapf(err, "cannot assign Workspace %q to shard %q", client.ObjectKeyFromObject(ws), to)
	default:
		return true, nil
	}
}
