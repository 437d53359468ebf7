// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"

	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
)

// TestUpdates ensures that what is written at the end of every reconcile does not ask for
// the next one, and that what others decide about a Workspace does.
func TestUpdates(t *testing.T) {
	t.Parallel()

	taken := predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, _ := e.ObjectOld.(*clusterv1beta1.Workspace)
		after, _ := e.ObjectNew.(*clusterv1beta1.Workspace)

		return before.GetOwnership().Claim == nil && after.GetOwnership().Claim != nil
	}}

	cases := map[string]struct {
		reason string
		change func(ws *clusterv1beta1.Workspace)
		want   int
	}{
		"Status": {
			reason: "Nothing is different for whoever wrote it.",
			change: func(ws *clusterv1beta1.Workspace) {
				ws.SetConditions(xpv2.Available())
				ws.SetOwnership(commonv1beta1.Ownership{Lineage: "lineage"})
			},
		},
		"Accepted": {
			reason: "The instance may work on it from now on.",
			change: func(ws *clusterv1beta1.Workspace) {
				ws.SetOwnership(commonv1beta1.Ownership{Claim: &commonv1beta1.Claim{Holder: "host-0_5ad8"}})
			},
			want: 1,
		},
		"Changed": {
			reason: "A person has changed it.",
			change: func(ws *clusterv1beta1.Workspace) { ws.SetGeneration(2) },
			want:   1,
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w := newWatch(newMemory(), newStaller(time.Minute, time.Now, logging.NewNopLogger()), func(client.Object) {}, taken)
			q := w.newQueue("test", workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
			t.Cleanup(q.ShutDown)

			before := settled()
			after := before.DeepCopy()
			tc.change(after)
			w.handler().Update(t.Context(), event.UpdateEvent{ObjectOld: before, ObjectNew: after}, q)

			if diff := cmp.Diff(tc.want, q.Len()); diff != "" {
				t.Errorf("%s\nrequests: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
