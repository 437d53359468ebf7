// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package statelock

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
)

func TestFailedRuns(t *testing.T) {
	t.Parallel()

	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	end := start.Add(time.Minute)

	cases := map[string]struct {
		reason string
		do     func(f *FailedRuns)
		at     time.Time
		want   bool
	}{
		"None":    {reason: "Nothing failed.", do: func(*FailedRuns) {}, at: start},
		"Start":   {reason: "The start of the run counts.", do: func(f *FailedRuns) { f.Record("a", Run{Who: "root@host-0", Start: start, End: end}) }, at: start, want: true},
		"End":     {reason: "The end of the run counts.", do: func(f *FailedRuns) { f.Record("a", Run{Who: "root@host-0", Start: start, End: end}) }, at: end, want: true},
		"Before":  {reason: "The run had not begun.", do: func(f *FailedRuns) { f.Record("a", Run{Who: "root@host-0", Start: start, End: end}) }, at: start.Add(-1)},
		"After":   {reason: "The run was over.", do: func(f *FailedRuns) { f.Record("a", Run{Who: "root@host-0", Start: start, End: end}) }, at: end.Add(1)},
		"Another": {reason: "The run was on another Workspace.", do: func(f *FailedRuns) { f.Record("b", Run{Who: "root@host-0", Start: start, End: end}) }, at: start},
		"Earlier": {
			reason: "A later failure does not replace an earlier one.",
			do: func(f *FailedRuns) {
				f.Record("a", Run{Who: "root@host-0", Start: start, End: end})
				f.Record("a", Run{Who: "root@host-0", Start: end.Add(1), End: end.Add(2)})
			},
			at:   start,
			want: true,
		},
		"FirstOfMany": {
			reason: "The backend became unavailable during the first run, and no other run got a lock.",
			do: func(f *FailedRuns) {
				f.Record("a", Run{Who: "root@host-0", Start: start, End: end})

				for n := range time.Duration(100) {
					f.Record("a", Run{Who: "root@host-0", Start: end.Add(1 + n), End: end.Add(1 + n)})
				}
			},
			at:   start,
			want: true,
		},
		"LastOfMany": {
			reason: "The last run is kept, too.",
			do: func(f *FailedRuns) {
				for n := range time.Duration(100) {
					f.Record("a", Run{Who: "root@host-0", Start: start.Add(n - 101), End: start.Add(n - 101)})
				}

				f.Record("a", Run{Who: "root@host-0", Start: start, End: end})
			},
			at:   end,
			want: true,
		},
		"Forgotten": {
			reason: "No lock was left behind.",
			do: func(f *FailedRuns) {
				f.Record("a", Run{Who: "root@host-0", Start: start, End: end})
				f.Forget("a")
			},
			at: start,
		},
		"OthersForgotten": {
			reason: "The other runs were on another Workspace.",
			do: func(f *FailedRuns) {
				f.Record("a", Run{Who: "root@host-0", Start: start, End: end})
				f.Forget("b")
			},
			at:   start,
			want: true,
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			f := NewFailedRuns()
			tc.do(f)

			d := Detector{FailedRuns: f, Predecessors: func(client.Object) Predecessors { return Predecessors{} }}
			l := terraform.Lock{Who: "root@host-0", Created: tc.at.String()}

			if why, _ := d.WhyKept(&metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{UID: "a"}}, l, end); (why == "") != tc.want {
				t.Errorf("\n%s\nWhyKept(...): want a lock that was left: %t, got %q", tc.reason, tc.want, why)
			}
		})
	}
}
