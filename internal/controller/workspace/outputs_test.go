// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"

	namespacedv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/namespaced/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

func output(value string) terraform.Output { return terraform.Output{Value: json.RawMessage(value)} }

func sensitive(value string) terraform.Output {
	return terraform.Output{Value: json.RawMessage(value), Sensitive: true}
}

func TestOutputs(t *testing.T) {
	cases := map[string]struct {
		reason  string
		output  terraform.Output
		visible string
		detail  string
		absent  bool
	}{
		"String": {
			reason:  "A string has no quotes in the Secret.",
			output:  output(`"a \"quoted\" <text>"`),
			visible: `"a \"quoted\" \u003ctext\u003e"`,
			detail:  `a "quoted" <text>`,
		},
		"EmptyString": {
			reason:  "An empty string is a value.",
			output:  output(`""`),
			visible: `""`,
		},
		"Bool": {
			reason:  "A bool is JSON.",
			output:  output("true"),
			visible: "true",
			detail:  "true",
		},
		"List": {
			reason:  "A list is compact JSON in the Secret.",
			output:  output(`["a", 1,  null]`),
			visible: `["a",1,null]`,
			detail:  `["a",1,null]`,
		},
		"Object": {
			reason:  "Keys are sorted. Characters that HTML would read as a tag are escaped: this must not change.",
			output:  output(`{"b":"<&>","a":null,"n":1.50}`),
			visible: `{"a":null,"b":"\u003c\u0026\u003e","n":1.5}`,
			detail:  `{"a":null,"b":"\u003c\u0026\u003e","n":1.50}`,
		},
		"Fraction": {
			reason:  "The API server stores a float64. The Secret has the digits of the CLI.",
			output:  output("0.33333333333333333333333333333333333333"),
			visible: "0.3333333333333333",
			detail:  "0.33333333333333333333333333333333333333",
		},
		"LargeInteger": {
			reason:  "An integer that is no int64 is a float64 there.",
			output:  output("18446744073709551615"),
			visible: "18446744073709552000",
			detail:  "18446744073709551615",
		},
		"Integer": {
			reason:  "All digits of an int64 stay, also those that a float64 has no room for.",
			output:  output("9007199254740993"),
			visible: "9007199254740993",
			detail:  "9007199254740993",
		},
		"TooLarge": {
			reason:  "What is no number there stays as it is.",
			output:  output("1e400"),
			visible: "1e400",
			detail:  "1e400",
		},
		"Null": {
			reason: "An output without a value is published nowhere.",
			output: output("null"),
			absent: true,
		},
		"NoValue": {
			reason: "Neither is an output with an unknown value.",
			output: terraform.Output{},
			absent: true,
		},
		"Sensitive": {
			reason: "A sensitive output is in the Secret only.",
			output: sensitive(`"s3cret"`),
			detail: "s3cret",
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			outputs := map[string]terraform.Output{"o": tc.output}

			wantVisible := map[string]extv1.JSON{}
			if !tc.absent && !tc.output.Sensitive {
				wantVisible["o"] = extv1.JSON{Raw: []byte(tc.visible)}
			}

			if diff := cmp.Diff(wantVisible, visibleOutputs(outputs)); diff != "" {
				t.Errorf("\n%s\nvisibleOutputs(...): -want, +got:\n%s", tc.reason, diff)
			}

			wantDetails := managed.ConnectionDetails{}
			if !tc.absent {
				wantDetails["o"] = []byte(tc.detail)
			}

			got, err := connectionDetails(outputs)
			if err != nil {
				t.Fatalf("connectionDetails(...): %v", err)
			}

			if diff := cmp.Diff(wantDetails, got); diff != "" {
				t.Errorf("\n%s\nconnectionDetails(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestConnectionDetailsInvalid(t *testing.T) {
	if _, err := connectionDetails(map[string]terraform.Output{"o": output("{")}); err == nil {
		t.Error("connectionDetails(...) of an output that is not JSON: want an error")
	}
}

func TestOmit(t *testing.T) {
	t.Parallel()

	const room = 1000

	cases := map[string]struct {
		reason string
		sizes  map[string]int
		want   []string
	}{
		"None":    {reason: "There may be no outputs."},
		"Fit":     {reason: "Outputs may take all the room.", sizes: map[string]int{"a": room - 1, "b": 1}},
		"Largest": {reason: "Only the largest is omitted if the others fit.", sizes: map[string]int{"a": 50, "b": 51, "c": room - 100, "d": 50}, want: []string{"c"}},
		"Several": {reason: "The largest come first.", sizes: map[string]int{"a": room, "b": room + 1, "c": 1}, want: []string{"b", "a"}},
		"Same":    {reason: "Of two outputs of the same size, the same one is omitted each time.", sizes: map[string]int{"b": room, "a": room}, want: []string{"a"}},
		"NoRoom":  {reason: "The rest of the Workspace may leave no room.", sizes: map[string]int{"a": room * 3, "b": room * 2}, want: []string{"a", "b"}},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if diff := cmp.Diff(tc.want, omit(tc.sizes, room), cmpopts.EquateEmpty()); diff != "" {
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
		"Deep":    {reason: "A status cannot have it.", json: strings.Repeat("[", 10_001) + strings.Repeat("]", 10_001), want: maxObject},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if got := storedSize(extv1.JSON{Raw: []byte(tc.json)}); got != tc.want {
				t.Errorf("\n%s\nstoredSize(%s): want %d, got %d", tc.reason, tc.json, tc.want, got)
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
		{name: "Smaller", reason: "The condition ends.", outputs: map[string]extv1.JSON{"a": ofSize(mib)}, shown: []string{"a"}, status: corev1.ConditionFalse},
	}

	// These are no subtests: each step depends on the one before.
	for _, tc := range cases {
		var told []string

		recorder := recorderFunc(func(e event.Event) { told = append(told, e.Message) })
		showOutputs(recorder, ws, tc.outputs)

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
