// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	corev1 "k8s.io/api/core/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// recall the last look. An instance that has just got a Workspace takes the word of the one
// before it, until the next look is due: otherwise all Workspaces would be planned
// whenever a new version is rolled out, and whenever there are more or fewer shards.
func (e *external) recall(ws workspace.Workspace) (look, bool) {
	l, ok := e.memory.recall(ws.GetUID())
	if ok || !isSettled(ws) {
		return l, ok
	}

	l = look{inputs: ws.GetObservation().Checksum, at: e.schedule.before(ws), exists: true, upToDate: true, told: true}
	e.memory.keep(ws.GetUID(), l)

	return l, true
}

// isSettled says whether the status of a Workspace tells that all was well when it
// was last looked at, and that it has not been changed since.
func isSettled(ws workspace.Workspace) bool {
	o := ws.GetObservation()
	ready, synced := ws.GetCondition(xpv2.TypeReady), ws.GetCondition(xpv2.TypeSynced)

	return ready.Status == corev1.ConditionTrue && ready.ObservedGeneration == ws.GetGeneration() &&
		synced.Status == corev1.ConditionTrue &&
		o.Checksum != "" && o.State != nil && o.Plan == nil && ownsState(ws)
}
