// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"bytes"
	"compress/gzip"
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/crossplane-contrib/provider-terraform/internal/runner"
)

const (
	pristine = `{"version":4,"serial":1,"lineage":"a","outputs":{},"resources":[]}`
	emptied  = `{"version":4,"serial":7,"lineage":"a","outputs":{},"resources":[]}`
)

// stateObjects are the objects of a kubernetes backend for one state.
func stateObjects(t *testing.T, namespace, name, suffix, holder, state string) []client.Object {
	t.Helper()

	b := &bytes.Buffer{}
	w := gzip.NewWriter(b)

	if _, err := w.Write([]byte(state)); err != nil {
		t.Fatal(err)
	}

	if err := w.Close(); err != nil {
		t.Fatal(err)
	}

	object := metav1.ObjectMeta{
		Namespace: namespace,
		Name:      "tfstate-" + name + "-" + suffix,
		Labels:    map[string]string{"tfstate": "true", "tfstateWorkspace": name, "tfstateSecretSuffix": suffix},
	}
	secret := &corev1.Secret{ObjectMeta: object, Data: map[string][]byte{"tfstate": b.Bytes()}}
	object.Name = "lock-" + object.Name
	lease := &coordinationv1.Lease{ObjectMeta: object}

	if holder != "" {
		lease.Spec.HolderIdentity = &holder
	}

	return []client.Object{secret, lease}
}

func TestEmptyStates(t *testing.T) {
	t.Parallel()

	named := func(ctx context.Context, s emptyStates) error { return s.removeNamed(ctx, "ws") }
	byDefault := func(ctx context.Context, s emptyStates) error { return s.removeDefault(ctx) }
	state := func(name, holder, text string) []client.Object {
		return stateObjects(t, "ns", name, "x", holder, text)
	}

	cases := map[string]struct {
		reason string
		have   [][]client.Object
		remove func(ctx context.Context, s emptyStates) error
		want   []string
	}{
		"Pristine":   {reason: "An observation made it.", have: [][]client.Object{state("ws", "", pristine)}, remove: named},
		"NoState":    {reason: "A run may have been killed before it made the state.", have: [][]client.Object{state("ws", "", pristine)[1:]}, remove: named},
		"Absent":     {reason: "There is nothing to do.", remove: named},
		"Locked":     {reason: "Something is about to be created.", have: [][]client.Object{state("ws", "a", pristine)}, remove: named, want: []string{"ns/tfstate-ws-x", "ns/lock-tfstate-ws-x"}},
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
		"Default": {reason: "Init has made it, and no other state is left.", have: [][]client.Object{state("default", "", pristine)}, remove: byDefault},
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

			b := fake.NewClientBuilder()
			for _, objects := range tc.have {
				b.WithObjects(objects...)
			}

			kube := b.Build()
			if err := tc.remove(t.Context(), emptyStates{live: kube, kube: kube, backend: runner.KubernetesBackend{Namespace: "ns", Suffix: "x"}}); err != nil {
				t.Fatalf("%s\nremove(...): %v", tc.reason, err)
			}

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

			r.removeEmptyStates(t.Context(), r.ws)

			err := r.kube.Get(t.Context(), client.ObjectKeyFromObject(objects[0]), objects[0])
			if (err == nil) != tc.kept {
				t.Errorf("%s\nstate: want it to be kept: %t, got error %v", tc.reason, tc.kept, err)
			}
		})
	}
}
