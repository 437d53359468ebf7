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
// returns whether it is where it belongs.
//
// The write fails if the Workspace was changed since it was read: a person may just have pinned
// it, or another assigner may have moved it. The members do not change during the write: otherwise
// it could come after the list of those that have to leave a shard.
func (a *Assigner) assign(ctx context.Context, ws *metav1.PartialObjectMetadata, m *membership) (bool, error) {
	if err := a.limiter.Wait(ctx); err != nil {
		return false, err
	}

	m.mu.RLock()
	defer m.mu.RUnlock()

	to, move := Decide(ws.GetUID(), ws.GetLabels(), m.members)
	if !move {
		return true, nil
	}

	err := a.label(ctx, ws, to)

	switch {
	case kerrors.IsConflict(err), kerrors.IsNotFound(err):
		return false, nil
	case err != nil:
		return false, err
	}

	a.Metrics.Moved()

	return true, nil
}

// label writes the labels of a Workspace, if it is unchanged since it was read.
func (a *Assigner) label(ctx context.Context, ws *metav1.PartialObjectMetadata, to string) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid":             ws.GetUID(),
		"resourceVersion": ws.GetResourceVersion(),
		"labels":          map[string]string{shard.LabelKey: to, shard.AssignedLabelKey: to},
	}})
	if err != nil {
		return errors.Wrap(err, "cannot make patch of labels")
	}

	return errors.Wrapf(a.Kube.Patch(ctx, ws, client.RawPatch(types.MergePatchType, patch)), "cannot assign Workspace %q to shard %q", client.ObjectKeyFromObject(ws), to)
}
