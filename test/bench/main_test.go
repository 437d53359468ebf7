// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestParseOptions(t *testing.T) {
	t.Parallel()

	large := quickSizes()
	large.workspaces = 500

	cases := map[string]struct {
		reason string
		args   []string
		want   *options
		err    error
	}{
		"Default": {
			reason: "Everything is measured.",
			want:   &options{parts: parts(), sizes: fullSizes()},
		},
		"Parts": {
			reason: "A list takes the place of the default.",
			args:   []string{"-parts", "scaling,memory", "-out", "docs"},
			want:   &options{out: "docs", parts: []string{"scaling", "memory"}, sizes: fullSizes()},
		},
		"QuickButLarge": {
			reason: "A size that the user has set is not made smaller.",
			args:   []string{"-n", "500", "-quick"},
			want:   &options{parts: parts(), sizes: large},
		},
		"NoSuchPart":   {reason: "A part that is not there is an error.", args: []string{"-parts", "cost,speed"}, err: cmpopts.AnyError},
		"NoWorkspaces": {reason: "Nothing cannot be measured.", args: []string{"-n", "0"}, err: cmpopts.AnyError},
		"DrawNothing":  {reason: "Drawing needs a directory with a report.", args: []string{"-draw"}, err: cmpopts.AnyError},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			o, err := parseOptions(tc.args)
			if diff := cmp.Diff(tc.err, err, cmpopts.EquateErrors()); diff != "" {
				t.Fatalf("\n%s\nparseOptions(%q): -want error, +got error:\n%s", tc.reason, tc.args, diff)
			}

			if diff := cmp.Diff(tc.want, o, cmp.AllowUnexported(options{}, sizes{})); diff != "" {
				t.Errorf("\n%s\nparseOptions(%q): -want, +got:\n%s", tc.reason, tc.args, diff)
			}
		})
	}
}
