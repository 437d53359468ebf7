// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package shard

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"
)

func TestParse(t *testing.T) {
	t.Parallel()

	longest := strings.Repeat("a", 63)

	cases := map[string]struct {
		reason  string
		name    string
		want    ID
		message []string
	}{
		"Empty":           {reason: "No name means unsharded.", name: "", want: ID{}},
		"Label":           {reason: "A DNS-1123 label names a shard.", name: "shard-0", want: ID{name: "shard-0"}},
		"StartsWithDigit": {reason: "A DNS-1123 label may start with a digit.", name: "0", want: ID{name: "0"}},
		"Longest":         {reason: "63 characters are the most that a label value holds.", name: longest, want: ID{name: longest}},
		"TooLong":         {reason: "64 characters do not fit into a label value.", name: longest + "a", message: []string{longest + "a", "63"}},
		"UpperCase":       {reason: "A Lease name has no upper-case letters.", name: "Shard", message: []string{`"Shard"`, "lower-case"}},
		"Dot":             {reason: "A label has no dots, although a Lease name may.", name: "a.b", message: []string{`"a.b"`, "letters, digits and '-'"}},
		"Underscore":      {reason: "A label value may hold an underscore, a Lease name may not.", name: "a_b", message: []string{`"a_b"`}},
		"LeadingDash":     {reason: "A DNS-1123 label starts with a letter or digit.", name: "-a", message: []string{`"-a"`, "first and last"}},
		"TrailingDash":    {reason: "A DNS-1123 label ends with a letter or digit.", name: "a-", message: []string{`"a-"`}},
		"Space":           {reason: "White space is neither trimmed nor treated as an empty name.", name: " ", message: []string{`" "`}},
		"NewLine":         {reason: "A name with a line end, as read from a file, is refused with a message of one line.", name: "a\n", message: []string{`"a\n"`}},
		"Reserved":        {reason: "The name of the catch-all instance is not allowed for a shard.", name: "catch-all", message: []string{`"catch-all"`, "reserved"}},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got, err := Parse(tc.name)

			var wantErr error
			if tc.message != nil {
				wantErr = cmpopts.AnyError
			}

			if diff := cmp.Diff(wantErr, err, cmpopts.EquateErrors()); diff != "" {
				t.Fatalf("%s\nParse(%q): -want error, +got error:\n%s", tc.reason, tc.name, diff)
			}

			for _, m := range tc.message {
				if !strings.Contains(err.Error(), m) {
					t.Errorf("%s\nParse(%q): %q does not say %q", tc.reason, tc.name, err, m)
				}
			}

			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(ID{})); diff != "" {
				t.Errorf("%s\nParse(%q): -want, +got:\n%s", tc.reason, tc.name, diff)
			}
		})
	}
}

func TestID(t *testing.T) {
	t.Parallel()

	type want struct {
		Name, Value, Mode, Selector, LeaseName, String string
		Sharded                                        bool
	}

	cases := map[string]struct {
		reason string
		id     ID
		want   want
	}{
		"Unsharded": {
			reason: "Without a shard, the Lease has the same name as in all versions, and nothing is filtered.",
			id:     ID{},
			want: want{
				Mode:      "unsharded",
				LeaseName: "crossplane-leader-election-provider-terraform",
				String:    "unsharded",
			},
		},
		"Shard": {
			reason: "A shard has its own Lease and lets the API server filter by the label.",
			id:     ID{name: "shard-0"},
			want: want{
				Name:      "shard-0",
				Value:     "shard-0",
				Mode:      "shard",
				Selector:  "terraform.crossplane.io/shard=shard-0",
				LeaseName: "crossplane-leader-election-provider-terraform-shard-0",
				String:    "shard shard-0",
				Sharded:   true,
			},
		},
		"CatchAll": {
			reason: "The catch-all has its own Lease, too, and the API server finds the Workspaces without a label.",
			id:     CatchAll(),
			want: want{
				Mode:      "catch-all",
				Selector:  "!terraform.crossplane.io/shard",
				LeaseName: "crossplane-leader-election-provider-terraform-catch-all",
				String:    "catch-all",
				Sharded:   true,
			},
		},
		"Range": {
			reason: "A range has a Lease that no shard can have, and the API server finds the Workspaces without a label.",
			id:     ID{index: 1, ranges: 3},
			want: want{
				Value:     "1/3",
				Mode:      "range",
				Selector:  "!terraform.crossplane.io/shard",
				LeaseName: "crossplane-leader-election-provider-terraform.range-1-of-3",
				String:    "range 1/3",
				Sharded:   true,
			},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got := want{
				Name:      tc.id.Name(),
				Value:     tc.id.Value(),
				Mode:      tc.id.Mode(),
				Selector:  tc.id.Selector().String(),
				LeaseName: tc.id.LeaseName(),
				String:    tc.id.String(),
				Sharded:   tc.id.Sharded(),
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestServes(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		id     ID
		labels map[string]string
		want   bool
	}{
		"UnshardedUnlabelled": {reason: "An unsharded instance serves a Workspace without labels.", id: ID{}, want: true},
		"UnshardedLabelled":   {reason: "An unsharded instance serves a Workspace of any shard.", id: ID{}, labels: map[string]string{LabelKey: "shard-0"}, want: true},
		"ShardOwn": {
			reason: "A shard serves the Workspaces with its name, regardless of other labels.",
			id:     ID{name: "shard-0"}, labels: map[string]string{LabelKey: "shard-0", "team": "a"}, want: true,
		},
		"ShardOther":         {reason: "A shard does not serve the Workspaces of another.", id: ID{name: "shard-0"}, labels: map[string]string{LabelKey: "shard-1"}},
		"ShardUnlabelled":    {reason: "A shard does not serve Workspaces without the label.", id: ID{name: "shard-0"}, labels: map[string]string{"team": "a"}},
		"CatchAllUnlabelled": {reason: "The catch-all serves Workspaces without the label.", id: CatchAll(), labels: map[string]string{"team": "a"}, want: true},
		"CatchAllLabelled":   {reason: "The catch-all does not serve the Workspaces of a shard.", id: CatchAll(), labels: map[string]string{LabelKey: "shard-0"}},
		"CatchAllEmptyLabel": {
			reason: "A label without a value is a label: no instance serves the Workspace, and the catch-all reports it.",
			id:     CatchAll(), labels: map[string]string{LabelKey: ""},
		},
		"ShardEmptyLabel": {reason: "An empty label value names no shard.", id: ID{name: "shard-0"}, labels: map[string]string{LabelKey: ""}},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if diff := cmp.Diff(tc.want, tc.id.Serves(tc.labels, "")); diff != "" {
				t.Errorf("%s\n%s.Serves(%v): -want, +got:\n%s", tc.reason, tc.id, tc.labels, diff)
			}

			if diff := cmp.Diff(tc.want, tc.id.Selector().Matches(labels.Set(tc.labels))); diff != "" {
				t.Errorf("%s\n%s.Selector().Matches(%v): -want, +got:\n%s", tc.reason, tc.id, tc.labels, diff)
			}
		})
	}
}

// FuzzParse ensures that every name that Parse accepts is valid in the objects that contain it.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"", "a", "shard-0", "catch-all", "A", "-", "a.b", strings.Repeat("z", 63), strings.Repeat("z", 64)} {
		f.Add(s)
	}

	f.Fuzz(func(t *testing.T, name string) {
		id, err := Parse(name)
		if err != nil {
			return
		}

		if msgs := validation.IsDNS1123Subdomain(id.LeaseName()); len(msgs) > 0 {
			t.Errorf("Parse(%q) leads to an invalid Lease name %q: %v", name, id.LeaseName(), msgs)
		}

		if msgs := validation.IsValidLabelValue(id.Name()); len(msgs) > 0 {
			t.Errorf("Parse(%q) leads to an invalid label value: %v", name, msgs)
		}

		if !id.Serves(map[string]string{LabelKey: name}, "") {
			t.Errorf("Parse(%q) leads to an instance that does not serve its own Workspaces", name)
		}
	})
}
