// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLanes(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		lanes  int
		do     func(f *laneFixture) []bool

		// entered is what do returned, called those that were called, and free how
		// many lanes are in the end.
		entered []bool
		called  []string
		free    int
	}{
		"Free": {
			reason:  "There are as many lanes as there are.",
			lanes:   2,
			do:      func(f *laneFixture) []bool { return []bool{f.begin("a-1"), f.begin("a-2"), f.begin("a-3")} },
			entered: []bool{true, true, false},
		},
		"Again": {
			reason: "Who is in a lane needs no other.",
			lanes:  2,
			do: func(f *laneFixture) []bool {
				return []bool{f.begin("a-1"), f.working["a-1"].enter()}
			},
			entered: []bool{true, true},
			free:    1,
		},
		"Left": {
			reason: "A lane that is left is free.",
			lanes:  1,
			do: func(f *laneFixture) []bool {
				f.begin("a-1")
				f.end("a-1")

				return nil
			},
			free: 1,
		},
		"Looked": {
			reason: "Who only looks takes no lane and leaves none.",
			lanes:  1,
			do: func(f *laneFixture) []bool {
				f.look("a-1")
				f.end("a-1")

				return nil
			},
			free: 1,
		},
		"Called": {
			reason: "Who waits is called when there is a lane, which is its own.",
			lanes:  1,
			do: func(f *laneFixture) []bool {
				f.fill([]string{"a-1"}, "a-2")
				f.end("a-1")

				return []bool{f.begin("a-3"), f.begin("a-2")}
			},
			entered: []bool{false, true},
			called:  []string{"a-2"},
		},
		"TakesTurns": {
			reason: "Tenants take turns, and what is urgent comes first.",
			lanes:  1,
			do: func(f *laneFixture) []bool {
				f.fill([]string{"a-1"}, "a-2", "a-3", "b-1", "c-1!")

				for _, name := range []string{"a-1", "c-1!", "a-2", "b-1"} {
					if f.working[name] == nil {
						f.begin(name)
					}

					f.end(name)
				}

				return nil
			},
			called: []string{"c-1!", "a-2", "b-1", "a-3"},
		},
		"Vanished": {
			reason: "Who does not need the lane any more does not keep it from the next one.",
			lanes:  1,
			do: func(f *laneFixture) []bool {
				f.fill([]string{"a-1"}, "a-2", "a-3")
				f.end("a-1")
				f.look("a-2")
				f.end("a-2")

				return []bool{f.begin("a-3")}
			},
			entered: []bool{true},
			called:  []string{"a-2", "a-3"},
		},
		"Newcomer": {
			reason: "Who comes while a lane is free but others wait gets in line.",
			lanes:  2,
			do: func(f *laneFixture) []bool {
				f.fill([]string{"a-1", "a-2"}, "a-3", "a-4")
				f.end("a-1")
				f.end("a-2")

				return []bool{f.begin("b-1"), f.begin("a-4"), f.begin("a-3")}
			},
			entered: []bool{false, true, true},
			called:  []string{"a-3", "a-4"},
		},
		"AskedAgain": {
			reason: "Who waits and asks again waits once.",
			lanes:  1,
			do: func(f *laneFixture) []bool {
				f.fill([]string{"a-1"}, "a-2", "a-2", "a-3")
				f.end("a-1")
				f.begin("a-2")
				f.end("a-2")

				return nil
			},
			called: []string{"a-2", "a-3"},
		},
		"CalledWhileWorking": {
			reason: "Who is called while it is looked at takes the lane that is kept for it, once.",
			lanes:  1,
			do: func(f *laneFixture) []bool {
				f.fill([]string{"a-1"}, "a-2")
				f.look("a-2")
				f.end("a-1")

				entered := f.working["a-2"].enter()
				f.end("a-2")
				f.look("a-2")
				f.end("a-2")

				return []bool{entered}
			},
			entered: []bool{true},
			called:  []string{"a-2"},
			free:    1,
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			f := newLaneFixture(tc.lanes)

			if diff := cmp.Diff(tc.entered, tc.do(f)); diff != "" {
				t.Errorf("\n%s\nenter(...): -want, +got:\n%s", tc.reason, diff)
			}

			if diff := cmp.Diff(tc.called, f.called); diff != "" {
				t.Errorf("\n%s\ncalled: -want, +got:\n%s", tc.reason, diff)
			}

			if diff := cmp.Diff(tc.free, f.lanes.free); diff != "" {
				t.Errorf("\n%s\nfree lanes: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
