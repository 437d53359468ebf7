// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	xpmeta "github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
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
		"Annotated": {
			reason:   "So is one that a person has annotated, for whatever reason.",
			failures: stallAfter,
			then: func(_ *staller, ws *clusterv1beta1.Workspace) {
				xpmeta.AddAnnotations(ws, map[string]string{"example.org/refresh": "1"})
			},
		},
		"Bookkeeping": {
			reason:   "What the provider writes itself makes up for nothing.",
			failures: stallAfter,
			then:     func(_ *staller, ws *clusterv1beta1.Workspace) { xpmeta.SetExternalCreatePending(ws, now) },
			stalled:  true,
			wait:     stallBase,
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

			s := newStaller(poll, func() time.Time { return now }, logging.NewNopLogger())
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

// stalledMessage is the message of the condition of a stalled Workspace.
func stalledMessage(next time.Time) string {
	return fmt.Sprintf("Failed %d times or more: it is tried less often, until it succeeds or changes. The next try is at %s. Synced has the last failure", stallAfter, next.UTC().Format(time.RFC3339))
}

func TestStallerReconciler(t *testing.T) {
	t.Parallel()

	now := time.Now()
	stalled := workspaceWithUID("a")
	stalled.SetConditions(xpv2.Condition{
		Type:    typeStalled,
		Status:  corev1.ConditionTrue,
		Reason:  reasonRepeatedFailure,
		Message: stalledMessage(now.Add(stallBase)),
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

			s := newStaller(time.Hour, func() time.Time { return now }, logging.NewNopLogger())
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

// TestStallerTellsItsOwn has a Workspace fail once more than it may. What is in the cache of
// the instance by then may not be what is there: the status is not its own any more.
func TestStallerTellsItsOwn(t *testing.T) {
	t.Parallel()

	claimed := func(ws *clusterv1beta1.Workspace, holder string) {
		ws.SetOwnership(commonv1beta1.Ownership{Claim: &commonv1beta1.Claim{Namespace: "ns", Lease: "l", Holder: holder}})
	}

	cases := map[string]struct {
		reason string
		now    func(ws *clusterv1beta1.Workspace)
		want   corev1.ConditionStatus
	}{
		"Claimed":  {reason: "It is claimed by this instance.", now: func(*clusterv1beta1.Workspace) {}, want: corev1.ConditionTrue},
		"Released": {reason: "No other instance has claimed it.", now: func(ws *clusterv1beta1.Workspace) { ws.SetOwnership(commonv1beta1.Ownership{}) }, want: corev1.ConditionTrue},
		"Taken":    {reason: "Another instance has claimed it.", now: func(ws *clusterv1beta1.Workspace) { claimed(ws, "other") }, want: corev1.ConditionUnknown},
		"Another":  {reason: "It is another one of the same name.", now: func(ws *clusterv1beta1.Workspace) { ws.SetUID("b") }, want: corev1.ConditionUnknown},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			cached := workspaceWithUID("a")
			cached.SetName("a")
			claimed(cached, "me")

			there := cached.DeepCopy()
			tc.now(there)

			scheme := runtime.NewScheme()
			if err := clusterv1beta1.AddToScheme(scheme); err != nil {
				t.Fatal(err)
			}

			live := fake.NewClientBuilder().WithScheme(scheme).WithObjects(there).WithStatusSubresource(there).Build()
			s := newStaller(time.Hour, time.Now, logging.NewNopLogger())
			f := failure{retry: time.Now(), count: stallAfter}

			if err := s.tell(t.Context(), live, live, cached, f, true); err != nil {
				t.Fatal(err)
			}

			got := &clusterv1beta1.Workspace{}
			if err := live.Get(t.Context(), client.ObjectKeyFromObject(there), got); err != nil {
				t.Fatal(err)
			}

			if status := got.GetCondition(typeStalled).Status; status != tc.want {
				t.Errorf("%s\ncondition Stalled: want %s, got %s", tc.reason, tc.want, status)
			}
		})
	}
}

// TestStallerTells follows one Workspace through a series of failures: what its condition
// says of the next try, how often that is a transition, and what is logged.
func TestStallerTells(t *testing.T) {
	t.Parallel()

	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.FixedZone("elsewhere", 3600))
	lines := []string{}
	log := logging.NewLogrLogger(funcr.New(func(_, line string) { lines = append(lines, line) }, funcr.Options{}))
	s := newStaller(time.Hour, func() time.Time { return now }, log)

	past := metav1.NewTime(now.Add(-time.Hour).Truncate(time.Second))
	ws := workspaceWithUID("a")
	ws.SetName("a")
	ws.SetConditions(xpv2.ReconcileError(errors.New("no such region")))

	scheme := runtime.NewScheme()
	if err := clusterv1beta1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}

	kube := fake.NewClientBuilder().WithScheme(scheme).WithObjects(ws).WithStatusSubresource(ws).Build()

	try := func(outcome func()) xpv2.Condition {
		t.Helper()

		inner := reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) {
			outcome()

			return reconcile.Result{}, nil
		})

		if _, err := s.reconciler(inner, kube, kube, workspace.Kinds()[0]).Reconcile(t.Context(), requestOf(ws.GetName())); err != nil {
			t.Fatal(err)
		}

		if err := kube.Get(t.Context(), client.ObjectKeyFromObject(ws), ws); err != nil {
			t.Fatal(err)
		}

		return ws.GetCondition(typeStalled)
	}
	fail := func() { s.failed(ws) }

	for range stallAfter - 1 {
		if got := try(fail); got.Status != corev1.ConditionUnknown {
			t.Errorf("after a few failures: want no condition, got %v", got)
		}
	}

	stalled := try(fail)
	if diff := cmp.Diff(stalledMessage(now.Add(stallBase)), stalled.Message); diff != "" {
		t.Errorf("message of a Workspace that has stalled: -want, +got:\n%s", diff)
	}

	// As if that had been some time ago.
	stalled.LastTransitionTime = past
	ws.Status.Conditions = []xpv2.Condition{ws.GetCondition(xpv2.TypeSynced), stalled}

	if err := kube.Status().Update(t.Context(), ws); err != nil {
		t.Fatal(err)
	}

	now = now.Add(stallBase)

	again := try(fail)
	if diff := cmp.Diff(stalledMessage(now.Add(2*stallBase)), again.Message); diff != "" {
		t.Errorf("message after another failure: -want, +got:\n%s", diff)
	}

	if !again.LastTransitionTime.Equal(&past) {
		t.Errorf("another failure is no transition: want one at %s, got %s", past, again.LastTransitionTime)
	}

	now = now.Add(2 * stallBase)

	if got := try(func() { s.succeeded(ws.GetUID()) }); got.Status != corev1.ConditionFalse {
		t.Errorf("after a success: want condition False, got %v", got)
	}

	want := []string{
		`"level"=0 "msg"="Workspace is stalled: it keeps failing, and is tried less often" "uid"="a" "namespace"="" "name"="a" "error"="no such region" "next-try"="2026-01-02T02:05:05Z"`,
		`"level"=0 "msg"="Workspace is not stalled any more" "uid"="a" "namespace"="" "name"="a"`,
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("log: -want, +got:\n%s", diff)
	}
}
