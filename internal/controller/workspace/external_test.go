// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
)

// settled returns a Workspace that is created, Ready and Synced as it is.
func settled(change ...func(ws *clusterv1beta1.Workspace)) *clusterv1beta1.Workspace {
	ws := withState(workspaceWithUID("a"), &commonv1beta1.StateSummary{Lineage: "l", Resources: 1})
	ws.SetGeneration(1)
	ws.SetConditions(xpv2.Available().WithObservedGeneration(1), xpv2.ReconcileSuccess().WithObservedGeneration(1))
	meta.SetExternalCreateSucceeded(ws, time.Now())

	o := ws.GetObservation()
	o.Checksum = "c"
	ws.SetObservation(o)

	for _, fn := range change {
		fn(ws)
	}

	return ws
}

func withChecksum(sum string) func(ws *clusterv1beta1.Workspace) {
	return func(ws *clusterv1beta1.Workspace) {
		o := ws.GetObservation()
		o.Checksum = sum
		ws.SetObservation(o)
	}
}

func deleted(ws *clusterv1beta1.Workspace) {
	now := metav1.Now()
	ws.SetDeletionTimestamp(&now)
}

func TestIsSettled(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		change func(ws *clusterv1beta1.Workspace)
		want   bool
	}{
		"Settled":   {reason: "All was well.", change: func(*clusterv1beta1.Workspace) {}, want: true},
		"Changed":   {reason: "It was changed since.", change: func(ws *clusterv1beta1.Workspace) { ws.SetGeneration(2) }},
		"NotReady":  {reason: "It was not ready.", change: func(ws *clusterv1beta1.Workspace) { ws.SetConditions(xpv2.Unavailable().WithObservedGeneration(1)) }},
		"NotSynced": {reason: "The last look failed.", change: func(ws *clusterv1beta1.Workspace) { ws.SetConditions(xpv2.ReconcileError(context.Canceled)) }},
		"NoInputs":  {reason: "It is not known what it was looked at with.", change: withChecksum("")},
		"NoState":   {reason: "Its state is not known.", change: func(ws *clusterv1beta1.Workspace) { withState(ws, nil) }},
		"Planned": {reason: "There was something to do.", change: func(ws *clusterv1beta1.Workspace) {
			o := ws.GetObservation()
			o.Plan = &commonv1beta1.PlanSummary{Add: 1}
			ws.SetObservation(o)
		}},
		"Observer": {reason: "It never owned the state.", change: func(ws *clusterv1beta1.Workspace) {
			meta.RemoveAnnotations(ws, meta.AnnotationKeyExternalCreateSucceeded)
			ws.SetManagementPolicies(xpv2.ManagementPolicies{xpv2.ManagementActionObserve})
		}},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if got := isSettled(settled(tc.change)); got != tc.want {
				t.Errorf("\n%s\nisSettled(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

func TestRecall(t *testing.T) {
	t.Parallel()

	const poll = 10 * time.Minute

	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

	cases := map[string]struct {
		reason    string
		ws        *clusterv1beta1.Workspace
		seen      bool
		inherited bool
		ok, told  bool
	}{
		"Seen":      {reason: "What this instance saw counts.", ws: settled(), seen: true, ok: true},
		"Told":      {reason: "The status tells what the instance before this one saw.", ws: settled(), ok: true, told: true},
		"Other":     {reason: "It tells what was seen with other inputs.", ws: settled(withChecksum("other"))},
		"Older":     {reason: "An older version has made the checksum of something else.", ws: settled(withChecksum("0123456789abcdef0123456789abcdef"))},
		"OtherDisk": {reason: "There is no backend: the state may be on the disk of another instance.", ws: settled(), inherited: true},
		"Unsettled": {reason: "There was something to do.", ws: workspaceWithUID("a")},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			m := newMemory()
			s := &schedule{memory: m, poll: poll, now: func() time.Time { return now }}
			e := &external{memory: m, schedule: s, runner: &fakeRunner{}, inherited: func(client.Object) bool { return tc.inherited }, inputs: "secret", checksum: "c"}

			if tc.seen {
				m.keep("a", look{inputs: "seen"})
			}

			l, ok := e.recall(tc.ws)
			if diff := cmp.Diff([]bool{tc.ok, tc.told}, []bool{ok, l.told}); diff != "" {
				t.Errorf("\n%s\nrecall(...): -want, +got:\n%s", tc.reason, diff)
			}

			if !tc.told {
				return
			}

			if diff := cmp.Diff("secret", l.inputs); diff != "" {
				t.Errorf("\n%s\ninputs: -want, +got:\n%s", tc.reason, diff)
			}

			if s.isDue(tc.ws, l.at) {
				t.Errorf("\n%s\nits next look is due at once", tc.reason)
			}

			// Each has a phase of its own.
			for _, uid := range []types.UID{"a", "b", "c", "d", "e", "f", "g", "h"} {
				tc.ws.SetUID(uid)

				l, _ := e.recall(tc.ws)
				if due := s.due(tc.ws, l.at, poll); due.After(now.Add(poll)) {
					t.Errorf("\n%s\nits next look is due after %s, want %s or less", tc.reason, due.Sub(now), poll)
				}
			}
		})
	}
}

func TestIsPoll(t *testing.T) {
	t.Parallel()

	const poll = 10 * time.Minute

	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	seen := func(l look) func(m *memory) {
		return func(m *memory) { m.keep("a", l) }
	}

	cases := map[string]struct {
		reason string
		ws     *clusterv1beta1.Workspace
		seen   func(m *memory)
		want   bool
	}{
		"Told":      {reason: "An instance that has just got it takes the word of the one before it.", ws: settled()},
		"Unsettled": {reason: "There was something to do.", ws: workspaceWithUID("a"), want: true},
		"Seen":      {reason: "It was looked at just now.", ws: settled(), seen: seen(look{at: now, exists: true, upToDate: true})},
		"Due":       {reason: "It was looked at long ago.", ws: settled(), seen: seen(look{at: now.Add(-2 * poll), exists: true, upToDate: true}), want: true},
		"Drifted":   {reason: "There is something to do.", ws: settled(), seen: seen(look{at: now, exists: true}), want: true},
		"Failed": {
			reason: "What failed is tried again, but others go first.",
			ws:     settled(func(ws *clusterv1beta1.Workspace) { ws.SetConditions(xpv2.ReconcileError(context.Canceled)) }),
			seen:   seen(look{at: now, exists: true, upToDate: true}),
			want:   true,
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			m := newMemory()
			s := &schedule{memory: m, poll: poll, now: func() time.Time { return now }}

			if tc.seen != nil {
				tc.seen(m)
			}

			if got := s.isPoll(tc.ws); got != tc.want {
				t.Errorf("\n%s\nisPoll(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}
