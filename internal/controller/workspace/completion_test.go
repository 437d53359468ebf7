// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"

	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
)

// TestCompletion has reconcilers that end with a write of the status, as the managed reconciler
// does, after what they have completed.
func TestCompletion(t *testing.T) {
	t.Parallel()

	finalizers := func(names ...string) func(*clusterv1beta1.Workspace) {
		return func(ws *clusterv1beta1.Workspace) { ws.SetFinalizers(names) }
	}

	type result struct {
		// passes of the reconciler, and writes of the status.
		passes, writes int

		// ready says that the Workspace is Ready then.
		ready bool
	}

	cases := map[string]struct {
		reason string
		done   func(ctx context.Context)
		change func(ws *clusterv1beta1.Workspace)
		failed error
		writes int
		want   result
		err    string
	}{
		"Created":        {reason: "An apply is complete when it ends.", done: completeCreation, writes: 9, want: result{passes: 2, writes: 1, ready: true}},
		"NotPublished":   {reason: "The outputs may not be in the Secret.", done: completeCreation, failed: errors.New("boom"), writes: 9, want: result{passes: 1, writes: 1}},
		"Nothing":        {reason: "Nothing was created or deleted.", done: func(context.Context) {}, writes: 9, want: result{passes: 1, writes: 1}},
		"Gone":           {reason: "The removal of the finalizer follows.", done: gone(true), change: finalizers(managed.FinalizerName), writes: 9, want: result{passes: 2}},
		"OtherFinalizer": {reason: "The Workspace stays, and its conditions are read.", done: gone(true), change: finalizers(managed.FinalizerName, "foregroundDeletion"), writes: 9, want: result{passes: 2, writes: 1}},
		"StateLeft":      {reason: "The state may take some time to delete.", done: gone(false), change: finalizers(managed.FinalizerName), writes: 9, want: result{passes: 2, writes: 1}},
		"NotDeleted":     {reason: "The next reconcile tries again.", done: gone(true), change: finalizers(managed.FinalizerName), failed: errors.New("boom"), writes: 9, want: result{passes: 1, writes: 1}},
		"NotWritten":     {reason: "The next reconcile tries again.", done: completeCreation, want: result{passes: 1}, err: "boom"},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r := newAttempt(t, with())
			r.maxWrites = tc.writes

			if tc.change != nil {
				tc.change(r.ws)
			}

			passes := 0
			kube := completionClient{r.kube}
			inner := reconcile.Func(func(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
				if passes++; passes > 1 {
					return reconcile.Result{}, nil
				}

				tc.done(ctx)
				r.ws.SetConditions(xpv2.Creating(), xpv2.ReconcileSuccess())

				if tc.failed != nil {
					r.ws.SetConditions(xpv2.ReconcileError(tc.failed))
				}

				return reconcile.Result{}, kube.Status().Update(ctx, r.ws)
			})

			_, err := completionReconciler{inner}.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(r.ws)})
			expectError(t, tc.reason, tc.err, err)

			got := result{passes: passes, writes: r.writes, ready: r.recorded(t).GetCondition(xpv2.TypeReady).Status == corev1.ConditionTrue}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(result{})); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func gone(all bool) func(context.Context) {
	return func(ctx context.Context) { completeDeletion(ctx, all) }
}
