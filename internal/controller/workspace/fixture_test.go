// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	"github.com/crossplane-contrib/provider-terraform/apis"
	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	namespacedv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/namespaced/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/redact"
	"github.com/crossplane-contrib/provider-terraform/internal/runner"
	"github.com/crossplane-contrib/provider-terraform/internal/schedule"
	"github.com/crossplane-contrib/provider-terraform/internal/statelock"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

const (
	ownLineage   = "11111111-1111-1111-1111-111111111111"
	otherLineage = "22222222-2222-2222-2222-222222222222"
)

// events are the reasons of the recorded Events, except for those about the end of an apply or a destroy: see
// TestProgress and, with a real CLI, TestCreating in test/integration.
type events struct {
	event.Recorder

	reasons []string

	// ends are the messages of those.
	ends []string
}

func (e *events) Event(_ runtime.Object, ev event.Event) {
	switch ev.Reason {
	case reasonApplied, reasonCreated, reasonUpdated, reasonDeleted:
		e.ends = append(e.ends, ev.Message)
	default:
		e.reasons = append(e.reasons, string(ev.Reason))
	}
}

// counts are the metrics of a reconcile, in their order.
type counts []string

func (c *counts) BecameReady(controller string, _ time.Duration) {
	*c = append(*c, controller+" ready")
}
func (c *counts) Drifted(action string) { *c = append(*c, "drift "+action) }
func (c *counts) OrphanLockRemoved()    { *c = append(*c, "lock removed") }

func (c *counts) ApplySlots(string, int)                {}
func (c *counts) Applies(string, int, int)              {}
func (c *counts) ApplySlotWaited(string, time.Duration) {}
func (c *counts) Workspaces(string, string, int)        {}

// An attempt is one reconcile of a Workspace, with a fake in place of the CLI.
type attempt struct {
	*external

	ws     *clusterv1beta1.Workspace
	runner *fakeRunner
	events *events
	counts *counts

	// writes is the number of successful writes of the status. After maxWrites of them every write
	// fails.
	writes, maxWrites int
}

// newAttempt returns the first attempt of an instance. Apart from ws, only the others exist.
func newAttempt(t *testing.T, ws *clusterv1beta1.Workspace, others ...client.Object) *attempt {
	t.Helper()

	scheme := runtime.NewScheme()
	if err := errors.Join(apis.AddToScheme(scheme), corev1.AddToScheme(scheme), coordinationv1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}

	ws.SetName("ws")
	ws.SetUID("a")
	ws.SetGeneration(1)
	meta.SetExternalName(ws, "ws")

	r := &attempt{ws: ws, runner: &fakeRunner{plan: &terraform.Plan{}, state: &terraform.State{}, applied: &terraform.Applied{}}, events: &events{}, counts: &counts{}, maxWrites: 100}

	// A deleted object has a finalizer.
	if meta.WasDeleted(ws) {
		ws.SetFinalizers([]string{"f"})
	}

	kube := fake.NewClientBuilder().WithReturnManagedFields().WithScheme(scheme).WithStatusSubresource(ws).WithObjects(append(others, ws)...).WithInterceptorFuncs(interceptor.Funcs{
		SubResourceUpdate: func(ctx context.Context, c client.Client, name string, o client.Object, opts ...client.SubResourceUpdateOption) error {
			if r.writes == r.maxWrites {
				return errors.New("boom")
			}

			r.writes++

			return c.SubResource(name).Update(ctx, o, opts...)
		},
		// The client of the package statusclient keeps the status.
		Update: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
			written, _ := o.DeepCopyObject().(client.Object)
			err := c.Update(ctx, written, opts...)
			o.SetResourceVersion(written.GetResourceVersion())

			return err
		},
	}).Build()

	if err := kube.Get(t.Context(), client.ObjectKeyFromObject(ws), ws); err != nil {
		t.Fatal(err)
	}

	policy := schedule.Policy{Interval: time.Hour}
	records := schedule.NewRecords(policy, time.Now)
	records.Begin(ws)

	c := &connector{
		Options: Options{
			Runs: runner.Options{Stop: stopped(t), Held: &runner.HeldStates{}},
			Locks: statelock.Detector{
				Host:         "host-0",
				Predecessors: func(client.Object) statelock.Predecessors { return statelock.Predecessors{} },
				FailedRuns:   statelock.NewFailedRuns(),
				Users:        statelock.NewStateUsers(),
			},
			Metrics:             r.counts,
			ServedByOtherBefore: func(client.Object) bool { return false },
		},
		kube:     kube,
		live:     kube,
		now:      time.Now,
		policy:   policy,
		records:  records,
		slots:    schedule.NewSlots(1, records, func(int, int) {}, func(time.Duration) {}),
		log:      logging.NewNopLogger(),
		recorder: r.events,
		name:     "test",
	}
	r.external = newExternal(&pass{connector: c, recorder: r.events, secrets: redact.New([]byte("sesame-sesame")), approves: commonv1beta1.ApprovalNever}, r.runner)

	return r
}

// stopped returns an ended lifetime of runs: work that would be repeated until it succeeds is
// tried once.
func stopped(t *testing.T) context.Context {
	t.Helper()

	ctx, cancel := context.WithCancel(t.Context())
	cancel()

	return ctx
}

// recorded returns the Workspace as the API server has it.
func (r *attempt) recorded(t *testing.T) *clusterv1beta1.Workspace {
	t.Helper()

	ws := &clusterv1beta1.Workspace{}
	if err := r.kube.Get(t.Context(), client.ObjectKeyFromObject(r.ws), ws); err != nil {
		t.Fatal(err)
	}

	return ws
}

// planned makes the runner return a plan, from the supplied state.
func (r *attempt) planned(p terraform.Plan, s terraform.State) {
	p.Prior = &s
	r.runner.plan, r.runner.state = &p, &s
}

// with returns a Workspace after the changes.
func with(change ...func(ws *clusterv1beta1.Workspace)) *clusterv1beta1.Workspace {
	ws := &clusterv1beta1.Workspace{ObjectMeta: metav1.ObjectMeta{UID: "a"}}

	for _, fn := range change {
		fn(ws)
	}

	return ws
}

// owner of a state with two resources.
func owner(ws *clusterv1beta1.Workspace) {
	ws.SetUID("a")
	workspace.Own(ws, ownLineage)

	o := ws.GetObservation()
	o.State = &commonv1beta1.StateSummary{Lineage: ownLineage, Serial: 3, Resources: 2}
	ws.SetObservation(o)
}

// begun is a Workspace whose creation has begun.
func begun(ws *clusterv1beta1.Workspace) {
	ws.SetUID("a")
	workspace.BeginCreation(ws, commonv1beta1.StateSummary{}, time.Now())
}

func policies(p ...xpv2.ManagementAction) func(ws *clusterv1beta1.Workspace) {
	return func(ws *clusterv1beta1.Workspace) { ws.SetManagementPolicies(p) }
}

func deleted(ws *clusterv1beta1.Workspace) {
	now := metav1.Now()
	ws.SetDeletionTimestamp(&now)
}

func readyFor(generation int64) func(ws *clusterv1beta1.Workspace) {
	return func(ws *clusterv1beta1.Workspace) {
		ws.SetConditions(xpv2.Available().WithObservedGeneration(generation))
	}
}

// anotherOwner is another Workspace that owns the supplied state.
func anotherOwner(lineage string) client.Object {
	ws := &namespacedv1beta1.Workspace{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "other", UID: "b"}}
	meta.SetExternalName(ws, "ws")
	workspace.Own(ws, lineage)

	return ws
}

// States of a Terraform workspace.
func ownState() terraform.State {
	return terraform.State{Lineage: ownLineage, Serial: 3, Managed: 2}
}

func otherState() terraform.State {
	return terraform.State{Lineage: otherLineage, Serial: 3, Managed: 2}
}

// changes is a plan with something to do.
func changes() terraform.Plan {
	return terraform.Plan{Changes: true, Summary: terraform.Summary{Add: 1}}
}

// An outcome is the result of one call of an external.
type outcome struct {
	// ran are the commands of the CLI, and events the reasons of Events.
	ran, events []string

	// err is a part of the error, empty if there must be none.
	err string

	// ready is the reason of that condition.
	ready xpv2.ConditionReason

	// lineage is the one that the Workspace owns. The others say whether its creation has begun
	// and succeeded, as recorded in the status.
	lineage          string
	begun, succeeded bool
}

// expect the outcome of a call that returned err.
func (r *attempt) expect(t *testing.T, reason string, want outcome, err error) {
	t.Helper()

	if want.err == "" != (err == nil) || (err != nil && !strings.Contains(err.Error(), want.err)) {
		t.Errorf("\n%s\nwant an error with %q, got %v", reason, want.err, err)
	}

	o := r.ws.GetOwnership()
	got := outcome{
		ran:       r.runner.ran,
		events:    r.events.reasons,
		err:       want.err,
		ready:     r.ws.GetCondition(xpv2.TypeReady).Reason,
		lineage:   o.Lineage,
		begun:     o.CreationStarted != nil,
		succeeded: o.CreationSucceeded != nil,
	}

	if diff := cmp.Diff(want, got, cmp.AllowUnexported(outcome{}), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("\n%s\n-want, +got:\n%s", reason, diff)
	}
}
