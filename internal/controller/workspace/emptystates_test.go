// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/runner"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
)

func TestEmptyStates(t *testing.T) {
	t.Parallel()

	named := func(ctx context.Context, r *attempt) { r.planner.states.removeEmptyStates(ctx, r.ws) }
	byDefault := func(ctx context.Context, r *attempt) { r.planner.states.removeDefaultState(ctx) }
	state := func(name, holder, text string) []client.Object {
		return stateObjects(t, "ns", name, "x", holder, text)
	}

	cases := map[string]struct {
		reason string
		have   [][]client.Object
		remove func(ctx context.Context, r *attempt)
		want   []string
	}{
		"Pristine": {reason: "An observation made it.", have: [][]client.Object{state("ws", "", pristine)}, remove: named},
		"NoState":  {reason: "A run may have been killed before it made the state.", have: [][]client.Object{state("ws", "", pristine)[1:]}, remove: named},
		"NoLease":  {reason: "An earlier removal has failed between the two.", have: [][]client.Object{state("ws", "", pristine)[:1]}, remove: named},
		"Absent":   {reason: "There is nothing to do.", remove: named},
		"Locked":   {reason: "Something is about to be created.", have: [][]client.Object{state("ws", "a", pristine)}, remove: named, want: []string{"ns/tfstate-ws-x", "ns/lock-tfstate-ws-x"}},
		"Shared": {
			reason: "Another Workspace may be about to create something in it.",
			have:   [][]client.Object{state("ws", "", pristine)},
			remove: func(ctx context.Context, r *attempt) {
				r.Locks.Users.Use("ws")
				r.Locks.Users.Use("ws")
				named(ctx, r)
			},
			want: []string{"ns/tfstate-ws-x", "ns/lock-tfstate-ws-x"},
		},
		"Emptied":    {reason: "It had resources once.", have: [][]client.Object{state("ws", "", emptied)}, remove: named, want: []string{"ns/tfstate-ws-x", "ns/lock-tfstate-ws-x"}},
		"Unreadable": {reason: "Its contents are unknown.", have: [][]client.Object{state("ws", "", "encrypted")}, remove: named, want: []string{"ns/tfstate-ws-x", "ns/lock-tfstate-ws-x"}},
		"Outputs": {
			reason: "A state with outputs is not empty.",
			have:   [][]client.Object{state("ws", "", `{"version":4,"serial":1,"lineage":"a","outputs":{"a":{"value":1,"type":"number"}},"resources":[]}`)},
			remove: named, want: []string{"ns/tfstate-ws-x", "ns/lock-tfstate-ws-x"},
		},
		"Resources": {
			reason: "A state with resources is not empty.",
			have:   [][]client.Object{state("ws", "", `{"version":4,"serial":1,"lineage":"a","outputs":{},"resources":[{"mode":"managed","instances":[{}]}]}`)},
			remove: named, want: []string{"ns/tfstate-ws-x", "ns/lock-tfstate-ws-x"},
		},
		"Encrypted": {
			reason: "OpenTofu encrypts the contents of a state, but not its serial.",
			have:   [][]client.Object{state("ws", "", `{"serial":1,"lineage":"a","meta":{},"encrypted_data":"AAAA","encryption_version":"v0"}`)},
			remove: named, want: []string{"ns/tfstate-ws-x", "ns/lock-tfstate-ws-x"},
		},
		"OtherNamespace": {
			reason: "It is in another backend, with the same suffix.",
			have:   [][]client.Object{state("ws", "", pristine), stateObjects(t, "other", "ws", "x", "", pristine)},
			remove: named, want: []string{"other/tfstate-ws-x", "other/lock-tfstate-ws-x"},
		},
		"OtherSuffix": {
			reason: "It is in another backend.",
			have:   [][]client.Object{stateObjects(t, "ns", "ws", "y", "", pristine)},
			remove: named, want: []string{"ns/tfstate-ws-y", "ns/lock-tfstate-ws-y"},
		},
		"Default":        {reason: "Init has made it, and no other state is left.", have: [][]client.Object{state("default", "", pristine)}, remove: byDefault},
		"DefaultNoLease": {reason: "An earlier removal has failed between the two.", have: [][]client.Object{state("default", "", pristine)[:1]}, remove: byDefault},
		"DefaultOfOthers": {
			reason: "All Workspaces of the backend share it.",
			have:   [][]client.Object{state("default", "", pristine), state("ws", "", emptied)},
			remove: byDefault, want: []string{"ns/tfstate-default-x", "ns/tfstate-ws-x", "ns/lock-tfstate-default-x", "ns/lock-tfstate-ws-x"},
		},
		"DefaultOfOtherNamespace": {
			reason: "A state in another backend with the same suffix does not count.",
			have:   [][]client.Object{state("default", "", pristine), stateObjects(t, "other", "ws", "x", "", emptied)},
			remove: byDefault, want: []string{"other/tfstate-ws-x", "other/lock-tfstate-ws-x"},
		},
		"DefaultUsed": {
			reason: "It is the state of a Workspace that has destroyed its resources.",
			have:   [][]client.Object{state("default", "", emptied)},
			remove: byDefault, want: []string{"ns/tfstate-default-x", "ns/lock-tfstate-default-x"},
		},
		"NoDefault": {
			reason: "The only other state is that of a Workspace.",
			have:   [][]client.Object{state("ws", "", pristine)},
			remove: byDefault, want: []string{"ns/tfstate-ws-x", "ns/lock-tfstate-ws-x"},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r := newAttempt(t, with(), slices.Concat(tc.have...)...)
			r.server, r.runner.backend = "here", runner.KubernetesBackend{Server: "here", Namespace: "ns", Suffix: "x"}
			kube := r.kube
			tc.remove(t.Context(), r)

			secrets, leases := &corev1.SecretList{}, &coordinationv1.LeaseList{}
			if err := kube.List(t.Context(), secrets); err != nil {
				t.Fatal(err)
			}

			if err := kube.List(t.Context(), leases); err != nil {
				t.Fatal(err)
			}

			var left []string
			for _, s := range secrets.Items {
				left = append(left, client.ObjectKeyFromObject(&s).String())
			}

			for _, l := range leases.Items {
				left = append(left, client.ObjectKeyFromObject(&l).String())
			}

			if diff := cmp.Diff(tc.want, left); diff != "" {
				t.Errorf("\n%s\nwhat is left: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestEmptyStateOfPlan has an empty state that a plan has made. It is removed if nothing else would
// remove it.
func TestEmptyStateOfPlan(t *testing.T) {
	t.Parallel()

	observed := policies(xpv2.ManagementActionObserve)

	cases := map[string]struct {
		reason string
		ws     *clusterv1beta1.Workspace
		prior  terraform.State
		err    error
		kept   bool
	}{
		"New":            {reason: "The apply will use it.", ws: with(), kept: true},
		"NewFailed":      {reason: "The Workspace may be deleted without a run.", ws: with(), err: errors.New("boom")},
		"BegunFailed":    {reason: "The next attempt will use it.", ws: with(begun), err: errors.New("boom"), kept: true},
		"Observed":       {reason: "The Workspace is deleted without a run.", ws: with(observed)},
		"ObservedFailed": {reason: "The same, after a change of the policies.", ws: with(begun, observed), err: errors.New("boom")},
		"ObservedState":  {reason: "The plan has read another state.", ws: with(observed), prior: otherState(), kept: true},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r := newAttempt(t, tc.ws, stateObjects(t, "ns", "ws", "x", "", pristine)...)
			r.server, r.runner.backend = "here", runner.KubernetesBackend{Server: "here", Namespace: "ns", Suffix: "x"}
			r.planned(changes(), tc.prior)
			r.runner.planErr = tc.err

			if err := r.observeInConnect(t.Context(), r.ws); err != nil {
				t.Fatal(err)
			}

			if kept := r.stateOf(t) != nil; kept != tc.kept {
				t.Errorf("\n%s\nwant the state to be kept: %t, got %t", tc.reason, tc.kept, kept)
			}
		})
	}
}

// TestEmptyStatesElsewhere ensures that nothing is removed here for a backend in another cluster.
func TestEmptyStatesElsewhere(t *testing.T) {
	t.Parallel()

	const here = "https://here"

	cases := map[string]struct {
		reason, server, from string
		kept                 bool
	}{
		"Here":     {reason: "The plan has made it.", server: here, from: here},
		"There":    {reason: "The state here belongs to another Workspace.", server: "https://there", from: here, kept: true},
		"NoServer": {reason: "The cluster is not known.", kept: true},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			objects := stateObjects(t, "ns", "ws", "x", "", pristine)
			r := newAttempt(t, with(), objects...)
			r.server, r.runner.backend = tc.from, runner.KubernetesBackend{Server: tc.server, Namespace: "ns", Suffix: "x"}

			r.planner.states.removeEmptyStates(t.Context(), r.ws)

			err := r.kube.Get(t.Context(), client.ObjectKeyFromObject(objects[0]), objects[0])
			if (err == nil) != tc.kept {
				t.Errorf("%s\nstate: want it to be kept: %t, got error %v", tc.reason, tc.kept, err)
			}
		})
	}
}
