// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	"github.com/crossplane-contrib/provider-terraform/internal/providerconfig"
	"github.com/crossplane-contrib/provider-terraform/internal/queue"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// Facts returns the Facts of a Workspace.
func (p Policy) Facts(ws workspace.Workspace) Facts {
	ready, synced := ws.GetCondition(xpv2.TypeReady), ws.GetCondition(xpv2.TypeSynced)
	o := ws.GetObservation()

	f := Facts{
		UID:          ws.GetUID(),
		Interval:     p.Interval,
		Desired:      Desired(ws),
		Deleted:      meta.WasDeleted(ws),
		Paused:       meta.IsPaused(ws) || p.ManagementPolicies && len(ws.GetManagementPolicies()) == 0,
		Requested:    isRequested(ws),
		OnlyObserves: workspace.OnlyObserves(ws),
		MayUpdate:    workspace.MayUpdate(ws),
		MayDelete:    workspace.MayDelete(ws),
		Owns:         workspace.Owns(ws),
		Ready:        ready.Status == corev1.ConditionTrue,
		Current:      ready.ObservedGeneration == ws.GetGeneration(),
		Synced:       synced.Status == corev1.ConditionTrue,
		Drifted:      ws.GetCondition(workspace.TypeDrifted).Status == corev1.ConditionTrue,
		WasPaused:    synced.Reason == xpv2.ReasonReconcilePaused,
		SaysWhy:      synced.Reason == xpv2.ReasonReconcilePaused && synced.Message == workspace.WhyPaused(ws),
		Complete:     o.Checksum != "" && o.State != nil && o.Plan == nil,
	}

	if d, ok := meta.GetPollInterval(ws); ok {
		f.Interval = max(d, MinInterval)
	}

	f.Interval = min(f.Interval, maxInterval)

	return f
}

// Desired returns a digest of everything that people write in a Workspace: its generation, which
// stands for the specification, its labels and its annotations. Each change requires a new plan:
// people annotate a Workspace to have a module fetched at once, for example. Values that the provider
// writes do not count. Otherwise each creation and each move to another shard would cost a plan.
func Desired(o client.Object) string {
	labels, annotations := maps.Clone(o.GetLabels()), maps.Clone(o.GetAnnotations())

	maps.DeleteFunc(labels, func(key, _ string) bool { return strings.HasPrefix(key, workspace.KeyPrefix) })
	maps.DeleteFunc(annotations, func(key, _ string) bool {
		switch key {
		case meta.AnnotationKeyExternalCreatePending, meta.AnnotationKeyExternalCreateSucceeded, meta.AnnotationKeyExternalCreateFailed:
			return true
		case workspace.AcceptLostStateAnnotationKey, workspace.AcceptTakenOverStateAnnotationKey, workspace.ApprovePlanAnnotationKey:
			return false
		default:
			return strings.HasPrefix(key, workspace.KeyPrefix)
		}
	})

	// The provider writes the default, with the finalizer or at the second attempt.
	if annotations[meta.AnnotationKeyExternalName] == o.GetName() {
		delete(annotations, meta.AnnotationKeyExternalName)
	}

	// Keys of maps are sorted. An empty map equals none.
	text, _ := json.Marshal(struct {
		Generation  int64             `json:"generation"`
		Labels      map[string]string `json:"labels,omitempty"`
		Annotations map[string]string `json:"annotations,omitempty"`
	}{o.GetGeneration(), labels, annotations})

	return fmt.Sprintf("%x", sha256.Sum256(text))
}

func classify(ws workspace.Workspace) queue.Class {
	c := queue.Class{Tenant: tenantOf(ws)}

	if isUrgent(ws) {
		c.Priority = queue.Urgent
	}

	return c
}

// isUrgent says whether people wait for a Workspace: it is new, changed, requested or being deleted, and
// this was not tried yet.
func isUrgent(ws workspace.Workspace) bool {
	synced := ws.GetCondition(xpv2.TypeSynced)
	tried := synced.Status != corev1.ConditionUnknown && synced.ObservedGeneration == ws.GetGeneration()

	if !tried || isRequested(ws) {
		return true
	}

	// Others do not wait for retries.
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

	return providerconfig.RefOf(ws).Name
}
