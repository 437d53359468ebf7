// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// A stubClient has one Workspace, or none.
type stubClient struct {
	client.Client

	ws *clusterv1beta1.Workspace
}

func (c stubClient) Get(_ context.Context, key client.ObjectKey, o client.Object, _ ...client.GetOption) error {
	to, ok := o.(*clusterv1beta1.Workspace)
	if c.ws == nil || !ok {
		return kerrors.NewNotFound(schema.GroupResource{}, key.Name)
	}

	c.ws.DeepCopyInto(to)

	return nil
}

func TestLanesReconciler(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		ws     *clusterv1beta1.Workspace
		lanes  int
		want   reconcile.Result
		runs   int
		free   int
	}{
		"Free": {
			reason: "There is a lane, and it is free again in the end.",
			ws:     workspaceWithUID("a"),
			lanes:  1,
			runs:   1,
			free:   1,
		},
		"Waits": {
			reason: "There is none. It is asked again in case that nobody calls.",
			ws:     workspaceWithUID("a"),
			want:   reconcile.Result{RequeueAfter: laneTimeout},
		},
		"NotNeeded": {
			reason: "Who is settled needs none.",
			ws:     settled(),
			runs:   1,
		},
		"Vanished": {
			reason: "There is nothing to do.",
			lanes:  1,
			free:   1,
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			runs := 0
			l := newLanes(tc.lanes, newTestWatch(newMemory()))
			r := l.outermost(l.reconciler(reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) {
				runs++

				if diff := cmp.Diff(0, l.free); diff != "" {
					t.Errorf("\n%s\nfree lanes meanwhile: -want, +got:\n%s", tc.reason, diff)
				}

				return reconcile.Result{}, nil
			}), stubClient{ws: tc.ws}, workspace.Kind{Object: &clusterv1beta1.Workspace{}}))

			got, err := r.Reconcile(t.Context(), requestOf("a"))
			if err != nil {
				t.Fatal(err)
			}

			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nReconcile(...): -want, +got:\n%s", tc.reason, diff)
			}

			if diff := cmp.Diff([]int{tc.runs, tc.free}, []int{runs, l.free}); diff != "" {
				t.Errorf("\n%s\nruns and free lanes: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestLaneNeeded(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		ws     *clusterv1beta1.Workspace
		seen   *look
		want   bool
	}{
		"New":     {reason: "It is going to be created.", ws: workspaceWithUID("a"), want: true},
		"Settled": {reason: "It is polled.", ws: settled()},
		"Changed": {
			reason: "Its new specification is going to be applied.",
			ws:     settled(func(ws *clusterv1beta1.Workspace) { ws.SetGeneration(2) }),
			want:   true,
		},
		"Drifted": {
			reason: "The last plan said so.",
			ws:     settled(),
			seen:   &look{exists: true},
			want:   true,
		},
		"UpToDate": {
			reason: "The last plan said that there is nothing to do.",
			ws:     settled(),
			seen:   &look{exists: true, upToDate: true},
		},
		"Deleted":       {reason: "It is going to be destroyed.", ws: settled(deleted), want: true},
		"DeletedExists": {reason: "It is going to be destroyed.", ws: settled(deleted), seen: &look{exists: true, upToDate: true}, want: true},
		"Destroyed":     {reason: "It was destroyed already.", ws: settled(deleted), seen: &look{}},
		"Paused": {
			reason: "Nothing is done.",
			ws: settled(deleted, func(ws *clusterv1beta1.Workspace) {
				meta.AddAnnotations(ws, map[string]string{meta.AnnotationKeyReconciliationPaused: "true"})
			}),
		},
		"Observed": {
			reason: "It is only looked at.",
			ws: settled(func(ws *clusterv1beta1.Workspace) {
				ws.SetGeneration(2)
				ws.SetManagementPolicies(xpv2.ManagementPolicies{xpv2.ManagementActionObserve})
			}),
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			m := newMemory()
			if tc.seen != nil {
				m.keep("a", *tc.seen)
			}

			if got := newLanes(1, newTestWatch(m)).needed(tc.ws); got != tc.want {
				t.Errorf("\n%s\nneeded(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}
