// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	xpmeta "github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	namespacedv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/namespaced/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/shard"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

type sightOption func(*sight)

func withShard(name string) sightOption {
	return func(s *sight) { s.SetLabels(map[string]string{shard.LabelKey: name}) }
}

func withServer(name string) sightOption {
	return func(s *sight) { s.servedBy = name }
}

func withConditions(c ...xpv2.Condition) sightOption {
	return func(s *sight) { s.SetConditions(c...) }
}

func withOutputs(outputs map[string]string) sightOption {
	return func(s *sight) {
		o := commonv1beta1.WorkspaceObservation{Outputs: map[string]extv1.JSON{}}
		for name, json := range outputs {
			o.Outputs[name] = extv1.JSON{Raw: []byte(json)}
		}

		s.SetObservation(o)
	}
}

func newSight(opts ...sightOption) sight {
	s := sight{Workspace: &clusterv1beta1.Workspace{ObjectMeta: metav1.ObjectMeta{Name: "a"}}}
	for _, o := range opts {
		o(&s)
	}

	return s
}

func TestServed(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason  string
		sight   sight
		outputs string
		want    string
	}{
		"Served": {
			reason: "A Workspace as it should be.",
			sight: newSight(withShard("shard-0"), withServer("shard-0"),
				withConditions(xpv2.ReconcileSuccess(), xpv2.Available()),
				withOutputs(map[string]string{"b": `[ 1, "x" ]`, "a": `"text"`})),
			outputs: `a=text, b=[1,"x"]`,
		},
		"Missing": {
			reason: "A Workspace that is not there.",
			want:   "is not there",
		},
		"None": {
			reason: "The label alone does not serve a Workspace.",
			sight:  newSight(withShard("shard-0"), withConditions(xpv2.ReconcileSuccess(), xpv2.Available())),
			want:   "is served by no instance, not by shard-0",
		},
		"Another": {
			reason: "The server has to be the shard in the label.",
			sight:  newSight(withShard("shard-0"), withServer("shard-1"), withConditions(xpv2.ReconcileSuccess(), xpv2.Available())),
			want:   "is served by shard-1, not by shard-0",
		},
		"NotSynced": {
			reason: "The message of the condition says why.",
			sight:  newSight(withServer(""), withConditions(xpv2.ReconcileError(errBoom), xpv2.Available())),
			want:   "Synced is False: boom",
		},
		"NotReady": {
			reason: "Without a message the reason has to do.",
			sight:  newSight(withConditions(xpv2.ReconcileSuccess(), xpv2.Creating())),
			want:   "Ready is False: Creating",
		},
		"NoCondition": {
			reason: "No instance has reconciled the Workspace.",
			sight:  newSight(),
			want:   "Synced is Unknown: no reason yet",
		},
		"Outputs": {
			reason:  "Outputs count, too.",
			sight:   newSight(withConditions(xpv2.ReconcileSuccess(), xpv2.Available())),
			outputs: "a=b",
			want:    "outputs are none, not a=b",
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if diff := cmp.Diff(tc.want, message(tc.sight.served(tc.outputs))); diff != "" {
				t.Errorf("%s\nserved(%q): -want error, +got error:\n%s", tc.reason, tc.outputs, diff)
			}
		})
	}
}

func TestUntouched(t *testing.T) {
	t.Parallel()

	notServed := xpv2.Unavailable()
	notServed.Reason = workspace.ReasonNotServed

	cases := map[string]struct {
		reason string
		sight  sight
		want   string
	}{
		"Untouched": {reason: "A Workspace as kubectl creates it.", sight: newSight()},
		"Missing":   {reason: "A Workspace that is not there.", want: "is not there"},
		"Served":    {reason: "A workdir is a trace.", sight: newSight(withServer("shard-0")), want: "is served by shard-0"},
		"Condition": {reason: "A condition is a trace.", sight: newSight(withConditions(xpv2.Creating())), want: "has conditions"},
		"Finalizer": {reason: "A finalizer is a trace.", sight: newSight(func(s *sight) { s.SetFinalizers([]string{"f"}) }), want: `has finalizers ["f"]`},
		"Creation":  {reason: "A creation is a trace.", sight: newSight(func(s *sight) { xpmeta.SetExternalCreatePending(s, time.Now()) }), want: "is being created"},
		"Named":     {reason: "A person has set the external name.", sight: newSight(func(s *sight) { xpmeta.SetExternalName(s, "a") })},
		"NotServed": {reason: "The condition says that there was no work.", sight: newSight(withConditions(notServed))},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if diff := cmp.Diff(tc.want, message(tc.sight.untouched())); diff != "" {
				t.Errorf("%s\nuntouched(): -want error, +got error:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestTabulate(t *testing.T) {
	t.Parallel()

	created := metav1.Now()
	meta := func(namespace, name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: namespace, Name: name, CreationTimestamp: created}
	}

	z := sight{Workspace: &clusterv1beta1.Workspace{ObjectMeta: meta("", "z")}, servedBy: "shard-0"}
	z.SetLabels(map[string]string{shard.LabelKey: "shard-1"})
	z.SetConditions(xpv2.ReconcileSuccess(), xpv2.Creating())

	got := tabulate(map[string]sight{
		"a/b": {Workspace: &namespacedv1beta1.Workspace{ObjectMeta: meta("a", "b")}},
		"z":   z,
	}, created.Add(60e9))

	want := table{
		{{text: "z"}, {text: "shard-1"}, {text: "shard-0", color: cyan}, {text: "True", color: green}, {text: "False", color: yellow}, {text: "-"}, {text: "60s"}},
		{{text: "a/b"}, {text: "-"}, {text: "none", color: yellow}, {text: "-", color: yellow}, {text: "-", color: yellow}, {text: "-"}, {text: "60s"}},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(cell{})); diff != "" {
		t.Errorf("The table shows the actual state, not the desired one, and cluster-scoped Workspaces come first.\ntabulate(...): -want, +got:\n%s", diff)
	}
}

// message of an error, empty if there is none.
func message(err error) string {
	if err == nil {
		return ""
	}

	return err.Error()
}
