// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// newObject returns a Workspace of which the conditions have the supplied status, and
// that has revision 1.
func newObject(ready, synced, message string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"generation": int64(2)},
		"status": map[string]any{
			"conditions": []any{
				map[string]any{"type": "Ready", "status": ready, "observedGeneration": int64(1)},
				map[string]any{"type": "Synced", "status": synced, "observedGeneration": int64(2), "message": message},
			},
			"atProvider": map[string]any{"outputs": map[string]any{"revision": "1"}},
		},
	}}
}

func TestUnsettled(t *testing.T) {
	t.Parallel()

	ready, refused := newObject("True", "True", ""), newObject("True", "False", "the state belongs to another")
	forgotten := newObject("False", "False", "accept it with the annotation terraform.crossplane.io/accept-lost-state=unknown")

	old := newObject("True", "True", "")
	old.SetGeneration(3)

	named := func(name string, revision int) *wanted { return &wanted{name: name, revision: revision} }
	with := func(w *wanted, fn func(w *wanted)) *wanted {
		fn(w)

		return w
	}
	copied := func(w *wanted) { w.external = "ws-1" }

	cases := map[string]struct {
		reason          string
		all             map[string]*wanted
		objects         map[string]*unstructured.Unstructured
		unready, shared int
	}{
		"Ready": {
			reason:  "All is well.",
			all:     map[string]*wanted{"ws-1": named("ws-1", 1), "ws-2": named("ws-2", 1)},
			objects: map[string]*unstructured.Unstructured{"ws-1": ready, "ws-2": ready},
		},
		"NotSynced": {
			reason:  "The last observation failed.",
			all:     map[string]*wanted{"ws-1": named("ws-1", 1)},
			objects: map[string]*unstructured.Unstructured{"ws-1": refused},
			unready: 1,
		},
		"OldGeneration": {
			reason:  "The last change was not observed.",
			all:     map[string]*wanted{"ws-1": named("ws-1", 1)},
			objects: map[string]*unstructured.Unstructured{"ws-1": old},
			unready: 1,
		},
		"OldRevision": {
			reason:  "The last change was not applied.",
			all:     map[string]*wanted{"ws-1": named("ws-1", 2)},
			objects: map[string]*unstructured.Unstructured{"ws-1": ready},
			unready: 1,
		},
		"Missing": {
			reason:  "There was no deletion.",
			all:     map[string]*wanted{"ws-1": named("ws-1", 1)},
			unready: 1,
		},
		"Removed": {
			reason: "It was deleted.",
			all:    map[string]*wanted{"ws-1": {removed: 1}},
		},
		"NotGone": {
			reason:  "It is still there.",
			all:     map[string]*wanted{"ws-1": {removed: 1}},
			objects: map[string]*unstructured.Unstructured{"ws-1": ready},
			unready: 1,
		},
		"Leaky": {
			reason:  "It is to fail.",
			all:     map[string]*wanted{"ws-1": {traits: traits{flavour: leaky}}},
			objects: map[string]*unstructured.Unstructured{"ws-1": refused},
		},
		"LostRefused": {
			reason:  "A lost state is refused.",
			all:     map[string]*wanted{"ws-1": {lost: true, revision: 1}},
			objects: map[string]*unstructured.Unstructured{"ws-1": forgotten},
		},
		"LostFailing": {
			reason:  "The message has to say how to go on.",
			all:     map[string]*wanted{"ws-1": {lost: true, revision: 1}},
			objects: map[string]*unstructured.Unstructured{"ws-1": refused},
			unready: 1,
		},
		"RefusedNotLost": {
			reason:  "A state that is not lost is not refused.",
			all:     map[string]*wanted{"ws-1": named("ws-1", 1)},
			objects: map[string]*unstructured.Unstructured{"ws-1": forgotten},
			unready: 1,
		},
		"OneOwner": {
			reason:  "Of two that mean one state one is Ready.",
			all:     map[string]*wanted{"ws-1": named("ws-1", 1), "copy": with(named("copy", 1), copied)},
			objects: map[string]*unstructured.Unstructured{"ws-1": refused, "copy": ready},
		},
		"NoOwner": {
			reason:  "One has to be.",
			all:     map[string]*wanted{"ws-1": named("ws-1", 1), "copy": with(named("copy", 1), copied)},
			objects: map[string]*unstructured.Unstructured{"ws-1": refused, "copy": refused},
			unready: 1,
		},
		"TwoOwners": {
			reason:  "Two must not be.",
			all:     map[string]*wanted{"ws-1": named("ws-1", 1), "copy": with(named("copy", 1), copied)},
			objects: map[string]*unstructured.Unstructured{"ws-1": ready, "copy": ready},
			shared:  1,
		},
		"TwoStates": {
			reason: "Namesakes may have two states.",
			all: map[string]*wanted{
				"x": with(named("ws", 1), func(w *wanted) { w.flavour = envX }),
				"y": with(named("ws", 1), func(w *wanted) { w.flavour = envY }),
				"z": with(named("ws", 1), func(w *wanted) { w.flavour = suffixX }),
				"d": with(named("ws", 1), func(w *wanted) { w.flavour, w.uid = noBackend, "uid-1" }),
				"e": with(named("ws", 1), func(w *wanted) { w.flavour, w.uid = noBackend, "uid-2" }),
			},
			objects: map[string]*unstructured.Unstructured{"x": ready, "y": ready, "z": ready, "d": ready, "e": ready},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			unready, shared := unsettled(tc.all, tc.objects)
			if len(unready) != tc.unready || len(shared) != tc.shared {
				t.Errorf("%s\nunsettled(...): %d and %d, want %d and %d: %v %v", tc.reason, len(unready), len(shared), tc.unready, tc.shared, unready, shared)
			}
		})
	}
}

// TestReadVars shows that a restored manifest becomes the desired state.
func TestReadVars(t *testing.T) {
	t.Parallel()

	w := &wanted{kind: namespacedKind(), name: "ws-1", revision: 3, replacement: 4, traits: traits{namespace: "x", fails: true}}
	o := w.manifest("/ledger")
	got := &wanted{}
	got.readVars(o)

	if got.revision != 3 || got.replacement != 4 || !got.fails {
		t.Errorf("readVars(...): got %+v, want the source of the manifest", got)
	}
}

func TestClaimOf(t *testing.T) {
	t.Parallel()

	o := &unstructured.Unstructured{Object: map[string]any{}}
	if got := claimOf(o); got != "none" {
		t.Errorf("claimOf(...) of none: got %q", got)
	}

	o.SetAnnotations(map[string]string{claimedBy: "ns/lease/holder/uid"})

	if got := claimOf(o); got != "ns/lease/holder/uid" {
		t.Errorf("claimOf(...) of an annotation: got %q", got)
	}

	o.Object["status"] = map[string]any{"ownership": map[string]any{"claim": map[string]any{"namespace": "ns", "lease": "lease", "holder": "holder"}}}

	if got := claimOf(o); got != "holder" {
		t.Errorf("claimOf(...) of a status: got %q", got)
	}
}
