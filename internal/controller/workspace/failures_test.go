// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"

	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/schedule"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// TestStalled follows one Workspace through a series of failures: the time of the next try in its
// condition, the number of transitions, and the log.
func TestStalled(t *testing.T) {
	t.Parallel()

	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.FixedZone("elsewhere", 3600))
	lines := []string{}
	log := logging.NewLogrLogger(funcr.New(func(_, line string) { lines = append(lines, line) }, funcr.Options{}))
	records := schedule.NewRecords(schedule.Policy{Interval: time.Hour}, func() time.Time { return now })

	ws := with()
	ws.SetName("a")
	records.Begin(ws)

	fail := func() xpv2.Condition {
		recordFailure(records, log, ws, errors.New("no such region"))

		return ws.GetCondition(workspace.TypeStalled)
	}
	message := func(n, at string) string {
		return "Failed " + n + " times in a row: it is tried less often, until it succeeds or changes. The next try is at " + at + ". Synced has the last failure"
	}

	for range 4 {
		if got := fail(); got.Status != corev1.ConditionUnknown {
			t.Errorf("after a few failures: want no condition, got %v", got)
		}
	}

	stalled := fail()
	if diff := cmp.Diff(message("5", "2026-01-02T02:05:05Z"), stalled.Message); diff != "" {
		t.Errorf("message of a Workspace that has stalled: -want, +got:\n%s", diff)
	}

	// The failure happened some time ago.
	past := metav1.NewTime(now.Add(-time.Hour))
	stalled.LastTransitionTime = past
	ws.Status.Conditions = []xpv2.Condition{stalled}

	again := fail()
	if diff := cmp.Diff(message("6", "2026-01-02T02:06:05Z"), again.Message); diff != "" {
		t.Errorf("message after another failure: -want, +got:\n%s", diff)
	}

	if !again.LastTransitionTime.Equal(&past) {
		t.Errorf("another failure is no transition: want one at %s, got %s", past, again.LastTransitionTime)
	}

	recordSuccess(records, log, ws)

	if got := ws.GetCondition(workspace.TypeStalled); got.Status != corev1.ConditionFalse || got.LastTransitionTime.Equal(&past) {
		t.Errorf("after a success: want condition False as of now, got %v", got)
	}

	recordSuccess(records, log, ws)

	want := []string{
		`"level"=0 "msg"="Workspace is stalled: it keeps failing, and is tried less often" "uid"="a" "namespace"="" "name"="a" "error"="no such region" "next-try"="2026-01-02T02:05:05Z"`,
		`"level"=0 "msg"="Workspace is not stalled any more" "uid"="a" "namespace"="" "name"="a"`,
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("log: -want, +got:\n%s", diff)
	}
}

// TestNotStalledAfterChange ensures that a Workspace that a person has changed is not stalled,
// even if the change has failed, too.
func TestNotStalledAfterChange(t *testing.T) {
	t.Parallel()

	records := schedule.NewRecords(schedule.Policy{Interval: time.Hour}, time.Now)

	ws := with()
	records.Begin(ws)

	for range 5 {
		recordFailure(records, logging.NewNopLogger(), ws, errors.New("boom"))
	}

	ws.SetGeneration(2)
	recordFailure(records, logging.NewNopLogger(), ws, errors.New("boom"))

	c := ws.GetCondition(workspace.TypeStalled)
	if diff := cmp.Diff([]any{corev1.ConditionFalse, reasonRetried, int64(2)}, []any{c.Status, c.Reason, c.ObservedGeneration}); diff != "" {
		t.Errorf("condition: -want, +got:\n%s", diff)
	}
}

// TestRepeatedFailure ensures that failures are counted regardless of the management policies, although
// each reconcile begins with an observation that succeeds.
func TestRepeatedFailure(t *testing.T) {
	t.Parallel()

	boom := &terraform.Error{ExitCode: 1}
	create := func(ctx context.Context, r *attempt) error {
		r.planned(terraform.Plan{Changes: true}, terraform.State{})
		r.runner.applyErr = boom

		return r.reconcileOnce(ctx, func() error {
			_, err := r.Create(ctx, r.ws)

			return err
		})
	}
	destroy := func(ctx context.Context, r *attempt) error {
		r.planned(terraform.Plan{}, ownState())
		r.runner.destroyErr = boom

		return r.reconcileOnce(ctx, func() error {
			_, err := r.Delete(ctx, r.ws)

			return err
		})
	}
	idle := func(ctx context.Context, r *attempt) error {
		r.planned(terraform.Plan{Changes: true}, terraform.State{})
		recordFailure(r.records, r.log, r.ws, boom)

		return r.reconcileOnce(ctx, func() error { return boom })
	}

	const (
		observe = xpv2.ManagementActionObserve
		creates = xpv2.ManagementActionCreate
		deletes = xpv2.ManagementActionDelete
	)

	cases := map[string]struct {
		reason string
		ws     *clusterv1beta1.Workspace
		do     func(ctx context.Context, r *attempt) error
		want   int
	}{
		"Create":            {reason: "Every policy is allowed.", ws: with(), do: create, want: 2},
		"CreateNoUpdate":    {reason: "A missing resource is created without the right to update it.", ws: with(policies(observe, creates)), do: create, want: 2},
		"Delete":            {reason: "Every policy is allowed.", ws: with(owner, deleted), do: destroy, want: 2},
		"DeleteNoUpdate":    {reason: "Resources are destroyed without the right to update them.", ws: with(owner, deleted, policies(observe, creates, deletes)), do: destroy, want: 2},
		"DeleteNeverCreate": {reason: "Nor the right to create them.", ws: with(owner, deleted, policies(observe, deletes)), do: destroy, want: 2},
		"OnlyObserves":      {reason: "Nothing follows: the observation is the end of the reconcile.", ws: with(policies(observe)), do: idle},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r := newAttempt(t, tc.ws)

			for range 2 {
				if err := tc.do(t.Context(), r); err == nil {
					t.Fatal("want a failure")
				}
			}

			if got := r.records.Get(r.ws).Failures.Count; got != tc.want {
				t.Errorf("%s\nwant %d failures in a row, got %d", tc.reason, tc.want, got)
			}
		})
	}
}

// reconcileOnce observes as the managed reconciler does, and then calls next.
func (r *attempt) reconcileOnce(ctx context.Context, next func() error) error {
	if err := r.observeInConnect(ctx, r.ws); err != nil {
		return err
	}

	if _, err := r.Observe(ctx, r.ws); err != nil {
		return err
	}

	return next()
}
