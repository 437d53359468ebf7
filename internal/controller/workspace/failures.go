// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"

	"github.com/crossplane-contrib/provider-terraform/internal/schedule"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// recordFailure records that a reconcile of a Workspace failed. The managed reconciler writes the
// condition Stalled together with Synced, which contains the error.
//
// It logs when a Workspace becomes stalled, and notStalled logs when it no longer is: without
// --debug, the log has no other trace of a failure.
func recordFailure(r *schedule.Records, log logging.Logger, ws workspace.Workspace, err error) {
	f := r.Fail(ws)
	if !f.Stalled() {
		notStalled(ws, log)

		return
	}

	next := f.Retry.UTC().Format(time.RFC3339)
	if transition(ws, workspace.TypeStalled, corev1.ConditionTrue, reasonRepeatedFailure, fmt.Sprintf("Failed %d times in a row: it is tried less often, until it succeeds or changes. The next try is at %s. Synced has the last failure", f.Count, next)) {
		withIdentity(log, ws).Info("Workspace is stalled: it keeps failing, and is tried less often", "error", err, "next-try", next)
	}
}

// recordSuccess records that nothing is left to do for a Workspace.
func recordSuccess(r *schedule.Records, log logging.Logger, ws workspace.Workspace) {
	r.Succeed(ws)
	notStalled(ws, log)
}

// notStalled clears the condition of a Workspace that was stalled.
func notStalled(ws workspace.Workspace, log logging.Logger) {
	if ws.GetCondition(workspace.TypeStalled).Status == corev1.ConditionTrue && transition(ws, workspace.TypeStalled, corev1.ConditionFalse, reasonRetried, "") {
		withIdentity(log, ws).Info("Workspace is not stalled any more")
	}
}

func withIdentity(log logging.Logger, ws workspace.Workspace) logging.Logger {
	return log.WithValues("uid", ws.GetUID(), "namespace", ws.GetNamespace(), "name", ws.GetName())
}
