// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestTable(t *testing.T) {
	t.Parallel()

	rows := table{
		{name: "database", shard: "shard-0", servedBy: "shard-1", synced: "True", ready: "False", outputs: "host=orders.db.example.org", age: 90 * time.Second},
		{name: "team-a/alarm", age: 5 * time.Second},
	}

	cases := map[string]struct {
		reason string
		width  int
		want   []string
	}{
		"Wide": {
			reason: "Columns are as wide as their widest cells.",
			width:  200,
			want: []string{
				"NAME          SHARD    SERVED BY  SYNCED  READY  OUTPUTS                     AGE",
				"database      shard-0  shard-1    True    False  host=orders.db.example.org  90s",
				"team-a/alarm  -        none       -       -      -                           5s",
			},
		},
		"Narrow": {
			reason: "The outputs are shortened first.",
			width:  66,
			want: []string{
				"NAME          SHARD    SERVED BY  SYNCED  READY  OUTPUTS       AGE",
				"database      shard-0  shard-1    True    False  host=orders…  90s",
				"team-a/alarm  -        none       -       -      -             5s",
			},
		},
		"TooNarrow": {
			reason: "Columns that do not fit are left out.",
			width:  50,
			want: []string{
				"NAME          SHARD    SERVED BY  SYNCED  READY",
				"database      shard-0  shard-1    True    False",
				"team-a/alarm  -        none       -       -",
			},
		},
	}

	plain := func(_, text string) string { return text }

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if diff := cmp.Diff(tc.want, rows.lines(tc.width, plain)); diff != "" {
				t.Errorf("%s\nlines(%d): -want, +got:\n%s", tc.reason, tc.width, diff)
			}
		})
	}
}

func TestEqual(t *testing.T) {
	t.Parallel()

	a := table{{name: "a", age: time.Second}}

	if !a.equal(table{{name: "a", age: time.Hour}}) {
		t.Error("Tables that differ in the age alone are not equal.")
	}

	if a.equal(table{{name: "a", servedBy: "shard-0", age: time.Second}}) {
		t.Error("Tables that differ in the server are equal.")
	}
}

func TestBars(t *testing.T) {
	t.Parallel()

	rows := table{{name: "a", servedBy: "pod-10"}, {name: "b", servedBy: "pod-9"}, {name: "c", servedBy: "pod-10"}, {name: "d"}}
	want := []string{
		"none    █ 1",
		"pod-10  ██ 2",
		"pod-9   █ 1",
	}

	if diff := cmp.Diff(want, rows.bars(80, func(_, text string) string { return text })); diff != "" {
		t.Errorf("bars(...): -want, +got:\n%s", diff)
	}
}
