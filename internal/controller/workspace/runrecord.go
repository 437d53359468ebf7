// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-terraform/internal/runner"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// writeRunRecord records which state of the Workspace a run is about to change. replaced is the start
// of a creation on this disk that the status may still have, or nil.
func (e *external) writeRunRecord(ws workspace.Workspace, s *terraform.State, replaced *metav1.Time) error {
	return e.runner.WriteRunRecord(runner.RunRecord{
		StateSummary:    summarizeState(s),
		Taken:           e.taken(ws),
		Host:            e.locks.Host,
		CreationStarted: ws.GetOwnership().CreationStarted,
		Replaced:        replaced,
	})
}

// beganHere says whether the directory of the Workspace is the one in which the creation of
// its infrastructure began.
func (e *external) beganHere(ws workspace.Workspace) (bool, error) {
	n, err := e.runner.RunRecord()
	if err != nil || n == nil {
		return false, err
	}

	started := ws.GetOwnership().CreationStarted

	return n.CreationStarted.Equal(started) || (n.Replaced != nil && n.Replaced.Equal(started)), nil
}

// taken is when this instance took the Workspace.
func (e *external) taken(ws workspace.Workspace) time.Time { return e.locks.Predecessors(ws).Until }
