// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	namespacedv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/namespaced/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/queue"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

func TestUrgent(t *testing.T) {
	t.Parallel()

	failed := func(ws *clusterv1beta1.Workspace) {
		ws.SetConditions(xpv2.ReconcileError(context.Canceled).WithObservedGeneration(1))
	}
	requested := annotatedWith(meta.AnnotationKeyReconcileRequestedAt, "now")

	cases := map[string]struct {
		reason string
		ws     *clusterv1beta1.Workspace
		want   queue.Priority
	}{
		"New":     {reason: "A person waits for it.", ws: newWorkspace("a"), want: queue.Urgent},
		"Settled": {reason: "It is polled.", ws: settled()},
		"Changed": {reason: "This specification was never tried.", ws: settled(changedSpec), want: queue.Urgent},
		"Deleted": {reason: "A person waits until it is gone.", ws: settled(beingDeleted), want: queue.Urgent},
		"NotReady": {
			reason: "It is being created.",
			ws:     settled(func(ws *clusterv1beta1.Workspace) { ws.SetConditions(xpv2.Creating()) }),
			want:   queue.Urgent,
		},
		"Failed":             {reason: "It was tried, and others do not wait for the retry.", ws: settled(failed)},
		"FailedDeleted":      {reason: "The same is true when it is being deleted.", ws: settled(failed, beingDeleted)},
		"FailedChanged":      {reason: "The change may fix it.", ws: settled(failed, changedSpec), want: queue.Urgent},
		"Requested":          {reason: "A person asked for it.", ws: settled(requested), want: queue.Urgent},
		"FailedAndRequested": {reason: "A person asked for it.", ws: settled(failed, requested), want: queue.Urgent},
		"Handled": {
			reason: "The request was handled.",
			ws:     settled(requested, func(ws *clusterv1beta1.Workspace) { ws.SetLastHandledReconcileAt("now") }),
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if diff := cmp.Diff(tc.want, classify(tc.ws).Priority); diff != "" {
				t.Errorf("\n%s\nclassify(...): -want priority, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestTenant(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		ws     workspace.Workspace
		want   string
	}{
		"Namespace": {
			reason: "A namespace is one tenant, regardless of ProviderConfigs.",
			ws:     &namespacedv1beta1.Workspace{ObjectMeta: metav1.ObjectMeta{Namespace: "ns"}},
			want:   "ns",
		},
		"ProviderConfig": {
			reason: "Without a namespace, all Workspaces of one ProviderConfig are a tenant.",
			ws: settled(func(ws *clusterv1beta1.Workspace) {
				ws.SetProviderConfigReference(&xpv2.Reference{Name: "config"})
			}),
			want: "config",
		},
		"None": {reason: "There may be none yet.", ws: settled()},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if diff := cmp.Diff(tc.want, classify(tc.ws).Tenant); diff != "" {
				t.Errorf("\n%s\nclassify(...): -want tenant, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
