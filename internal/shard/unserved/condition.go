// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package unserved

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// maxMarked is the largest number of Workspaces that one scan reads to set their condition.
const maxMarked = 100

// mark sets the condition Ready of a Workspace that no instance serves. It returns false if that has to be
// tried again at the next scan.
//
// The Workspace is the one that was listed, in the same version, and so is the one that is written:
// nothing is written over what an instance that has just begun to serve it has written.
func (w *Watcher) mark(ctx context.Context, listed *metav1.PartialObjectMetadata, message string) (bool, error) {
	ws, err := w.read(ctx, listed)

	switch {
	case kerrors.IsNotFound(err):
		return true, nil
	case err != nil:
		return false, errors.Wrap(err, "cannot get Workspace")
	case ws.GetResourceVersion() != listed.GetResourceVersion():
		return false, nil
	case !mayMark(ws):
		return true, nil
	}

	// Its last instance may still work on it after a change of the label.
	if c := ws.GetOwnership().Claim; c != nil && w.MayLive(ctx, *c) {
		return false, nil
	}

	ready := xpv2.Unavailable().WithMessage(message).WithObservedGeneration(ws.GetGeneration())
	ready.Reason = workspace.ReasonNotServed

	if ws.GetCondition(xpv2.TypeReady).Equal(ready) {
		return true, nil
	}

	before, _ := ws.DeepCopyObject().(client.Object) // A Workspace is one.
	ws.SetConditions(ready)

	err = w.Statuses.Patch(ctx, ws, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
	if kerrors.IsConflict(err) {
		return false, nil
	}

	return err == nil, errors.Wrap(client.IgnoreNotFound(err), "cannot set condition of Workspace")
}

// mayMark says whether a Workspace waits for an instance. One that is paused does not. The infrastructure of
// one that is ready with its current specification stays as specified, and what depends on it must
// not fail while an instance is replaced.
func mayMark(ws workspace.Workspace) bool {
	// Without an instance, Synced stays as it was in a pause that has ended.
	if meta.IsPaused(ws) || len(ws.GetManagementPolicies()) == 0 {
		return false
	}

	// An older version of this provider did not record the generation.
	c := ws.GetCondition(xpv2.TypeReady)

	return c.Status != corev1.ConditionTrue || c.ObservedGeneration != 0 && c.ObservedGeneration != ws.GetGeneration()
}

func (w *Watcher) read(ctx context.Context, listed *metav1.PartialObjectMetadata) (workspace.Workspace, error) {
	for _, k := range workspace.Kinds() {
		if ws, ok := k.Object.DeepCopyObject().(workspace.Workspace); ok && k.GroupVersionKind == listed.GroupVersionKind() {
			return ws, w.Live.Get(ctx, client.ObjectKeyFromObject(listed), ws)
		}
	}

	return nil, errors.Errorf("%s is not a kind of Workspace", listed.GroupVersionKind())
}
