// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package unserved

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/shard"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
	"github.com/crossplane-contrib/provider-terraform/test/apiserver"
)

// A racer changes each Workspace before it is read or written.
type racer struct {
	client.Reader
	client.SubResourceWriter

	change func(o client.Object)
}

func (r racer) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	o.SetNamespace(key.Namespace)
	o.SetName(key.Name)
	r.change(o)

	return r.Reader.Get(ctx, key, o, opts...)
}

func (r racer) Patch(ctx context.Context, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
	r.change(o)

	return r.SubResourceWriter.Patch(ctx, o, p, opts...)
}

// TestCondition ensures that the condition Ready tells of a Workspace that waits for an instance, and that
// nothing is written over one that does not.
func TestCondition(t *testing.T) {
	t.Parallel()

	live := apiserver.Client(t, apiserver.Start(t, "../../../package/crds/tf.upbound.io_workspaces.yaml", "../../../package/crds/tf.m.upbound.io_workspaces.yaml"))
	available, failed := xpv2.Available(), xpv2.Unavailable().WithMessage("boom").WithObservedGeneration(1)
	claimed := func(ws workspace.Workspace) {
		ws.SetOwnership(commonv1beta1.Ownership{Claim: &commonv1beta1.Claim{Holder: "holder"}})
	}
	conditions := func(c ...xpv2.Condition) func(ws workspace.Workspace) {
		return func(ws workspace.Workspace) { ws.SetConditions(c...) }
	}

	cases := map[string]struct {
		reason string

		// status and annotations that each Workspace of the shard a has.
		status      func(ws workspace.Workspace)
		annotations map[string]string

		// alive says that the holder of its claim may be running. The racers change it when it is
		// read or written, at each scan.
		alive                bool
		racingGet, racingPut bool

		want xpv2.ConditionReason
	}{
		"New":          {reason: "No instance has looked at it.", want: "NotServed"},
		"Failed":       {reason: "No instance tries it again.", status: conditions(failed), want: "NotServed"},
		"Changed":      {reason: "No instance applies the change.", status: conditions(available.WithObservedGeneration(7)), want: "NotServed"},
		"Ready":        {reason: "Its infrastructure is as specified.", status: conditions(available.WithObservedGeneration(1)), want: xpv2.ReasonAvailable},
		"ReadyUnknown": {reason: "An older version did not record the generation.", status: conditions(available), want: xpv2.ReasonAvailable},
		"Paused":       {reason: "A person wants nothing to be done.", annotations: map[string]string{meta.AnnotationKeyReconciliationPaused: "true"}},
		"PausedBefore": {reason: "The pause has ended, and no instance has said so.", status: conditions(xpv2.ReconcilePaused()), want: "NotServed"},
		"Abandoned":    {reason: "The instance that has the claim is dead.", status: claimed, want: "NotServed"},
		"Claimed":      {reason: "An instance may still work on it.", status: claimed, alive: true},
		"RacingGet":    {reason: "Another client has written it since it was listed.", racingGet: true},
		"RacingPut":    {reason: "Another client has written it since it was read.", racingPut: true},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, live)
			f.MayLive = func(context.Context, commonv1beta1.Claim) bool { return tc.alive }

			race := racer{f.kube, f.Statuses, func(o client.Object) { f.annotate(t, o, map[string]string{"now": strconv.Itoa(f.scans)}) }}
			if tc.racingGet {
				f.Live = struct {
					client.Reader
				}{race}
			}

			if tc.racingPut {
				f.Statuses = race
			}

			for _, o := range f.of("a") {
				f.annotate(t, o, tc.annotations)

				if tc.status != nil {
					ws := f.read(t, o)
					tc.status(ws)

					if err := f.kube.Status().Update(t.Context(), ws); err != nil {
						t.Fatal(err)
					}
				}
			}

			f.scan(t, 1)
			f.expectReady(t, "An instance is being replaced.", "b", "")
			f.scan(t, 1)
			f.expectReady(t, tc.reason, "a", tc.want)
			f.expectReady(t, "An instance serves it.", "b", "")
		})
	}

	t.Run("Later", func(t *testing.T) { testLater(t, newFixture(t, live)) })
	t.Run("Many", func(t *testing.T) { testMany(t, newFixture(t, live)) })
}

// testLater follows Workspaces from scan to scan.
func testLater(t *testing.T, f *fixture) {
	t.Helper()

	o := f.of("a")[0]
	message := func() string { return f.read(t, o).GetCondition(xpv2.TypeReady).Message }

	for _, o := range f.objects {
		expectInProgress(t, o)
	}

	writes := 0
	f.Statuses = racer{SubResourceWriter: f.Statuses, change: func(w client.Object) {
		if w.GetUID() == o.GetUID() {
			writes++
		}
	}}

	f.scan(t, 2)

	first := f.read(t, o)
	if !strings.Contains(message(), "running shards: b.") || first.GetCondition(xpv2.TypeReady).Status != corev1.ConditionFalse {
		t.Errorf("want Ready False with the running shards, got %+v", first.GetCondition(xpv2.TypeReady))
	}

	content := &unstructured.Unstructured{}
	content.SetGroupVersionKind(o.GetObjectKind().GroupVersionKind())

	if err := f.kube.Get(t.Context(), client.ObjectKeyFromObject(o), content); err != nil {
		t.Fatal(err)
	}

	expectInProgress(t, content)

	*f.leases = append(*f.leases, id(t, "z"))
	f.scan(t, 2)

	// Another instance that reports has seen none of them.
	f.seen = nil
	*f.leases = (*f.leases)[:1]
	f.scan(t, 3)

	if writes != 1 {
		t.Errorf("want one write, got %d", writes)
	}

	f.relabel(t, "a", "A_x")
	f.scan(t, 1)

	if want := `"A_x" is not a possible shard name; running shards: b`; !strings.Contains(message(), want) {
		t.Errorf("after a change of the label: want %q in %q", want, message())
	}

	ws := f.read(t, o)
	ws.SetConditions(xpv2.Creating())

	if err := f.kube.Status().Update(t.Context(), ws); err != nil {
		t.Fatal(err)
	}

	f.relabel(t, "A_x", "b")
	f.scan(t, 3)
	f.expectReady(t, "What the instance that serves it has written stays.", "b", xpv2.ReasonCreating, o.GetName())
}

// testMany ensures that one scan does not read all Workspaces of a large shard, and that later ones read the others.
func testMany(t *testing.T, f *fixture) {
	t.Helper()

	for range maxMarked {
		f.create(t, workspace.Kinds()[1], "a")
	}

	marked := func() (n int) {
		for _, o := range f.objects {
			if f.read(t, o).GetCondition(xpv2.TypeReady).Reason == workspace.ReasonNotServed {
				n++
			}
		}

		return n
	}

	f.scan(t, 2)

	if got := marked(); got != maxMarked {
		t.Errorf("first scan: want %d Workspaces with the condition, got %d", maxMarked, got)
	}

	f.scan(t, 1)

	if want, got := maxMarked+6, marked(); got != want {
		t.Errorf("second scan: want all %d Workspaces with the condition, got %d", want, got)
	}
}

// TestDescribe has labels that no shard can have, and the running shards.
func TestDescribe(t *testing.T) {
	t.Parallel()

	var many []shard.ID
	for i := range maxNamed + 2 {
		many = append(many, id(t, fmt.Sprintf("s%02d", i)))
	}

	cases := map[string]struct {
		reason  string
		label   string
		serving []shard.ID
		want    string
	}{
		"Impossible": {reason: "No shard can be started with this name.", label: "A_x", serving: []shard.ID{id(t, "b"), id(t, "a"), shard.CatchAll()}, want: `"A_x" is not a possible shard name; running shards: a, b. Change the label`},
		"Reserved":   {reason: "This name is reserved.", label: "catch-all", serving: []shard.ID{id(t, "b")}, want: `"catch-all" is not a possible shard name; running shards: b.`},
		"Empty":      {reason: "The label has no value.", serving: []shard.ID{shard.CatchAll()}, want: `"" is not a possible shard name; no shard is running.`},
		"Unknown":    {reason: "It may be a typo.", label: "c", serving: []shard.ID{id(t, "b")}, want: "none with --shard-name=c is running; running shards: b. Start one, or change the label"},
		"Many":       {reason: "The message is limited.", label: "c", serving: many, want: "running shards: s00, s01, s02, s03, s04, s05, s06, s07, s08, s09, and 2 more."},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			o := &metav1.PartialObjectMetadata{}
			o.SetLabels(map[string]string{shard.LabelKey: tc.label})

			if got := describe(ReasonNoLiveShard, o, tc.serving).Error(); !strings.Contains(got, tc.want) {
				t.Errorf("%s\ndescribe(...): want %q in %q", tc.reason, tc.want, got)
			}
		})
	}
}

// of returns the Workspaces with a label.
func (f *fixture) of(label string) (objects []client.Object) {
	for _, o := range f.objects {
		if o.GetLabels()[shard.LabelKey] == label {
			objects = append(objects, o)
		}
	}

	return objects
}

func (f *fixture) read(t *testing.T, o client.Object) workspace.Workspace {
	t.Helper()

	for _, k := range workspace.Kinds() {
		if ws, ok := k.Object.DeepCopyObject().(workspace.Workspace); ok && k.GroupVersionKind == o.GetObjectKind().GroupVersionKind() {
			if err := f.kube.Get(t.Context(), client.ObjectKeyFromObject(o), ws); err != nil {
				t.Fatal(err)
			}

			return ws
		}
	}

	t.Fatalf("%T is not a Workspace", o)

	return nil
}

func (f *fixture) annotate(t *testing.T, o client.Object, annotations map[string]string) {
	t.Helper()

	for key, value := range annotations {
		patch := fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, key, value)

		changed, _ := o.DeepCopyObject().(client.Object)
		if err := f.kube.Patch(t.Context(), changed, client.RawPatch("application/merge-patch+json", []byte(patch))); err != nil {
			t.Fatal(err)
		}
	}
}

// expectReady fails the test unless the Workspaces of a label, or those with the names, have Ready for a reason.
func (f *fixture) expectReady(t *testing.T, reason, label string, want xpv2.ConditionReason, names ...string) {
	t.Helper()

	for _, o := range f.of(label) {
		if len(names) > 0 && names[0] != o.GetName() {
			continue
		}

		if diff := cmp.Diff(want, f.read(t, o).GetCondition(xpv2.TypeReady).Reason); diff != "" {
			t.Errorf("\n%s\nreason of Ready in shard %s: -want, +got:\n%s", reason, label, diff)
		}
	}
}

// expectInProgress fails the test unless tools that use kstatus wait for a Workspace.
func expectInProgress(t *testing.T, o client.Object) {
	t.Helper()

	u, ok := o.(*unstructured.Unstructured)
	if !ok {
		t.Fatalf("%T is not unstructured", o)
	}

	if got, err := status.Compute(u); err != nil || got.Status != status.InProgressStatus {
		t.Errorf("kstatus: want %s, got %v, %v", status.InProgressStatus, got, err)
	}
}
