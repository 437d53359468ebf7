// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/keyref"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
)

// TestKstatus computes what Flux, Argo CD and others that use kstatus show, from the statuses that
// reconciles leave behind: a Workspace that keeps failing has failed, one that waits is in progress, and none
// is current while its last change has no effect.
func TestKstatus(t *testing.T) {
	t.Parallel()

	boom := &terraform.Error{ExitCode: 1}
	created := func(t *testing.T, r *attempt) {
		t.Helper()
		r.planned(changes(), terraform.State{})
		r.reconcile(t, 1)
		r.planned(terraform.Plan{}, ownState())
	}
	changed := func(t *testing.T, r *attempt) {
		t.Helper()
		created(t, r)
		r.specify(t, 2)
		r.planned(changes(), ownState())
	}
	failsUpdate := func(times int) func(t *testing.T, r *attempt) {
		return func(t *testing.T, r *attempt) {
			t.Helper()
			changed(t, r)
			r.runner.applyErr = boom
			r.reconcile(t, times)
		}
	}
	failsPlan := func(times int, before func(t *testing.T, r *attempt)) func(t *testing.T, r *attempt) {
		return func(t *testing.T, r *attempt) {
			t.Helper()
			before(t, r)
			r.records.ForgetObservation(r.ws)
			r.runner.planErr = boom
			r.reconcile(t, times)
		}
	}
	waits := func(times int) func(t *testing.T, r *attempt) {
		return func(t *testing.T, r *attempt) {
			t.Helper()
			_, r.runner.planErr = keyref.NewReader(r.kube).Secret(t.Context(), "ns", "late", "key")
			r.reconcile(t, times)
		}
	}
	failsPublish := func(times int, before func(t *testing.T, r *attempt)) func(t *testing.T, r *attempt) {
		return func(t *testing.T, r *attempt) {
			t.Helper()
			before(t, r)

			for range times {
				if err := r.reconcileOnce(t.Context(), func() error { return nil }); err != nil {
					t.Fatal(err)
				}

				r.ws.SetConditions(xpv2.ReconcileError(errors.New(publishing + ": " + secretControlled + "another")).WithObservedGeneration(r.ws.GetGeneration()))
				r.show(t)
			}
		}
	}
	creates := func(times int) func(t *testing.T, r *attempt) {
		return func(t *testing.T, r *attempt) {
			t.Helper()
			r.planned(changes(), terraform.State{})
			r.runner.applyErr = boom
			r.reconcile(t, times)
		}
	}

	cases := map[string]struct {
		reason string
		ws     *clusterv1beta1.Workspace
		do     func(t *testing.T, r *attempt)
		want   status.Status
	}{
		"Waiting":       {reason: "A Secret that does not exist yet is often created a little later.", ws: with(), do: waits(40), want: status.InProgressStatus},
		"WaitedForLong": {reason: "A person has to create it.", ws: with(), do: waits(41), want: status.FailedStatus},
		"CreateFailed":  {reason: "It is tried again in a moment.", ws: with(), do: creates(1), want: status.InProgressStatus},
		"CreateStalled": {reason: "It keeps failing.", ws: with(), do: creates(5), want: status.FailedStatus},
		"Created":       {reason: "The infrastructure is as specified.", ws: with(), do: created, want: status.CurrentStatus},
		"Changed":       {reason: "The change is not tried yet.", ws: with(), do: changed, want: status.InProgressStatus},
		"UpdateFailed":  {reason: "It is tried again in a moment.", ws: with(), do: failsUpdate(1), want: status.InProgressStatus},
		"UpdateStalled": {reason: "It keeps failing.", ws: with(), do: failsUpdate(5), want: status.FailedStatus},
		"PlanFailed":    {reason: "The change is tried again in a moment.", ws: with(), do: failsPlan(1, changed), want: status.InProgressStatus},
		"PlanStalled":   {reason: "The change keeps failing.", ws: with(), do: failsPlan(5, changed), want: status.FailedStatus},
		"PollFailed":    {reason: "The infrastructure is as specified, as far as is known.", ws: with(), do: failsPlan(1, created), want: status.CurrentStatus},
		"PollStalled":   {reason: "It is unknown for long.", ws: with(), do: failsPlan(5, created), want: status.FailedStatus},
		"NotPublished":  {reason: "A person has to free the Secret.", ws: with(), do: failsPublish(5, func(_ *testing.T, r *attempt) { r.planned(changes(), terraform.State{}) }), want: status.FailedStatus},
		"NotUpdated":    {reason: "So it is after the creation.", ws: with(), do: failsPublish(5, created), want: status.FailedStatus},
		"Deleted":       {reason: "Its destroy may take long.", ws: with(owner, deleted), want: status.TerminatingStatus},
		"DriftReported": {reason: "What was specified was applied. The condition Drifted is for drift.", ws: with(policies(xpv2.ManagementActionObserve, xpv2.ManagementActionCreate)), do: func(t *testing.T, r *attempt) {
			t.Helper()
			created(t, r)
			r.planned(changes(), ownState())
			r.records.ForgetObservation(r.ws)
			r.reconcile(t, 1)
		}, want: status.CurrentStatus},
		"ChangeForbidden": {reason: "The policies do not allow the change.", ws: with(policies(xpv2.ManagementActionObserve, xpv2.ManagementActionCreate)), do: func(t *testing.T, r *attempt) { t.Helper(); changed(t, r); r.reconcile(t, 1) }, want: status.InProgressStatus},
		"Paused":          {reason: "What was specified was applied.", ws: with(), do: func(t *testing.T, r *attempt) { t.Helper(); created(t, r); r.pause(t) }, want: status.CurrentStatus},
		"PausedNew":       {reason: "Nothing was applied.", ws: with(), do: func(t *testing.T, r *attempt) { t.Helper(); r.pause(t) }, want: status.InProgressStatus},
		"PausedChanged":   {reason: "The change is not applied.", ws: with(), do: func(t *testing.T, r *attempt) { t.Helper(); changed(t, r); r.pause(t) }, want: status.InProgressStatus},
		"ChangedAgain":    {reason: "The last change is not tried yet.", ws: with(), do: func(t *testing.T, r *attempt) { t.Helper(); failsUpdate(5)(t, r); r.specify(t, 3) }, want: status.InProgressStatus},
		"OtherInstance": {reason: "Another instance tries a change that was stalled.", ws: with(), do: func(t *testing.T, r *attempt) {
			t.Helper()
			failsUpdate(5)(t, r)
			r.records.Begin(r.ws)
			r.reconcile(t, 1)
		}, want: status.InProgressStatus},
		"OtherInstancePlan": {reason: "Another instance cannot plan a change that was stalled.", ws: with(), do: func(t *testing.T, r *attempt) {
			t.Helper()
			failsPlan(5, changed)(t, r)
			r.records.Begin(r.ws)
			r.reconcile(t, 1)
		}, want: status.InProgressStatus},
		"Mended": {reason: "The cause is gone.", ws: with(), do: func(t *testing.T, r *attempt) {
			t.Helper()
			failsUpdate(5)(t, r)
			r.runner.applyErr = nil
			r.reconcile(t, 1)
		}, want: status.CurrentStatus},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r := newAttempt(t, tc.ws)
			if tc.do != nil {
				tc.do(t, r)
			}

			if got := kstatus(t, r.ws); got.Status != tc.want {
				t.Errorf("\n%s\nwant %s, got %s: %s", tc.reason, tc.want, got.Status, got.Message)
			}
		})
	}
}

func kstatus(t *testing.T, ws *clusterv1beta1.Workspace) *status.Result {
	t.Helper()

	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(ws)
	if err != nil {
		t.Fatal(err)
	}

	got, err := status.Compute(&unstructured.Unstructured{Object: content})
	if err != nil {
		t.Fatal(err)
	}

	return got
}

// specify changes the specification, as far as its generation shows that.
func (r *attempt) specify(t *testing.T, generation int64) {
	t.Helper()

	stored := r.recorded(t)
	stored.SetGeneration(generation)

	if err := r.kube.Update(t.Context(), stored); err != nil {
		t.Fatal(err)
	}

	r.ws.SetGeneration(generation)
	r.ws.SetResourceVersion(stored.GetResourceVersion())

	if got := r.recorded(t).GetGeneration(); got != generation {
		t.Fatalf("generation: want %d, got %d", generation, got)
	}
}

// A lastWriter keeps the status in the object.
type lastWriter struct{ client.SubResourceWriter }

func (lastWriter) Update(context.Context, client.Object, ...client.SubResourceUpdateOption) error {
	return nil
}

// reconcile does what the managed reconciler does for a Workspace that is not being deleted, with the same
// conditions.
func (r *attempt) reconcile(t *testing.T, times int) {
	t.Helper()

	generation := r.ws.GetGeneration()

	for range times {
		err := r.reconcileOnce(t.Context(), func() error {
			switch {
			case r.observation.ResourceUpToDate || nothingFollows(r.ws, r.observation.ResourceExists):
				return nil
			case r.observation.ResourceExists:
				_, err := r.Update(t.Context(), r.ws)

				return err
			}

			r.ws.SetConditions(xpv2.Creating())

			_, err := r.Create(t.Context(), r.ws)

			return err
		})
		if err == nil {
			r.succeed(t)

			continue
		}

		r.ws.SetConditions(xpv2.ReconcileError(errors.Wrap(err, "update failed")).WithObservedGeneration(generation))
		r.show(t)
	}
}

// pause does what the managed reconciler does for a Workspace that is paused.
func (r *attempt) pause(t *testing.T) {
	t.Helper()

	meta.AddAnnotations(r.ws, map[string]string{meta.AnnotationKeyReconciliationPaused: "true"})
	r.ws.SetConditions(xpv2.ReconcilePaused().WithObservedGeneration(r.ws.GetGeneration()))
	r.show(t)
}

// succeed does what the managed reconciler does when it has published the outputs.
func (r *attempt) succeed(t *testing.T) {
	t.Helper()

	r.ws.SetConditions(xpv2.ReconcileSuccess().WithObservedGeneration(r.ws.GetGeneration()))
	r.show(t)
}

// show writes the status as the managed reconciler does.
func (r *attempt) show(t *testing.T) {
	t.Helper()

	if err := (managedStatusWriter{lastWriter{}, r.kube, r.connector}).Update(t.Context(), r.ws); err != nil {
		t.Fatal(errors.Wrap(err, "cannot write status"))
	}
}
