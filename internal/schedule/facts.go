// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	corev1 "k8s.io/api/core/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

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
		Paused:       meta.IsPaused(ws),
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
		Complete:     o.Checksum != "" && o.State != nil && o.Plan == nil,
	}

	if d, ok := meta.GetPollInterval(ws); ok {
		f.Interval = max(d, MinInterval)
	}

	f.Interval = min(f.Interval, MaxInterval)

	return f
}
