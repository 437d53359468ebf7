// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	xpmeta "github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

func TestStaller(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	poll := 10 * time.Minute

	cases := map[string]struct {
		reason   string
		failures int
		then     func(s *staller, ws *clusterv1beta1.Workspace)
		stalled  bool
		wait     time.Duration
	}{
		"FewFailures": {
			reason:   "A Workspace that failed a few times is tried as any other.",
			failures: stallAfter - 1,
		},
		"ManyFailures": {
			reason:   "One that keeps failing has to wait.",
			failures: stallAfter,
			stalled:  true,
			wait:     stallBase,
		},
		"MoreFailures": {
			reason:   "It has to wait longer with every failure.",
			failures: stallAfter + 2,
			stalled:  true,
			wait:     4 * stallBase,
		},
		"CountlessFailures": {
			reason:   "It never waits longer than a healthy one for its next poll.",
			failures: 1000,
			stalled:  true,
			wait:     poll,
		},
		"Succeeded": {
			reason:   "A success makes up for all failures.",
			failures: stallAfter,
			then:     func(s *staller, ws *clusterv1beta1.Workspace) { s.succeeded(ws.GetUID()) },
		},
		"Changed": {
			reason:   "A changed specification is tried at once.",
			failures: stallAfter,
			then:     func(_ *staller, ws *clusterv1beta1.Workspace) { ws.SetGeneration(2) },
		},
		"Requested": {
			reason:   "So is a Workspace for which a reconcile was requested.",
			failures: stallAfter,
			then: func(_ *staller, ws *clusterv1beta1.Workspace) {
				ws.SetAnnotations(map[string]string{xpmeta.AnnotationKeyReconcileRequestedAt: "now"})
			},
		},
		"Renamed": {
			reason:   "So is one that belongs to another state now.",
			failures: stallAfter,
			then:     func(_ *staller, ws *clusterv1beta1.Workspace) { xpmeta.SetExternalName(ws, "other") },
		},
		"AcceptedLoss": {
			reason:   "So is one whose lost state was accepted as lost.",
			failures: stallAfter,
			then: func(_ *staller, ws *clusterv1beta1.Workspace) {
				ws.SetAnnotations(map[string]string{workspace.AcceptLostStateAnnotationKey: workspace.LineageUnknown})
			},
		},
		"FailedAfterChange": {
			reason:   "A failure of the changed specification is its first.",
			failures: stallAfter,
			then: func(s *staller, ws *clusterv1beta1.Workspace) {
				ws.SetGeneration(2)
				s.failed(ws)
			},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := newStaller(poll, func() time.Time { return now })
			ws := workspaceWithUID("a")

			for range tc.failures {
				s.failed(ws)
			}

			if tc.then != nil {
				tc.then(s, ws)
			}

			f, stalled := s.stalled(ws)
			if stalled != tc.stalled {
				t.Fatalf("\n%s\nstalled(...): want %t, got %t", tc.reason, tc.stalled, stalled)
			}

			if got := f.retry.Sub(now); stalled && got != tc.wait {
				t.Errorf("\n%s\nstalled(...): want a retry after %s, got %s", tc.reason, tc.wait, got)
			}
		})
	}
}

func TestStallerReconciler(t *testing.T) {
	t.Parallel()

	now := time.Now()
	stalled := workspaceWithUID("a")
	stalled.SetConditions(xpv2.Condition{
		Type:    typeStalled,
		Status:  corev1.ConditionTrue,
		Reason:  reasonRepeatedFailure,
		Message: fmt.Sprintf("Failed %d times or more: it is tried less often, until it succeeds or changes. Synced has the last failure", stallAfter),
	})

	paused := stalled.DeepCopy()
	paused.SetAnnotations(map[string]string{xpmeta.AnnotationKeyReconciliationPaused: "true"})

	cases := map[string]struct {
		reason string
		ws     *clusterv1beta1.Workspace
		later  time.Duration
		want   reconcile.Result
		runs   int
	}{
		"NotDue": {
			reason: "It is put off until it is.",
			ws:     stalled,
			want:   reconcile.Result{RequeueAfter: stallBase},
		},
		"Due": {
			reason: "It does not wait for the queue to try it again.",
			ws:     stalled,
			later:  stallBase,
			want:   reconcile.Result{RequeueAfter: time.Second},
			runs:   1,
		},
		"Paused": {
			reason: "There is nothing to do before a person says so.",
			ws:     paused,
			later:  2 * stallBase,
			runs:   1,
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := newStaller(time.Hour, func() time.Time { return now })
			for range stallAfter {
				s.failed(tc.ws)
			}

			at := now.Add(tc.later)
			s.now = func() time.Time { return at }

			runs := 0
			inner := reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) {
				runs++

				return reconcile.Result{}, nil
			})

			kube := stubClient{ws: tc.ws}

			got, err := s.reconciler(inner, kube, kube, workspace.Kinds()[0]).Reconcile(t.Context(), requestOf("a"))
			if err != nil {
				t.Fatal(err)
			}

			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nReconcile(...): -want, +got:\n%s", tc.reason, diff)
			}

			if runs != tc.runs {
				t.Errorf("\n%s\nReconcile(...): want %d runs, got %d", tc.reason, tc.runs, runs)
			}
		})
	}
}
