// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"

	namespacedv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/namespaced/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

func TestOmit(t *testing.T) {
	t.Parallel()

	const room = outputsSlack + 100

	cases := map[string]struct {
		reason string
		sizes  map[string]int
		before []string
		want   []string
	}{
		"None":       {reason: "There may be no outputs."},
		"Fit":        {reason: "Outputs may take all the room.", sizes: map[string]int{"a": room - 1, "b": 1}},
		"Largest":    {reason: "Only the largest is omitted if the others fit.", sizes: map[string]int{"a": 50, "b": 51, "c": room - 100, "d": 50}, want: []string{"c"}},
		"Several":    {reason: "The largest come first.", sizes: map[string]int{"a": room, "b": room + 1, "c": 1}, want: []string{"b", "a"}},
		"Same":       {reason: "Of two outputs of the same size, the same one is omitted each time.", sizes: map[string]int{"b": room, "a": room}, want: []string{"a"}},
		"NoRoom":     {reason: "The rest of the Workspace may leave no room.", sizes: map[string]int{"a": room * 3, "b": room * 2}, want: []string{"a", "b"}},
		"StillLarge": {reason: "An omitted output needs room to spare.", sizes: map[string]int{"a": room - 50, "b": 10}, before: []string{"a"}, want: []string{"a"}},
		"Smaller":    {reason: "It is shown again when there is room to spare.", sizes: map[string]int{"a": 90, "b": 10}, before: []string{"a"}},
		"Shown":      {reason: "A shown output needs no room to spare.", sizes: map[string]int{"a": room * 2, "b": room - 1, "c": 1}, before: []string{"a"}, want: []string{"a"}},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got := omit(tc.sizes, room, func(name string) bool { return slices.Contains(tc.before, name) })
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nomit(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestStoredSize(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		json   string
		want   int
	}{
		"String":  {reason: "A string counts as it is in JSON.", json: `"abc"`, want: 5},
		"Escaped": {reason: "The API server escapes some characters.", json: `"<&>"`, want: 2 + 3*6},
		"Fields":  {reason: "Each field counts, at any depth.", json: `{"a":{"bc":1}}`, want: 14 + 1 + 2 + 2*fieldSize},
		"List":    {reason: "The fields in a list do not.", json: `[{"a":1},{"a":1}]`, want: 17},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got, err := storedSize(extv1.JSON{Raw: []byte(tc.json)})
			if err != nil || got != tc.want {
				t.Errorf("\n%s\nstoredSize(%s): want %d, got %d, %v", tc.reason, tc.json, tc.want, got, err)
			}
		})
	}
}

// TestShowOutputs shows outputs in steps, each after the other.
func TestShowOutputs(t *testing.T) {
	t.Parallel()

	const mib = 1 << 20

	ofSize := func(n int) extv1.JSON { return extv1.JSON{Raw: []byte(`"` + strings.Repeat("x", n) + `"`)} }

	ws := &namespacedv1beta1.Workspace{}
	// The managed fields, which only some copies of a Workspace have, count by fieldSize.
	ws.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: strings.Repeat("x", 2*mib)}})

	cases := []struct {
		name, reason string
		outputs      map[string]extv1.JSON
		shown        []string
		status       corev1.ConditionStatus
		message      string
		// event says whether an Event has the message.
		event bool
	}{
		{name: "Small", reason: "There is no condition before it is needed.", outputs: map[string]extv1.JSON{"a": ofSize(mib), "b": ofSize(1)}, shown: []string{"a", "b"}, status: corev1.ConditionUnknown},
		{name: "Large", reason: "The message names the omitted output.", outputs: map[string]extv1.JSON{"a": ofSize(3 * mib / 2), "b": ofSize(1)}, shown: []string{"b"}, status: corev1.ConditionTrue, message: `status.atProvider.outputs has no room for "a" (1.5 MiB)`, event: true},
		{name: "Still", reason: "There is one Event for it.", outputs: map[string]extv1.JSON{"a": ofSize(3*mib/2 + 1), "b": ofSize(1)}, shown: []string{"b"}, status: corev1.ConditionTrue, message: `status.atProvider.outputs has no room for "a" (1.5 MiB)`},
		{name: "Grown", reason: "A shown output may take all free room.", outputs: map[string]extv1.JSON{"a": ofSize(3*mib/2 + 1), "b": ofSize(maxObject - 10_000)}, shown: []string{"b"}, status: corev1.ConditionTrue, message: `status.atProvider.outputs has no room for "a" (1.5 MiB)`},
		{name: "Almost", reason: "It is not shown as soon as there is just enough room.", outputs: map[string]extv1.JSON{"a": ofSize(maxObject - 10_000), "b": ofSize(1)}, shown: []string{"b"}, status: corev1.ConditionTrue, message: `status.atProvider.outputs has no room for "a" (1.4 MiB)`, event: true},
		{name: "Smaller", reason: "The condition ends.", outputs: map[string]extv1.JSON{"a": ofSize(mib)}, shown: []string{"a"}, status: corev1.ConditionFalse},
	}

	// These are no subtests: each step depends on the one before.
	for _, tc := range cases {
		var told []string

		recorder := recorderFunc(func(e event.Event) { told = append(told, e.Message) })
		if err := showOutputs(recorder, ws, tc.outputs); err != nil {
			t.Fatal(err)
		}

		if diff := cmp.Diff(tc.shown, slices.Sorted(maps.Keys(ws.GetObservation().Outputs))); diff != "" {
			t.Errorf("\n%s: %s\nshown: -want, +got:\n%s", tc.name, tc.reason, diff)
		}

		c := ws.GetCondition(workspace.TypeOutputsOmitted)
		if diff := cmp.Diff([]string{string(tc.status), tc.message}, []string{string(c.Status), c.Message}); diff != "" {
			t.Errorf("\n%s: %s\ncondition: -want, +got:\n%s", tc.name, tc.reason, diff)
		}

		var want []string
		if tc.event {
			want = []string{tc.message}
		}

		if diff := cmp.Diff(want, told); diff != "" {
			t.Errorf("\n%s: %s\nEvents: -want, +got:\n%s", tc.name, tc.reason, diff)
		}
	}

	if len(ws.GetManagedFields()) != 1 {
		t.Error("the managed fields are lost")
	}
}

func TestNameSizes(t *testing.T) {
	t.Parallel()

	long := strings.Repeat("x", 1000)
	sizes := map[string]int{"a": 1, "b": 2, "c": 3, "d": 4, long: 5 << 20, "f": 6, "g": 7}

	want := `"` + long[:100] + `" (5.0 MiB), "g" (7 bytes), "f" (6 bytes), "d" (4 bytes), "c" (3 bytes), and 2 more`
	if diff := cmp.Diff(want, nameSizes(sizes, bySize(sizes))); diff != "" {
		t.Errorf("nameSizes(...): -want, +got:\n%s", diff)
	}
}
