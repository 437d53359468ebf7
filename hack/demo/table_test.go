// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// newRow returns the row of a Workspace.
func newRow(name, shard, servedBy, synced, ready, outputs, age string) []cell {
	return []cell{{text: name}, {text: shard}, {text: servedBy}, {text: synced}, {text: ready}, {text: outputs}, {text: age}}
}

func TestTable(t *testing.T) {
	t.Parallel()

	rows := table{
		newRow("database", "shard-0", "shard-1", "True", "False", "host=orders.db.example.org", "90s"),
		newRow("team-a/alarm", "-", "none", "-", "-", "-", "5s"),
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

	a := table{newRow("a", "-", "none", "-", "-", "-", "1s")}

	if !a.equal(table{newRow("a", "-", "none", "-", "-", "-", "60m")}) {
		t.Error("Tables that differ in the age alone are not equal.")
	}

	if a.equal(table{newRow("a", "-", "shard-0", "-", "-", "-", "1s")}) {
		t.Error("Tables that differ in the server are equal.")
	}
}

func TestBars(t *testing.T) {
	t.Parallel()

	var rows table
	for _, server := range []string{"pod-10", "pod-9", "pod-10", "none"} {
		rows = append(rows, newRow("a", "-", server, "-", "-", "-", "1s"))
	}

	want := []string{
		"none    █ 1",
		"pod-10  ██ 2",
		"pod-9   █ 1",
	}

	if diff := cmp.Diff(want, rows.bars(80, func(_, text string) string { return text })); diff != "" {
		t.Errorf("bars(...): -want, +got:\n%s", diff)
	}
}
