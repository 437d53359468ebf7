// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"

	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
)

func newWorkspace(uid string) *clusterv1beta1.Workspace {
	return &clusterv1beta1.Workspace{ObjectMeta: metav1.ObjectMeta{Name: "ws", UID: types.UID(uid)}}
}

// settled returns a Workspace that is created, Ready and Synced as it is.
func settled(change ...func(ws *clusterv1beta1.Workspace)) *clusterv1beta1.Workspace {
	ws := newWorkspace("a")
	ws.SetGeneration(1)
	meta.AddFinalizer(ws, managed.FinalizerName)
	ws.SetConditions(xpv2.Available().WithObservedGeneration(1), xpv2.ReconcileSuccess().WithObservedGeneration(1))
	ws.SetObservation(commonv1beta1.WorkspaceObservation{Checksum: "c", State: &commonv1beta1.StateSummary{Lineage: "l", Resources: 1}})
	meta.SetExternalCreateSucceeded(ws, time.Now())

	for _, fn := range change {
		fn(ws)
	}

	return ws
}

func changedSpec(ws *clusterv1beta1.Workspace) { ws.SetGeneration(2) }

func withPolicies(p ...xpv2.ManagementAction) func(ws *clusterv1beta1.Workspace) {
	return func(ws *clusterv1beta1.Workspace) { ws.SetManagementPolicies(p) }
}

func beingDeleted(ws *clusterv1beta1.Workspace) {
	now := metav1.Now()
	ws.SetDeletionTimestamp(&now)
}

func annotatedWith(key, value string) func(ws *clusterv1beta1.Workspace) {
	return func(ws *clusterv1beta1.Workspace) { meta.AddAnnotations(ws, map[string]string{key: value}) }
}

func requestOf(name string) reconcile.Request {
	return reconcile.Request{NamespacedName: client.ObjectKey{Name: name}}
}
