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
// whenever a new version is rolled out, and whenever there are more or fewer shards. A
// Secret that was written to in between is taken for another one, whatever it has.
func (e *external) recall(ws workspace.Workspace) (look, bool) {
	l, ok := e.memory.recall(ws.GetUID())
	if ok || !isSettled(ws) || ws.GetObservation().Checksum != e.checksum || !e.mayBelieve(ws) {
		return l, ok
	}

	l = look{inputs: e.inputs, at: e.schedule.before(ws), exists: true, upToDate: true, told: true}
	e.memory.keep(ws.GetUID(), l)

	return l, true
}

// mayBelieve says whether what the status tells is what this instance would see, too. Another
// one has another disk: the state may have been there, or there may be one here that a run
// could not save.
func (e *external) mayBelieve(ws workspace.Workspace) bool {
	if !e.inherited(ws) {
		return true
	}

	if !e.runner.StateAnywhere() {
		return false
	}

	unsaved, err := e.runner.UnsavedState()

	return err == nil && unsaved == ""
}

// isSettled says whether the status of a Workspace tells that all was well when it
// was last looked at, and that it has not been changed since.
func isSettled(ws workspace.Workspace) bool {
	o := ws.GetObservation()
	ready, synced := ws.GetCondition(xpv2.TypeReady), ws.GetCondition(xpv2.TypeSynced)

	return ready.Status == corev1.ConditionTrue && ready.ObservedGeneration == ws.GetGeneration() &&
		synced.Status == corev1.ConditionTrue &&
		o.Checksum != "" && o.State != nil && o.Plan == nil && workspace.Owns(ws)
}

// wasPaused says whether a Workspace was paused when it was last reconciled. What has
// happened to the infrastructure meanwhile is what people want to see when they
// take the pause away.
func wasPaused(ws workspace.Workspace) bool {
	return ws.GetCondition(xpv2.TypeSynced).Reason == xpv2.ReasonReconcilePaused
}
