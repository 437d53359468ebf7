// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/shard"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// A story takes a right away from an instance while it is needed, checks what people are told, and
// that all is well when the right is there again.
type story func(t *testing.T, d *deprived)

// A wish is a Workspace that is not created yet.
type wish struct {
	references

	config  configSpec
	options []workspaceOption
}

// A need changes a Workspace so that the instance needs a right.
type need func(t *testing.T, d *deprived, w *wish)

// connection is the name of the connection Secrets.
const connection = "connection"

// connectionSecret needs the rights on connection Secrets.
func connectionSecret(_ *testing.T, _ *deprived, w *wish) {
	w.options = append(w.options, withSecret(connection))
}

// keptState needs the rights on states in the kubernetes backend.
func keptState(_ *testing.T, d *deprived, w *wish) { w.config = withBackend(d.states, d.ns) }

// secretVariable needs the right to read a Secret.
func secretVariable(t *testing.T, d *deprived, w *wish) {
	t.Helper()

	w.varFiles = append(w.varFiles, secretVars(d.c.secretKey(t, d.ns, `greeting = "bye"`), nil))
}

// configMapVariable needs the right to read a ConfigMap.
func configMapVariable(t *testing.T, d *deprived, w *wish) {
	t.Helper()

	w.varFiles = append(w.varFiles, configMapVars(d.c.configMapKey(t, d.ns, `greeting = "bye"`), nil))
}

// fluxModule needs the right to read a Flux source of the supplied kind.
func fluxModule(kind string) need {
	return func(t *testing.T, d *deprived, w *wish) {
		t.Helper()

		u := newFluxUpstream(t, d.c, kind, d.states, tree{"main.tf": moduleFile(t, "evidence.tf")})
		w.options = append(w.options, withUpstream(u))
	}
}

// create creates a Workspace with the supplied needs.
func (d *deprived) create(t *testing.T, needs ...need) (workspace.Workspace, evidence) {
	t.Helper()

	e := newEvidence(t)
	w := &wish{config: withoutBackend(), options: []workspaceOption{inShard(d.shard), withEvidence(t, "evidence.tf", e)}}

	for _, n := range needs {
		n(t, d, w)
	}

	cfg := d.c.createConfig(t, namespacedScope, d.ns, w.config)

	return d.c.createReferring(t, namespacedScope, d.ns, w.references, append(w.options, withConfig(cfg))...), e
}

// createLost creates a Workspace whose ProviderConfig does not exist. The instance says that, and
// runs nothing.
func (d *deprived) createLost(t *testing.T) workspace.Workspace {
	t.Helper()

	return d.c.createWorkspace(t, namespacedScope, d.ns, inShard(d.shard),
		withConfig(newConfig(namespacedScope, d.ns, withoutBackend())), withModule(moduleFile(t, "outputs.tf")))
}

// expectServes waits until the instance has reconciled a new Workspace.
func (d *deprived) expectServes(t *testing.T) {
	t.Helper()
	expectCondition(t, d.c, d.createLost(t), xpv2.TypeSynced, corev1.ConditionFalse, "no ProviderConfig ")
}

// blocked creates a Workspace. With the right it becomes Ready, and was created once.
func blocked(s shown, needs ...need) story {
	return func(t *testing.T, d *deprived) {
		t.Helper()
		d.takeAway(t)

		ws, e := d.create(t, needs...)
		s(t, d, ws)

		d.giveBack(t)
		d.c.request(t, ws)
		expectReady(t, d.c, ws)
		expectDone(t, e, "created")
	}
}

// both is two stories, one after the other.
func both(first, second story) story {
	return func(t *testing.T, d *deprived) {
		t.Helper()
		first(t, d)
		second(t, d)
	}
}

// unreviewed cannot write the plan that a person has to approve. Without its text there is nothing to approve.
func unreviewed(text string) story {
	return func(t *testing.T, d *deprived) {
		t.Helper()
		d.takeAway(t)

		e := newEvidence(t)
		cfg := d.c.createConfig(t, namespacedScope, d.ns, withoutBackend())
		ws := d.c.createWorkspace(t, namespacedScope, d.ns, inShard(d.shard), withConfig(cfg), withEvidence(t, "evidence.tf", e), withApproval(commonv1beta1.ApprovalAlways))
		inSynced("cannot ask for the approval of the plan", planSecret(ws).Name, text)(t, d, ws)

		d.giveBack(t)
		d.c.request(t, ws)
		id := expectPending(t, d.c, ws, "PlanPending", "1 to add")
		d.c.annotate(t, ws, approvePlan, id)
		expectReady(t, d.c, ws)
		expectDone(t, e, "created")
	}
}

// blind cannot read a Workspace from the API server. The write of its claim has returned it, so that only
// the next reconcile fails.
func blind(t *testing.T, d *deprived) {
	t.Helper()

	ws, e := d.create(t)
	expectReady(t, d.c, ws)
	d.takeAway(t)
	d.c.annotate(t, ws, requestedAt, "blind")
	inLog("Reconciler error")(t, d, ws)

	d.giveBack(t)
	d.c.request(t, ws)
	expectReady(t, d.c, ws)
	expectDone(t, e, "created")
}

// changedConnection changes an output that is in the connection Secret.
func changedConnection(t *testing.T, d *deprived) {
	t.Helper()

	ws, e := d.create(t, connectionSecret)
	expectReady(t, d.c, ws)

	d.takeAway(t)
	d.c.changeVars(t, ws, append(ws.GetParameters().Vars, commonv1beta1.Var{Key: "greeting", Value: "bye"})...)
	inSynced("cannot create or update connection secret", `cannot patch resource "secrets"`)(t, d, ws)
	expectSecret(t, d.c, d.ns, connection, map[string]string{"greeting": "hello"})

	d.giveBack(t)
	expectReady(t, d.c, ws)
	expectSecret(t, d.c, d.ns, connection, map[string]string{"greeting": "bye"})
	expectDone(t, e, "created")
}

// movedToOtherConfig makes a Workspace use another ProviderConfig.
func movedToOtherConfig(t *testing.T, d *deprived) {
	t.Helper()

	ws := d.createLost(t)
	expectCondition(t, d.c, ws, xpv2.TypeSynced, corev1.ConditionFalse, "no ProviderConfig ")

	cfg := d.c.createConfig(t, namespacedScope, d.ns, withoutBackend())

	d.takeAway(t)
	d.c.patch(t, ws, map[string]any{"spec": map[string]any{"providerConfigRef": map[string]any{"name": cfg.GetName()}}})
	inSynced("cannot track ProviderConfig usage", `cannot update resource "providerconfigusages"`)(t, d, ws)

	d.giveBack(t)
	expectReady(t, d.c, ws)
	expectUsers(t, d.c, cfg, 1)
}

// keptUsage has a usage with the finalizer of later versions, which blocks nothing.
func keptUsage(t *testing.T, d *deprived) {
	t.Helper()

	const usageFinalizer = "finalizer.providerconfigusage.crossplane.io"

	cfg := d.c.createConfig(t, namespacedScope, d.ns, withoutBackend())
	ws := d.c.createWorkspace(t, namespacedScope, d.ns, inShard(d.shard), withConfig(cfg), withModule(`output "a" { value = 0 }`))
	expectReady(t, d.c, ws)

	d.takeAway(t)

	usage := usageOf(ws)
	d.c.patch(t, usage, map[string]any{"metadata": map[string]any{"finalizers": []string{usageFinalizer}}})
	d.c.changeModule(t, ws, `output "a" { value = 1 }`)
	expectOutputs(t, d.c, ws, map[string]string{"a": "1"})
	d.c.get(t, usage)

	if !meta.FinalizerExists(usage, usageFinalizer) {
		t.Error("want the finalizer to stay without the right to remove it")
	}

	d.giveBack(t)
	d.c.changeModule(t, ws, `output "a" { value = 2 }`)
	eventually(t, func() error {
		d.c.get(t, usage)

		if meta.FinalizerExists(usage, usageFinalizer) {
			return errors.New("want the finalizer to be removed")
		}

		return nil
	})
	expectReady(t, d.c, ws)
}

// claimedElsewhere has a Workspace that names the Lease of an instance in another namespace.
func claimedElsewhere(t *testing.T, d *deprived) {
	t.Helper()

	// That instance has ended.
	l := newLease(d.ns, unique("session"))
	l.SetAnnotations(map[string]string{shard.ReleasedAnnotationKey: "gone"})
	d.c.create(t, l)

	cfg := d.c.createConfig(t, namespacedScope, d.ns, withoutBackend())
	e := newEvidence(t)
	ws := d.c.createWorkspace(t, namespacedScope, d.ns, withConfig(cfg), withEvidence(t, "evidence.tf", e))
	ws.SetOwnership(commonv1beta1.Ownership{Claim: &commonv1beta1.Claim{Namespace: d.ns, Lease: l.GetName(), Holder: "gone"}})

	if err := d.c.kube.Status().Update(t.Context(), ws); err != nil {
		t.Fatalf("cannot claim Workspace: %v", err)
	}

	d.takeAway(t)
	d.c.relabel(t, ws, d.shard)
	inEvent("WaitingForOwner", l.GetName(), "cannot be read")(t, d, ws)

	d.giveBack(t)
	expectReady(t, d.c, ws)
	expectDone(t, e, "created")
}

// unreported cannot record Events.
func unreported(t *testing.T, d *deprived) {
	t.Helper()
	d.takeAway(t)

	ws := d.createLost(t)
	d.expectLogged(t, "Server rejected event")

	d.giveBack(t)
	d.c.request(t, ws)
	expectEvent(t, d.c, ws, "CannotConnectToProvider")
}

// uncountedEvent cannot count an Event that is repeated.
func uncountedEvent(t *testing.T, d *deprived) {
	t.Helper()

	ws := d.createLost(t)
	expectEvent(t, d.c, ws, "CannotConnectToProvider")

	d.takeAway(t)
	d.c.request(t, ws)
	d.expectLogged(t, "Server rejected event")

	d.giveBack(t)
	d.c.request(t, ws)
	eventually(t, func() error {
		events, err := d.c.eventsOf(t, ws)
		if err != nil {
			return err
		}

		for _, e := range events {
			if e.Reason == "CannotConnectToProvider" && e.Count > 1 {
				return nil
			}
		}

		return errors.Errorf("the event about %q is not counted", client.ObjectKeyFromObject(ws))
	})
}
