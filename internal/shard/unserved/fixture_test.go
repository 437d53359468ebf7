// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package unserved

import (
	"context"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/shard"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
	"github.com/crossplane-contrib/provider-terraform/test/apiserver"
)

// stubLeases are the held Leases. nil means that they are not known yet.
type stubLeases []shard.ID

func (l *stubLeases) Serving() ([]shard.ID, bool) { return *l, *l != nil }

// A stubMetrics has the last counts.
type stubMetrics map[string]int

func (m stubMetrics) Unserved(reason string, n int) { m[reason] = n }

// A recorder has the Events as the name of the Workspace and a text.
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

// A brokenReader always fails.
type brokenReader struct{ client.Reader }

func (brokenReader) List(context.Context, client.ObjectList, ...client.ListOption) error {
	return errors.New("boom")
}

// A halfReader fails for one kind.
type halfReader struct {
	client.Reader

	broken schema.GroupVersionKind
}

func (r halfReader) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	if list.GetObjectKind().GroupVersionKind().Group == r.broken.Group {
		return errors.New("boom")
	}

	return r.Reader.List(ctx, list, opts...)
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
	kube    client.Client
	objects []client.Object
	scans   int
}

func newFixture(t *testing.T, live client.Client) *fixture {
	t.Helper()

	leases := &stubLeases{id(t, "b")}
	f := &fixture{leases: leases, counts: stubMetrics{}, events: &recorder{events: map[string][]string{}}, kube: live}
	f.Watcher = &Watcher{ID: id(t, "b"), Leases: leases, Live: live, Kinds: workspace.GroupVersionKinds(), Metrics: f.counts, Recorder: f.events, Log: logging.NewNopLogger()}
	f.Statuses, f.MayLive = live.Status(), func(context.Context, commonv1beta1.Claim) bool { return false }

	for _, kind := range workspace.Kinds() {
		for _, label := range []string{"", "a", "b", "c"} {
			f.create(t, kind, label)
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

func (f *fixture) create(t *testing.T, kind workspace.Kind, label string) {
	t.Helper()

	ws := apiserver.Workspace(kind.GroupVersionKind, label)
	if err := f.kube.Create(t.Context(), ws); err != nil {
		t.Fatal(err)
	}

	f.objects = append(f.objects, ws)
}

// scan scans the supplied number of times.
func (f *fixture) scan(t *testing.T, times int) {
	t.Helper()

	for range times {
		f.scans++

		if err := f.Scan(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// expect fails the test unless the counts match, and the Workspaces of each label have the
// supplied number of Events.
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

		if err := f.kube.Patch(t.Context(), o, client.MergeFrom(before)); err != nil {
			t.Fatal(err)
		}
	}
}
