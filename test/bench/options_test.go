// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestParseOptions(t *testing.T) {
	t.Parallel()

	full, err := parseOptions(nil)
	if err != nil {
		t.Fatal(err)
	}

	quick, err := parseOptions([]string{"-quick"})
	if err != nil {
		t.Fatal(err)
	}

	type want struct {
		options *options
		err     error
	}

	// changed returns other options than the supplied ones.
	changed := func(o *options, fn func(*options)) *options {
		c := *o
		fn(&c)

		return &c
	}

	cases := map[string]struct {
		reason string
		args   []string
		want   want
	}{
		"Lists": {
			reason: "A list takes the place of the default.",
			args:   []string{"-parts", "scaling,memory", "-shards", "1,8", "-sizes", "7"},
			want: want{options: changed(full, func(o *options) {
				o.parts, o.shards, o.sizes = list[string]{"scaling", "memory"}, list[int]{1, 8}, list[int]{7}
			})},
		},
		"QuickButLarge": {
			reason: "A size that the user has set is not made smaller.",
			args:   []string{"-n", "500", "-quick", "-takes", "1m"},
			want: want{options: changed(quick, func(o *options) {
				o.workspaces, o.takes = 500, time.Minute
			})},
		},
		"NoSuchPart":   {reason: "A part that is not there is an error.", args: []string{"-parts", "cost,speed"}, want: want{err: cmpopts.AnyError}},
		"NoWorkspaces": {reason: "Nothing cannot be measured.", args: []string{"-n", "0"}, want: want{err: cmpopts.AnyError}},
		"NoShards":     {reason: "There is at least one shard.", args: []string{"-shards", "1,0"}, want: want{err: cmpopts.AnyError}},
		"NoPolls":      {reason: "Polls have to come at some time.", args: []string{"-poll-rate", "0"}, want: want{err: cmpopts.AnyError}},
		"DrawNothing":  {reason: "Drawing needs a directory with a report.", args: []string{"-draw"}, want: want{err: cmpopts.AnyError}},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			o, err := parseOptions(tc.args)
			if diff := cmp.Diff(tc.want.err, err, cmpopts.EquateErrors()); diff != "" {
				t.Fatalf("\n%s\nparseOptions(%q): -want error, +got error:\n%s", tc.reason, tc.args, diff)
			}

			if err != nil {
				return
			}

			if diff := cmp.Diff(tc.want.options, o, cmp.AllowUnexported(options{})); diff != "" {
				t.Errorf("\n%s\nparseOptions(%q): -want, +got:\n%s", tc.reason, tc.args, diff)
			}
		})
	}
}
