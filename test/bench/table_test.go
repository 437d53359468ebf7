// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// newReport returns a report of everything, in which every target is just reached.
func newReport() *report {
	return &report{
		Cost: []cost{
			{Module: "m", Phase: creation, Workspaces: 10, Times: 1, Instance: spent{Wall: 20, Runs: 25, Own: 2.5, Children: 10}, Floor: spent{Wall: 16, Runs: 30, Children: 10}, P50: 5, P99: 19, Requests: 90, MaxRSS: 50e6},
			{Module: "m", Phase: deletion, Workspaces: 10, Times: 1, Instance: spent{Wall: 18, Runs: 20, Own: 2, Children: 16}, Floor: spent{Wall: 10, Runs: 10, Children: 10}},
			{Module: "m", Phase: restart, Workspaces: 10, Times: 1, Instance: spent{Own: 3, Children: 3}},
			{Module: "m", Phase: polling, Workspaces: 10, Times: 2, Instance: spent{Runs: 20, Own: 1.5, Children: 10}, Floor: spent{Runs: 20, Children: 10}},
		},
		Existing: []cost{{Module: "m", Phase: creation, Workspaces: 5, Times: 1, Instance: spent{Wall: 30, Runs: 65, Own: 1, Children: 11.5}}},
		Bursts: []burst{
			{Module: "m", Rate: 2, Workspaces: 20, Ready: []float64{1, 4, 6, 8, 10}, P99: 9, Floor: 8},
			{Module: "slow", Rate: 2, Workspaces: 24, Ready: []float64{5, 25, 50, 75, 90}, P99: 89, Floor: 72, PerMinuteTarget: 16},
		},
		Interruptions: []interruption{
			{What: "killed", Seconds: 5, Target: 5},
			{What: "overdue", Seconds: 3, Floor: 2, Target: 1.5},
		},
		Scaling: []scaling{
			{Shards: 1, PerShard: 3, Takes: 5, Wall: 19},
			{Shards: 4, PerShard: 3, Takes: 5, Wall: 20},
		},
		Memory: []memory{
			{Workspaces: 100, Shards: 1, Before: 10e6, Heap: 30e6, RSS: 60e6, MaxRSS: 150e6, Goroutines: 90},
			{Workspaces: 100, Shards: 2, Before: 12e6, Heap: 23e6, RSS: 55e6, Goroutines: 95},
		},
	}
}

func TestResults(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		change func(r *report)
		want   []string
	}{
		"Reached": {
			reason: "A ratio that is equal to its target reaches it.",
			change: func(*report) {},
			want: []string{
				"m, creation: CPU each: 1.250, at most 1.250: reached",
				"m, creation: API requests each: , at most 9: reached",
				"m, deletion: CPU each: 1.800, at most 1.800: reached",
				"m, deletion: runs each: , at most 2: reached",
				"m, deletion: time for 10 Workspaces: 1.800, at most 1.800: reached",
				"m, poll: CPU each poll: 1.150, at most 1.150: reached",
				"m, rate 2: time for 20 Workspaces: 1.250, at most 1.250: reached",
				"m, rate 2: p50 of time to Ready: 0.600, at most 0.600: reached",
				"slow, rate 2: time for 24 Workspaces: 1.250, at most 1.250: reached",
				"slow, rate 2: p50 of time to Ready: 0.556, at most 0.600: reached",
				"slow, rate 2: Workspaces per minute: , at least 16: reached",
				"killed: , at most 5.000 s: reached",
				"overdue: 1.500, at most 1.500: reached",
				"4 shards, slow applies: Workspaces per minute: 3.800, at least 3.800: reached",
				"100 Workspaces, 1 instance: max RSS, without settings: , at most 150.0 MB: reached",
			},
		},
		"Missed": {
			reason: "A target is missed by a little more, or less, than it is.",
			change: func(r *report) {
				r.Cost[0].Instance.Own += 0.1
				r.Cost[0].Requests++
				r.Cost[1].Instance = spent{Wall: 18.1, Runs: 21, Own: 2, Children: 16.1}
				r.Cost[3].Instance.Children += 0.1
				r.Bursts[0].Ready[2] += 2
				r.Bursts[0].Ready[4]++
				r.Bursts[1].Ready[4] += 0.1
				r.Interruptions[0].Seconds += 0.1
				r.Interruptions[1].Seconds += 0.1
				r.Scaling[1].Wall += 0.1
				r.Memory[0].MaxRSS += 1e5
			},
			want: []string{
				"m, creation: CPU each: 1.260, at most 1.250: missed",
				"m, creation: API requests each: , at most 9: missed",
				"m, deletion: CPU each: 1.810, at most 1.800: missed",
				"m, deletion: runs each: , at most 2: missed",
				"m, deletion: time for 10 Workspaces: 1.810, at most 1.800: missed",
				"m, poll: CPU each poll: 1.160, at most 1.150: missed",
				"m, rate 2: time for 20 Workspaces: 1.375, at most 1.250: missed",
				"m, rate 2: p50 of time to Ready: 0.727, at most 0.600: missed",
				"slow, rate 2: time for 24 Workspaces: 1.251, at most 1.250: missed",
				"slow, rate 2: p50 of time to Ready: 0.555, at most 0.600: reached",
				"slow, rate 2: Workspaces per minute: , at least 16: missed",
				"killed: , at most 5.000 s: missed",
				"overdue: 1.550, at most 1.500: missed",
				"4 shards, slow applies: Workspaces per minute: 3.781, at least 3.800: missed",
				"100 Workspaces, 1 instance: max RSS, without settings: , at most 150.0 MB: missed",
			},
		},
		"Nothing": {
			reason: "A part that was not measured has no result.",
			change: func(r *report) { *r = report{} },
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r := newReport()
			tc.change(r)

			var got []string

			for _, row := range r.rows()[1:] {
				if row[5] != "" {
					got = append(got, row[0]+": "+row[3]+", "+row[4]+": "+row[5])
				}
			}

			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nresults: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestExistingRows(t *testing.T) {
	t.Parallel()

	r := newReport()
	want := []row{
		{"existing provider, m, creation: CPU each", "2.500 s", "1.250 s this provider", "0.500"},
		{"existing provider, m, creation: runs each", "13", "2.50 this provider"},
		{"existing provider, m, creation: time for 5 Workspaces", "30.0 s"},
	}

	if diff := cmp.Diff(want, r.Existing[0].existingRows(r.of("m", creation))); diff != "" {
		t.Errorf("existingRows(...): -want, +got:\n%s", diff)
	}
}

func TestReplaceTable(t *testing.T) {
	t.Parallel()

	got, err := replaceTable("# Page\n\n"+begin+"old\n"+end+"\nMore.\n", "new\n")
	if err != nil {
		t.Fatal(err)
	}

	if diff := cmp.Diff("# Page\n\n"+begin+"\nnew\n\n"+end+"\nMore.\n", got); diff != "" {
		t.Errorf("replaceTable(...): -want, +got:\n%s", diff)
	}

	for _, text := range []string{"# Page\n", begin, end + begin} {
		if _, err := replaceTable(text, "new\n"); err == nil {
			t.Errorf("replaceTable(%q): want an error", text)
		}
	}
}
