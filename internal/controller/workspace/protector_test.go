// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"

	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
)

// TestIsUnprotected ensures that only Workspaces with infrastructure get the finalizer again. TestRemovedFinalizer does it.
func TestIsUnprotected(t *testing.T) {
	t.Parallel()

	type change = func(ws *clusterv1beta1.Workspace)

	now := metav1.NewTime(time.Unix(1, 0))
	begun := func(ws *clusterv1beta1.Workspace) { ws.SetOwnership(commonv1beta1.Ownership{CreationStarted: &now}) }
	owner := func(ws *clusterv1beta1.Workspace) { ws.SetOwnership(commonv1beta1.Ownership{Lineage: "l"}) }
	observed := func(ws *clusterv1beta1.Workspace) {
		ws.SetObservation(commonv1beta1.WorkspaceObservation{Checksum: "c"})
	}
	observes := func(ws *clusterv1beta1.Workspace) {
		ws.SetManagementPolicies(xpv2.ManagementPolicies{xpv2.ManagementActionObserve})
	}
	deleted := func(ws *clusterv1beta1.Workspace) { ws.SetDeletionTimestamp(&now) }
	protected := func(ws *clusterv1beta1.Workspace) { meta.AddFinalizer(ws, managed.FinalizerName) }

	cases := map[string]struct {
		reason  string
		changes []change
		want    bool
	}{
		"New":       {reason: "It has nothing."},
		"Begun":     {reason: "It may have something.", changes: []change{begun}, want: true},
		"Owner":     {reason: "It has a state.", changes: []change{owner}, want: true},
		"Legacy":    {reason: "An older version of the provider has reconciled it.", changes: []change{observed}, want: true},
		"Observes":  {reason: "It destroys nothing.", changes: []change{observed, observes}},
		"Deleted":   {reason: "The API server takes no finalizer then.", changes: []change{begun, deleted}},
		"Protected": {reason: "The finalizer is there.", changes: []change{begun, protected}},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			ws := &clusterv1beta1.Workspace{}
			for _, fn := range tc.changes {
				fn(ws)
			}

			if got := isUnprotected(ws); got != tc.want {
				t.Errorf("%s: want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}
