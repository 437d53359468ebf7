// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package unserved

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"

	"github.com/crossplane-contrib/provider-terraform/apis"
	"github.com/crossplane-contrib/provider-terraform/internal/shard"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
	"github.com/crossplane-contrib/provider-terraform/test/apiserver"
)

// stubLeases are those that are held. Nil is not known yet.
type stubLeases []shard.ID

func (l *stubLeases) Serving() ([]shard.ID, bool) { return *l, *l != nil }

// A stubMetrics has what was counted last.
type stubMetrics map[string]int

func (m stubMetrics) Unserved(reason string, n int) { m[reason] = n }

// A recorder has the Events, as the name of the Workspace and a text.
type recorder struct {
	mu     sync.Mutex
	events map[string][]string
}

func (r *recorder) Event(o runtime.Object, e event.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()

	name := "?"
	if m, ok := o.(*metav1.PartialObjectMetadata); ok {
		name = m.GroupVersionKind().Kind + " " + m.GetName()
	}

	r.events[name] = append(r.events[name], string(e.Type)+" "+string(e.Reason)+" "+e.Message)
}

func (r *recorder) WithAnnotations(...string) event.Recorder { return r }

// A brokenReader cannot be reached.
type brokenReader struct{ client.Reader }

func (brokenReader) List(context.Context, client.ObjectList, ...client.ListOption) error {
	return errors.New("boom")
}

func id(t *testing.T, name string) shard.ID {
	t.Helper()

	i, err := shard.Parse(name)
	if err != nil {
		t.Fatal(err)
	}

	return i
}

// A fixture is a Watcher of shard b, and one Workspace of each kind and of each
// label: none, a, b and c.
type fixture struct {
	*Watcher

	leases  *stubLeases
	counts  stubMetrics
	events  *recorder
	live    client.Client
	objects []client.Object
}

func (f *fixture) look(t *testing.T) {
	t.Helper()

	if err := f.Look(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// expect fails the test unless the counts are these, and people were told that often
// of each Workspace of the supplied labels.
func (f *fixture) expect(t *testing.T, reason string, noShard, noCatchAll int, told map[string]int) {
	t.Helper()

	if diff := cmp.Diff(stubMetrics{ReasonNoLiveShard: noShard, ReasonNoCatchAll: noCatchAll}, f.counts); diff != "" {
		t.Errorf("\n%s\ncounts: -want, +got:\n%s", reason, diff)
	}

	want, have := map[string]int{}, map[string]int{}

	for label, n := range told {
		for _, kind := range workspace.Kinds() {
			want[kind.GroupVersionKind.Group+"/"+label] = n
		}
	}

	for _, o := range f.objects {
		if n := len(f.events.events["Workspace "+o.GetName()]); n > 0 {
			have[o.GetObjectKind().GroupVersionKind().Group+"/"+o.GetLabels()[shard.LabelKey]] += n
		}
	}

	if diff := cmp.Diff(want, have); diff != "" {
		t.Errorf("\n%s\nevents: -want, +got:\n%s", reason, diff)
	}
}

func (f *fixture) relabel(t *testing.T, from, to string) {
	t.Helper()

	for _, o := range f.objects {
		if o.GetLabels()[shard.LabelKey] != from {
			continue
		}

		before, ok := o.DeepCopyObject().(client.Object)
		if !ok {
			t.Fatalf("%T is not an object", o)
		}

		o.SetLabels(map[string]string{shard.LabelKey: to})

		if err := f.live.Patch(t.Context(), o, client.MergeFrom(before)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestLook looks with a real API server, which does the selecting. The cases share
// it, and so come one after the other.
func TestLook(t *testing.T) {
	t.Parallel()

	cfg := apiserver.Start(t, "../../../package/crds/tf.upbound.io_workspaces.yaml", "../../../package/crds/tf.m.upbound.io_workspaces.yaml")

	s := runtime.NewScheme()
	if err := apis.AddToScheme(s); err != nil {
		t.Fatal(err)
	}

	live, err := client.New(cfg, client.Options{Scheme: s})
	if err != nil {
		t.Fatal(err)
	}

	for name, test := range map[string]func(t *testing.T, f *fixture){
		"Twice":          testTwice,
		"CatchAll":       testCatchAll,
		"NobodyKnown":    testNobodyKnown,
		"FirstOnly":      testFirstOnly,
		"Unsharded":      testUnsharded,
		"Served":         testServed,
		"OtherReason":    testOtherReason,
		"CannotList":     testCannotList,
		"WhatPeopleRead": testWhatPeopleRead,
	} {
		t.Run(name, func(t *testing.T) { test(t, newFixture(t, live)) })
	}
}

func newFixture(t *testing.T, live client.Client) *fixture {
	t.Helper()

	leases := &stubLeases{id(t, "b")}
	f := &fixture{leases: leases, counts: stubMetrics{}, events: &recorder{events: map[string][]string{}}, live: live}
	f.Watcher = New(id(t, "b"), leases, live, workspace.GroupVersionKinds(), 1, f.counts, WithRecorder(f.events))

	for _, kind := range workspace.Kinds() {
		for _, label := range []string{"", "a", "b", "c"} {
			ws := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
				"forProvider": map[string]any{"source": "Inline", "module": ""},
			}}}
			ws.SetGroupVersionKind(kind.GroupVersionKind)
			ws.SetGenerateName("ws-")

			if label != "" {
				ws.SetLabels(map[string]string{shard.LabelKey: label})
			}

			if strings.Contains(kind.GroupVersionKind.Group, ".m.") {
				ws.SetNamespace(corev1.NamespaceDefault)
			}

			if err := live.Create(t.Context(), ws); err != nil {
				t.Fatal(err)
			}

			f.objects = append(f.objects, ws)
		}
	}

	t.Cleanup(func() {
		for _, o := range f.objects {
			if err := live.Delete(context.WithoutCancel(t.Context()), o); client.IgnoreNotFound(err) != nil {
				t.Error(err)
			}
		}
	})

	return f
}

func testTwice(t *testing.T, f *fixture) {
	t.Helper()

	f.look(t)
	f.expect(t, "An instance that is replaced is away for a moment.", 0, 0, nil)
	f.look(t)
	f.expect(t, "Nobody is there for two of the labels, and none for those without.", 4, 2, map[string]int{"": 1, "a": 1, "c": 1})
	f.look(t)
	f.expect(t, "People were told.", 4, 2, map[string]int{"": 1, "a": 1, "c": 1})
}

func testCatchAll(t *testing.T, f *fixture) {
	t.Helper()

	*f.leases = stubLeases{shard.CatchAll(), id(t, "b"), id(t, "c")}

	f.look(t)
	f.look(t)
	f.expect(t, "Somebody serves those without a label.", 2, 0, map[string]int{"a": 1})

	*f.leases = stubLeases{shard.CatchAll()}
	f.id = shard.CatchAll()

	f.look(t)
	f.look(t)
	f.expect(t, "There is no shard at all.", 6, 0, map[string]int{"a": 1, "b": 1, "c": 1})
}

func testNobodyKnown(t *testing.T, f *fixture) {
	t.Helper()

	*f.leases = nil

	f.look(t)
	f.look(t)

	if diff := cmp.Diff(stubMetrics{}, f.counts); diff != "" {
		t.Errorf("it is not known who there is: -want, +got:\n%s", diff)
	}
}

func testFirstOnly(t *testing.T, f *fixture) {
	t.Helper()

	*f.leases = stubLeases{id(t, "b"), id(t, "a")}

	f.look(t)
	f.look(t)
	f.expect(t, "The instance of shard a looks.", 0, 0, nil)

	*f.leases = stubLeases{id(t, "b"), id(t, "c")}

	f.look(t)
	f.look(t)
	f.expect(t, "The instance of shard a is gone: it is this one that looks.", 2, 2, map[string]int{"": 1, "a": 1})
}

func testUnsharded(t *testing.T, f *fixture) {
	t.Helper()

	f.look(t)
	f.look(t)

	*f.leases = stubLeases{id(t, "b"), {}}

	f.look(t)
	f.expect(t, "An unsharded instance serves all.", 0, 0, map[string]int{"": 1, "a": 1, "c": 1})
}

func testServed(t *testing.T, f *fixture) {
	t.Helper()

	f.look(t)
	f.look(t)
	f.relabel(t, "a", "b")
	f.look(t)
	f.expect(t, "Somebody serves it now.", 2, 2, map[string]int{"": 1, "b": 1, "c": 1})

	*f.leases = stubLeases{id(t, "c")}
	f.id = id(t, "c")

	f.look(t)
	f.look(t)
	f.expect(t, "People are told again of what was served meanwhile, and of the others of shard b.", 4, 2, map[string]int{"": 1, "b": 3, "c": 1})
}

func testOtherReason(t *testing.T, f *fixture) {
	t.Helper()

	f.look(t)
	f.relabel(t, "", "d")
	f.look(t)
	f.expect(t, "The label was changed a moment ago.", 4, 0, map[string]int{"a": 1, "c": 1})
	f.look(t)
	f.expect(t, "Nobody serves that one either.", 6, 0, map[string]int{"a": 1, "c": 1, "d": 1})
}

func testCannotList(t *testing.T, f *fixture) {
	t.Helper()

	f.look(t)
	f.look(t)

	f.Watcher.live = brokenReader{}
	if err := f.Look(t.Context()); err == nil {
		t.Error("want the error of the API server")
	}

	f.expect(t, "What was known is not forgotten.", 4, 2, map[string]int{"": 1, "a": 1, "c": 1})

	f.Watcher.live = f.live
	f.look(t)
	f.expect(t, "People were told before.", 4, 2, map[string]int{"": 1, "a": 1, "c": 1})
}

func testWhatPeopleRead(t *testing.T, f *fixture) {
	t.Helper()

	f.look(t)
	f.look(t)

	for _, o := range f.objects {
		events := f.events.events["Workspace "+o.GetName()]

		switch label := o.GetLabels()[shard.LabelKey]; label {
		case "b":
			if len(events) > 0 {
				t.Errorf("somebody serves it: %q", events)
			}
		case "":
			expectText(t, events, "Warning NobodyServes", "no label "+shard.LabelKey, "--shard-catch-all")
		default:
			expectText(t, events, "Warning NobodyServes", "--shard-name="+label, shard.LabelKey)
		}
	}
}

func expectText(t *testing.T, events []string, texts ...string) {
	t.Helper()

	for _, text := range texts {
		if !strings.Contains(fmt.Sprint(events), text) {
			t.Errorf("want %q in %q", text, events)
		}
	}
}
