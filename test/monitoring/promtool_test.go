// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package monitoring

import (
	"testing"
)

// TestEvaluate evaluates queries on two scrapes of one instance.
func TestEvaluate(t *testing.T) {
	t.Parallel()

	tool, db := promtool(t), &Database{}

	first, err := Parse("# TYPE runs_total counter\nruns_total{result=\"success\"} 1\n# TYPE depth gauge\ndepth 1e+20\n" +
		"# TYPE wait histogram\nwait_bucket{le=\"1\"} 1\nwait_bucket{le=\"+Inf\"} 1\nwait_sum 0.5\nwait_count 1\n")
	if err != nil {
		t.Fatal(err)
	}

	second, err := Parse("# TYPE runs_total counter\nruns_total{result=\"success\"} 3\nruns_total{result=\"error\"} 1\n" +
		"# TYPE wait histogram\nwait_bucket{le=\"1\"} 1\nwait_bucket{le=\"+Inf\"} 1\nwait_sum 0.5\nwait_count 1\n")
	if err != nil {
		t.Fatal(err)
	}

	db.Add("one:8080", first, second)

	cases := map[string]struct {
		reason string
		query  string
		ok     bool
	}{
		"Rate": {
			reason: "A counter that is in both scrapes has a rate.",
			query:  `sum by (instance) (rate(runs_total[5m])) > 0`,
			ok:     true,
		},
		"New": {
			reason: "A series that is only in the second scrape has a value.",
			query:  `runs_total{result="error", job="provider-terraform"}`,
			ok:     true,
		},
		"Up": {
			reason: "Prometheus adds this metric.",
			query:  `up{instance="one:8080"} == 1`,
			ok:     true,
		},
		"Missing": {
			reason: "There is no such metric.",
			query:  `stops_total`,
		},
		"Label": {
			reason: "There is no such label.",
			query:  `runs_total{shard="one"}`,
		},
		"NaN": {
			reason: "No observation was made between the scrapes.",
			query:  `histogram_quantile(0.9, sum by (le) (rate(wait_bucket[5m])))`,
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if err := db.Evaluate(t.Context(), tool, []string{tc.query}); (err == nil) != tc.ok {
				t.Errorf("\n%s\nEvaluate(%s): got %v", tc.reason, tc.query, err)
			}
		})
	}
}
