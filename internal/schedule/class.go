// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	corev1 "k8s.io/api/core/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	"github.com/crossplane-contrib/provider-terraform/internal/providerconfig"
	"github.com/crossplane-contrib/provider-terraform/internal/queue"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// classify returns the class of a Workspace: people wait for Workspaces that are new, changed,
// requested or being deleted, until the first attempt.
func classify(ws workspace.Workspace) queue.Class {
	c := queue.Class{Tenant: tenantOf(ws)}

	if isUrgent(ws) {
		c.Priority = queue.Urgent
	}

	return c
}

func isUrgent(ws workspace.Workspace) bool {
	synced := ws.GetCondition(xpv2.TypeSynced)
	tried := synced.Status != corev1.ConditionUnknown && synced.ObservedGeneration == ws.GetGeneration()

	if !tried || isRequested(ws) {
		return true
	}

	// A Workspace that failed is retried, but others do not wait for that.
	return synced.Status == corev1.ConditionTrue && (meta.WasDeleted(ws) || ws.GetCondition(xpv2.TypeReady).Status != corev1.ConditionTrue)
}

// isRequested says whether a person asked for a reconcile that was not handled yet.
func isRequested(ws workspace.Workspace) bool {
	token, ok := meta.GetReconcileRequest(ws)

	return ok && token != ws.GetLastHandledReconcileAt()
}

// tenantOf returns the tenant of a Workspace: its namespace or, without one, its ProviderConfig.
func tenantOf(ws workspace.Workspace) string {
	if ns := ws.GetNamespace(); ns != "" {
		return ns
	}

	ref, _ := providerconfig.RefOf(ws)

	return ref.Name
}
