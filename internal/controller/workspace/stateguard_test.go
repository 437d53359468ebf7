// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"cmp"
	"context"
	"fmt"
	"math/bits"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"

	"github.com/crossplane-contrib/provider-terraform/apis"
	namespacedv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/namespaced/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/runner"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// A claimantActor is a Workspace that wants the state with the lineage "l". It does one step at a
// time.
type claimantActor struct {
	key  client.ObjectKey
	kube *stepClient

	step, ready chan struct{}
	done        bool
	err         error
}

func newConflictingWorkspace(uid string, created time.Time) *namespacedv1beta1.Workspace {
	ws := &namespacedv1beta1.Workspace{ObjectMeta: metav1.ObjectMeta{
		Namespace: uid, Name: "same", UID: types.UID(uid), CreationTimestamp: metav1.NewTime(created),
	}}
	meta.SetExternalName(ws, "same")

	return ws
}

// A stepClient has all Workspaces of a test, which it shares with others. Before each list of
// Workspaces with a namespace, and before each write, it waits for a step of its actor.
type stepClient struct {
	client.Client

	all   map[client.ObjectKey]*namespacedv1beta1.Workspace
	actor *claimantActor
}

func (c *stepClient) Status() client.SubResourceWriter { return &stepWriter{c: c} }

type stepWriter struct {
	client.SubResourceWriter

	c *stepClient
}

// Update is for the finalizer.
func (c *stepClient) Update(context.Context, client.Object, ...client.UpdateOption) error { return nil }

func (c *stepClient) wait() {
	c.actor.ready <- struct{}{}

	<-c.actor.step
}

func (c *stepClient) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	l, ok := list.(*namespacedv1beta1.WorkspaceList)
	if !ok {
		return nil
	}

	c.wait()

	for _, ws := range c.all {
		l.Items = append(l.Items, *ws.DeepCopy())
	}

	return nil
}

func (w *stepWriter) Update(_ context.Context, o client.Object, _ ...client.SubResourceUpdateOption) error {
	w.c.wait()

	ws, ok := o.DeepCopyObject().(*namespacedv1beta1.Workspace)
	if !ok {
		return errors.Errorf("%T is not a Workspace", o)
	}

	w.c.all[client.ObjectKeyFromObject(o)] = ws

	return nil
}

// begin to make the state its own, up to the first step.
func (a *claimantActor) begin(t *testing.T, now time.Time) {
	t.Helper()

	ws := a.kube.all[a.key].DeepCopy()
	c := &connector{live: a.kube, kube: a.kube, now: func() time.Time { return now }}
	g := &stateGuard{pass: &pass{connector: c, recorder: event.NewNopRecorder()}, cli: &fakeRunner{state: conflictingState()}}
	a.done, a.err = false, nil

	go func() {
		a.err = g.takeOver(t.Context(), ws, conflictingState())

		a.done = true
		a.ready <- struct{}{}
	}()

	<-a.ready
}

func (a *claimantActor) proceed() {
	if a.done {
		return
	}

	a.step <- struct{}{}

	<-a.ready
}

// actorSteps is the number of steps to take over a state: list, write, list, write.
const actorSteps = 4

// TestOwnState lets two Workspaces that know nothing of a state take it over at the same time,
// with their steps in any order. They must never both own it, and in the end one of them must own
// it.
func TestOwnState(t *testing.T) {
	t.Parallel()

	for order := range uint(1 << (2 * actorSteps)) {
		if bits.OnesCount(order) != actorSteps {
			continue
		}

		t.Run(fmt.Sprintf("%0*b", 2*actorSteps, order), func(t *testing.T) {
			t.Parallel()
			testOwnState(t, order)
		})
	}
}

// testOwnState lets the first or the second of two Workspaces do the next step, as the bits
// of the order say, beginning with the lowest.
func testOwnState(t *testing.T, order uint) {
	t.Helper()

	epoch := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	all := map[client.ObjectKey]*namespacedv1beta1.Workspace{}
	actors := make([]*claimantActor, 2)

	for i, uid := range []string{"a", "b"} {
		a := &claimantActor{key: client.ObjectKey{Namespace: uid, Name: "same"}, step: make(chan struct{}), ready: make(chan struct{})}
		a.kube = &stepClient{all: all, actor: a}
		all[a.key] = newConflictingWorkspace(uid, epoch.Add(time.Duration(i)*time.Hour))
		actors[i] = a
	}

	for _, a := range actors {
		a.begin(t, epoch)
	}

	for i := range 2 * actorSteps {
		actors[order>>i&1].proceed()
	}

	finish(actors)

	if got := countOwners(all); got == 2 {
		t.Fatal("both Workspaces own the state")
	}

	expectGivenUp(t, actors, all)

	// Each is reconciled twice more, one after the other.
	for i := range 4 {
		if a := actors[i%2]; a.err != nil {
			a.begin(t, epoch.Add(time.Minute))
			finish(actors)
		}
	}

	if got := countOwners(all); got != 1 {
		t.Errorf("want 1 Workspace to own the state, got %d: %v, %v", got, actors[0].err, actors[1].err)
	}

	for _, ws := range all {
		if ws.GetOwnership().Lineage == "" && ws.GetObservation().State != nil {
			t.Error("the status of the Workspace that gave up has the state of the other one")
		}
	}

	for _, a := range actors {
		if a.err != nil && !strings.Contains(a.err.Error(), "belongs to the Workspace") {
			t.Errorf("want an error of the other one that names the owner of the state, got %v", a.err)
		}
	}
}

// expectGivenUp fails the test if the status of a Workspace says that it has begun, after it gave up:
// this record would keep other Workspaces from the state.
func expectGivenUp(t *testing.T, actors []*claimantActor, all map[client.ObjectKey]*namespacedv1beta1.Workspace) {
	t.Helper()

	for _, a := range actors {
		if foreign := (foreignStateError{}); errors.As(a.err, &foreign) && workspace.HasBegun(all[a.key]) {
			t.Errorf("the status of the Workspace that gave up says that it has begun: %v", a.err)
		}
	}
}

// finish lets the actors complete their steps.
func finish(actors []*claimantActor) {
	for _, a := range actors {
		for !a.done {
			a.proceed()
		}
	}
}

func countOwners(all map[client.ObjectKey]*namespacedv1beta1.Workspace) int {
	n := 0

	for _, ws := range all {
		if ws.GetOwnership().Lineage == "l" {
			n++
		}
	}

	return n
}

// conflictingState is a state that was found, and has not changed since.
func conflictingState() *terraform.State {
	return &terraform.State{Lineage: "l", Serial: 3, Managed: 1}
}

// TestOwnStateFails has an API server that cannot be read or does not record a write. Nothing may
// be done to a state then.
func TestOwnStateFails(t *testing.T) {
	t.Parallel()

	s := runtime.NewScheme()
	if err := apis.AddToScheme(s); err != nil {
		t.Fatal(err)
	}

	boom := errors.New("boom")

	newGuard := func(ws *namespacedv1beta1.Workspace, funcs interceptor.Funcs, others ...client.Object) *stateGuard {
		kube := fake.NewClientBuilder().WithScheme(s).WithStatusSubresource(ws).WithObjects(append(others, ws)...).WithInterceptorFuncs(funcs).Build()

		return &stateGuard{pass: &pass{connector: &connector{live: kube, kube: kube, now: time.Now}, recorder: event.NewNopRecorder()}, cli: &fakeRunner{state: conflictingState()}}
	}

	t.Run("Conflict", func(t *testing.T) {
		t.Parallel()

		ws := newConflictingWorkspace("a", time.Now())
		g := newGuard(ws, interceptor.Funcs{Update: func(context.Context, client.WithWatch, client.Object, ...client.UpdateOption) error {
			return kerrors.NewConflict(schema.GroupResource{}, ws.GetName(), nil)
		}})

		// The protector adds the finalizer.
		if err := g.takeOver(t.Context(), ws, conflictingState()); err != nil || ws.GetOwnership().Lineage == "" {
			t.Errorf("takeOver(...): want the lineage to be recorded without the finalizer, got %q and error %v", ws.GetOwnership().Lineage, err)
		}
	})

	t.Run("Foreign", func(t *testing.T) {
		t.Parallel()

		ws, other := newConflictingWorkspace("a", time.Now()), newConflictingWorkspace("b", time.Now())
		ws.SetConditions(xpv2.Available())
		workspace.Own(other, conflictingState().Lineage)

		empty := workspace.Found{Empty: true}
		if reason, _ := workspace.Lost(ws, empty); reason == "" {
			t.Fatal("want the state that the existing provider had found to be lost")
		}

		if err := newGuard(ws, interceptor.Funcs{}, other).takeOver(t.Context(), ws, conflictingState()); !errors.As(err, &foreignStateError{}) {
			t.Fatalf("takeOver(...): want a foreign state, got %v", err)
		}

		// The message asks for a name or a backend of its own, where there is none.
		if reason, _ := workspace.Lost(ws, empty); reason != "" {
			t.Errorf("want the state of another Workspace to be no loss, got %q", reason)
		}
	})

	cases := map[string]interceptor.Funcs{
		"List": {List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error { return boom }},
		"Write": {SubResourceUpdate: func(context.Context, client.Client, string, client.Object, ...client.SubResourceUpdateOption) error {
			return boom
		}},
	}

	for name, funcs := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			ws := newConflictingWorkspace("a", time.Now())
			g := newGuard(ws, funcs)

			if err := g.takeOver(t.Context(), ws, conflictingState()); !errors.Is(err, boom) {
				t.Errorf("takeOver(...): want error %v, got %v", boom, err)
			}

			if got := ws.GetOwnership().Lineage; got != "" {
				t.Errorf("want no lineage to be recorded, got %q", got)
			}

			// Without it, a deletion of a Workspace whose outputs cannot be published would destroy nothing.
			if name == "Write" && !meta.FinalizerExists(ws, managed.FinalizerName) {
				t.Error("want a finalizer before the record")
			}
		})
	}
}

// TestForeignState ensures that a person reads what to do about a state of another Workspace.
func TestForeignState(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		err  foreignStateError
		want string
	}{
		"Certain": {err: foreignStateError{certain: true}, want: "set another annotation"},
		"Same":    {err: foreignStateError{certain: true}, want: "uses the same backend or a copy of the state: "},
		"Clone":   {err: foreignStateError{certain: true}, want: "If it is a copy that was split off, and has "},
		"Maybe":   {err: foreignStateError{}, want: "this Workspace goes on when that one was planned again"},
		"Copied":  {err: foreignStateError{certain: true, copied: true}, want: "set \"lineage\" in it to a new UUID"},
		"Goes":    {err: foreignStateError{certain: true, goes: true}, want: "this Workspace goes on when that one is gone"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if got := tc.err.Error(); !strings.Contains(got, tc.want) {
				t.Errorf("want %q to contain %q", got, tc.want)
			}
		})
	}
}

// TestSharedSecret ensures that a person is not told to delete the state of another Workspace if both have one Secret by different
// names and suffixes.
func TestSharedSecret(t *testing.T) {
	t.Parallel()

	s := runtime.NewScheme()
	if err := errors.Join(apis.AddToScheme(s), corev1.AddToScheme(s)); err != nil {
		t.Fatal(err)
	}

	const shared, copied = "is the Secret states/tfstate-prod-eu-net, which belongs to the Workspace", "if this copy was left over, delete it"

	cases := map[string]struct {
		reason string

		// other is the external name of the owner, and name and suffix are those of the Workspace. label is that of the Secret.
		other, name, suffix, label string

		server string
		want   string
	}{
		"Longer":    {reason: "The suffix has the rest of the name of the owner.", other: "prod-eu", name: "prod", suffix: "eu-net", label: "prod-eu", want: shared},
		"Shorter":   {reason: "The name has a part of the suffix of the owner.", other: "prod", name: "prod-eu", suffix: "net", label: "prod", want: shared},
		"Copy":      {reason: "The Secret is its own.", other: "prod", name: "prod-eu", suffix: "net", label: "prod-eu", want: copied},
		"Elsewhere": {reason: "The Secret is in another cluster. Nothing may be deleted there if it is not certain.", other: "prod", name: "prod-eu", suffix: "net", label: "prod-eu", server: "there", want: shared},
		"OtherName": {reason: "The names cannot make one.", other: "pro", name: "prod-eu", suffix: "net", label: "pro", want: copied},
		"NoSuffix":  {reason: "It is another backend.", other: "prod", name: "prod-eu", label: "prod", want: copied},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			ws, other := newConflictingWorkspace("a", time.Now()), newConflictingWorkspace("b", time.Now())
			meta.SetExternalName(ws, tc.name)
			meta.SetExternalName(other, tc.other)
			workspace.Own(other, conflictingState().Lineage)

			secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "states", Name: "tfstate-prod-eu-net", Labels: map[string]string{labelStateWorkspace: tc.label}}}
			kube := fake.NewClientBuilder().WithScheme(s).WithStatusSubresource(ws).WithObjects(ws, other, secret).Build()
			ps := &pass{connector: &connector{live: kube, kube: kube, now: time.Now, server: "here"}, recorder: event.NewNopRecorder()}
			cli := &fakeRunner{state: conflictingState(), backend: runner.KubernetesBackend{Server: cmp.Or(tc.server, "here"), Namespace: "states", Suffix: tc.suffix}}
			g := &stateGuard{pass: ps, cli: cli, states: &kubernetesStates{pass: ps, backend: cli}}

			err := g.takeOver(t.Context(), ws, conflictingState())
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s\ntakeOver(...): want an error with %q, got %v", tc.reason, tc.want, err)
			}
		})
	}
}
