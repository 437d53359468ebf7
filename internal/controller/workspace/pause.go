// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// reasonResumed is the reason of Synced during the first reconcile after a pause.
const reasonResumed xpv2.ConditionReason = "ReconcileResumed"

// errPausedAgain is the result of Observe for a Workspace that was changed, and perhaps paused, since it was read. After a conflict, the
// managed reconciler requeues the Workspace.
var errPausedAgain = kerrors.NewConflict(schema.GroupResource{Resource: "workspaces"}, "", errors.New("it was changed when its pause ended"))

// endPause replaces the condition that says that a Workspace is paused, before the first run after the pause. A person who pauses it once
// more during this run waits for that condition, and then works with the state by hand.
func (ps *pass) endPause(ctx context.Context, ws workspace.Workspace) error {
	if ws.GetCondition(xpv2.TypeSynced).Reason != xpv2.ReasonReconcilePaused {
		return nil
	}

	before, _ := ws.DeepCopyObject().(client.Object) // A Workspace is one.
	ws.SetConditions(xpv2.Condition{
		Type: xpv2.TypeSynced, Status: corev1.ConditionUnknown, Reason: reasonResumed, ObservedGeneration: ws.GetGeneration(), LastTransitionTime: metav1.NewTime(ps.now()),
		Message: "The pause has ended, and the first reconcile after it is in progress, or waits for its turn",
	})

	err := ps.kube.Status().Patch(ctx, ws, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
	if kerrors.IsConflict(err) {
		return errPausedAgain
	}

	return errors.Wrap(err, "cannot record that the pause has ended")
}
