// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"
)

func TestMetrics(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		do     func(m *Metrics)
		// want are lines without the prefix that all names have.
		want []string
	}{
		"Shard": {
			reason: "The shard and the mode are labels of a gauge that is 1.",
			do:     func(m *Metrics) { m.Shard("shard-0", "shard") },
			want:   []string{`shard_info{mode="shard",shard="shard-0"} 1`},
		},
		"Start": {
			reason: "These exist before their first event, so that alerts on their increase work.",
			do:     func(*Metrics) {},
			want: []string{
				`gc_failures_total 0`, `workdirs_deleted_total 0`, `orphan_locks_removed_total 0`, `assigner_moves_total 0`,
				`drifts_total{action="corrected"} 0`, `drifts_total{action="reported"} 0`,
				`handoff_duration_seconds_count{previous="dead"} 0`, `handoff_duration_seconds_count{previous="released"} 0`,
			},
		},
		"Counters": {
			reason: "Each event counts.",
			do: func(m *Metrics) {
				for range 2 {
					m.WorkdirDeleted()
					m.GCFailed()
					m.OrphanLockRemoved()
					m.Moved()
					m.Drifted("corrected")
				}
			},
			want: []string{
				`workdirs_deleted_total 2`, `gc_failures_total 2`, `orphan_locks_removed_total 2`, `assigner_moves_total 2`,
				`drifts_total{action="corrected"} 2`, `drifts_total{action="reported"} 0`,
			},
		},
		"Gauges": {
			reason: "The last number counts.",
			do: func(m *Metrics) {
				for n := range 3 {
					m.StatesUnsaved(n)
					m.ClaimsWaiting(n)
					m.Members(n)
					m.Unserved("no-shard", n)
				}
			},
			want: []string{`unsaved_states 2`, `claims_waiting 2`, `assigner_shards 2`, `workspaces_unserved{reason="no-shard"} 2`},
		},
		"Applies": {
			reason: "Each controller has its own slots.",
			do: func(m *Metrics) {
				m.ApplySlots("a", 2)
				m.Applies("a", 1, 9)
				m.Applies("a", 2, 3)
				m.ApplySlots("b", 1)
			},
			want: []string{
				`apply_slots{controller="a"} 2`, `applies{controller="a",state="running"} 2`, `applies{controller="a",state="waiting"} 3`,
				`apply_slots{controller="b"} 1`, `applies{controller="b",state="running"} 0`, `applies{controller="b",state="waiting"} 0`,
				`apply_slot_wait_seconds_count{controller="b"} 0`, `change_to_ready_seconds_count{controller="b"} 0`,
			},
		},
		"Waits": {
			reason: "Durations are in seconds.",
			do: func(m *Metrics) {
				m.ApplySlotWaited("c", 90*time.Second)
				m.BecameReady("c", 90*time.Second)
				m.HandedOff("dead", 90*time.Second)
			},
			want: []string{
				`apply_slot_wait_seconds_bucket{controller="c",le="64"} 0`, `apply_slot_wait_seconds_bucket{controller="c",le="128"} 1`, `apply_slot_wait_seconds_sum{controller="c"} 90`,
				`change_to_ready_seconds_bucket{controller="c",le="64"} 0`, `change_to_ready_seconds_bucket{controller="c",le="128"} 1`, `change_to_ready_seconds_sum{controller="c"} 90`,
				`handoff_duration_seconds_bucket{previous="dead",le="64"} 0`, `handoff_duration_seconds_bucket{previous="dead",le="128"} 1`, `handoff_duration_seconds_sum{previous="dead"} 90`,
			},
		},
		"CLIRuns": {
			reason: "Runs are counted by subcommand and result, including wrapped errors.",
			do: func(m *Metrics) {
				m.CLIRun("plan", 300*time.Millisecond, nil)
				m.CLIRun("plan", time.Hour, nil)
				m.CLIRun("apply", time.Second, errors.New("boom"))
				m.CLIRun("apply", time.Second, fmt.Errorf("apply: %w", context.Canceled))
				m.CLIRun("apply", time.Second, fmt.Errorf("apply: %w", context.DeadlineExceeded))
			},
			want: []string{
				`cli_runs_total{command="apply",result="canceled"} 2`, `cli_runs_total{command="apply",result="error"} 1`, `cli_runs_total{command="plan",result="success"} 2`,
				`cli_run_duration_seconds_bucket{command="plan",result="success",le="0.2"} 0`, `cli_run_duration_seconds_bucket{command="plan",result="success",le="0.4"} 1`,
				`cli_run_duration_seconds_bucket{command="plan",result="success",le="1638.4"} 1`, `cli_run_duration_seconds_bucket{command="plan",result="success",le="+Inf"} 2`,
				`cli_run_duration_seconds_sum{command="plan",result="success"} 3600.3`,
			},
		},
		"Cache": {
			reason: "A cache that was not used has both counters, so that a ratio of them has a value after the first request.",
			do: func(m *Metrics) {
				m.Cache("init")

				module := m.Cache("module")
				module(true)
				module(true)
				module(false)
			},
			want: []string{
				`cache_requests_total{cache="init",result="hit"} 0`, `cache_requests_total{cache="init",result="miss"} 0`,
				`cache_requests_total{cache="module",result="hit"} 2`, `cache_requests_total{cache="module",result="miss"} 1`,
			},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r := prometheus.NewPedanticRegistry()
			tc.do(New(r))
			tc.do(New(nil)) // It can be used like any other.

			families, err := r.Gather()
			if err != nil {
				t.Fatal(err)
			}

			text := &strings.Builder{}

			for _, f := range families {
				if _, err := expfmt.MetricFamilyToText(text, f); err != nil {
					t.Fatal(err)
				}
			}

			for _, line := range tc.want {
				if !strings.Contains(text.String(), "\nprovider_terraform_"+line+"\n") {
					t.Errorf("%s\nwant %s in:\n%s", tc.reason, line, text)
				}
			}
		})
	}
}
