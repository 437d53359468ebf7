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
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/prometheus/common/expfmt"
)

func TestMetrics(t *testing.T) {
	t.Parallel()

	errBoom := errors.New("boom")

	cases := map[string]struct {
		reason string
		do     func(m *Metrics)
		name   string
		want   string
	}{
		"ShardInfo": {
			reason: "The shard and the mode are labels of a gauge that is 1.",
			do:     func(m *Metrics) { m.Shard("shard-0", "shard") },
			name:   "provider_terraform_shard_info",
			want: `
# HELP provider_terraform_shard_info Always 1. The labels tell which shard this instance serves.
# TYPE provider_terraform_shard_info gauge
provider_terraform_shard_info{mode="shard",shard="shard-0"} 1
`,
		},
		"WorkdirsDeleted": {
			reason: "Each deleted directory counts.",
			do:     func(m *Metrics) { m.WorkdirDeleted(); m.WorkdirDeleted() },
			name:   "provider_terraform_workdirs_deleted_total",
			want: `
# HELP provider_terraform_workdirs_deleted_total Working directories that were deleted because their Workspace is gone.
# TYPE provider_terraform_workdirs_deleted_total counter
provider_terraform_workdirs_deleted_total 2
`,
		},
		"GCFailures": {
			reason: "The counter exists before the first failure, so that alerts on its increase work.",
			do:     func(_ *Metrics) {},
			name:   "provider_terraform_gc_failures_total",
			want: `
# HELP provider_terraform_gc_failures_total Rounds of the garbage collector of working directories that failed.
# TYPE provider_terraform_gc_failures_total counter
provider_terraform_gc_failures_total 0
`,
		},
		"GCFailed": {
			reason: "A failed round counts.",
			do:     func(m *Metrics) { m.GCFailed() },
			name:   "provider_terraform_gc_failures_total",
			want: `
# HELP provider_terraform_gc_failures_total Rounds of the garbage collector of working directories that failed.
# TYPE provider_terraform_gc_failures_total counter
provider_terraform_gc_failures_total 1
`,
		},
		"Applies": {
			reason: "The last numbers count, for each controller.",
			do: func(m *Metrics) {
				m.ApplySlots("a", 2)
				m.Applies("a", 1, 9)
				m.Applies("a", 2, 3)
				m.ApplySlots("b", 1)
			},
			name: "provider_terraform_applies",
			want: `
# HELP provider_terraform_applies Workspaces that this instance creates, changes or deletes now (running), and those that wait until it can (waiting).
# TYPE provider_terraform_applies gauge
provider_terraform_applies{controller="a",state="running"} 2
provider_terraform_applies{controller="a",state="waiting"} 3
provider_terraform_applies{controller="b",state="running"} 0
provider_terraform_applies{controller="b",state="waiting"} 0
`,
		},
		"ApplySlots": {
			reason: "The number of slots does not change.",
			do:     func(m *Metrics) { m.ApplySlots("a", 2) },
			name:   "provider_terraform_apply_slots",
			want: `
# HELP provider_terraform_apply_slots Workspaces that this instance creates, changes or deletes at a time, at most.
# TYPE provider_terraform_apply_slots gauge
provider_terraform_apply_slots{controller="a"} 2
`,
		},
		"StatesUnsaved": {
			reason: "Only the current states count.",
			do:     func(m *Metrics) { m.StatesUnsaved(3); m.StatesUnsaved(2) },
			name:   "provider_terraform_unsaved_states",
			want: `
# HELP provider_terraform_unsaved_states Workspaces that are gone and have left a state that is nowhere else, below .unsaved-states.
# TYPE provider_terraform_unsaved_states gauge
provider_terraform_unsaved_states 2
`,
		},
		"CLIRuns": {
			reason: "Runs are counted by subcommand and result, including wrapped errors.",
			do: func(m *Metrics) {
				m.CLIRun("plan", time.Second, nil)
				m.CLIRun("plan", time.Second, nil)
				m.CLIRun("apply", time.Second, errBoom)
				m.CLIRun("apply", time.Second, fmt.Errorf("apply: %w", context.Canceled))
				m.CLIRun("apply", time.Second, fmt.Errorf("apply: %w", context.DeadlineExceeded))
			},
			name: "provider_terraform_cli_runs_total",
			want: `
# HELP provider_terraform_cli_runs_total Finished runs of the terraform or tofu program.
# TYPE provider_terraform_cli_runs_total counter
provider_terraform_cli_runs_total{command="apply",result="canceled"} 2
provider_terraform_cli_runs_total{command="apply",result="error"} 1
provider_terraform_cli_runs_total{command="plan",result="success"} 2
`,
		},
		"CLIRunDuration": {
			reason: "Durations are in seconds.",
			do: func(m *Metrics) {
				m.CLIRun("plan", 300*time.Millisecond, nil)
				m.CLIRun("plan", time.Hour, nil)
			},
			name: "provider_terraform_cli_run_duration_seconds",
			want: `
# HELP provider_terraform_cli_run_duration_seconds How long runs of the terraform or tofu program took.
# TYPE provider_terraform_cli_run_duration_seconds histogram
provider_terraform_cli_run_duration_seconds_bucket{command="plan",result="success",le="0.1"} 0
provider_terraform_cli_run_duration_seconds_bucket{command="plan",result="success",le="0.2"} 0
provider_terraform_cli_run_duration_seconds_bucket{command="plan",result="success",le="0.4"} 1
provider_terraform_cli_run_duration_seconds_bucket{command="plan",result="success",le="0.8"} 1
provider_terraform_cli_run_duration_seconds_bucket{command="plan",result="success",le="1.6"} 1
provider_terraform_cli_run_duration_seconds_bucket{command="plan",result="success",le="3.2"} 1
provider_terraform_cli_run_duration_seconds_bucket{command="plan",result="success",le="6.4"} 1
provider_terraform_cli_run_duration_seconds_bucket{command="plan",result="success",le="12.8"} 1
provider_terraform_cli_run_duration_seconds_bucket{command="plan",result="success",le="25.6"} 1
provider_terraform_cli_run_duration_seconds_bucket{command="plan",result="success",le="51.2"} 1
provider_terraform_cli_run_duration_seconds_bucket{command="plan",result="success",le="102.4"} 1
provider_terraform_cli_run_duration_seconds_bucket{command="plan",result="success",le="204.8"} 1
provider_terraform_cli_run_duration_seconds_bucket{command="plan",result="success",le="409.6"} 1
provider_terraform_cli_run_duration_seconds_bucket{command="plan",result="success",le="819.2"} 1
provider_terraform_cli_run_duration_seconds_bucket{command="plan",result="success",le="1638.4"} 1
provider_terraform_cli_run_duration_seconds_bucket{command="plan",result="success",le="+Inf"} 2
provider_terraform_cli_run_duration_seconds_sum{command="plan",result="success"} 3600.3
provider_terraform_cli_run_duration_seconds_count{command="plan",result="success"} 2
`,
		},
		"OrphanLocks": {
			reason: "Each removed lock counts.",
			do:     func(m *Metrics) { m.OrphanLockRemoved(); m.OrphanLockRemoved() },
			name:   "provider_terraform_orphan_locks_removed_total",
			want: `
# HELP provider_terraform_orphan_locks_removed_total Locks on states that a dead process had left, and that this instance has removed.
# TYPE provider_terraform_orphan_locks_removed_total counter
provider_terraform_orphan_locks_removed_total 2
`,
		},
		"Drifts": {
			reason: "Drifts are counted by what was done about them. The counter exists before the first one.",
			do:     func(m *Metrics) { m.Drifted("corrected"); m.Drifted("corrected") },
			name:   "provider_terraform_drifts_total",
			want: `
# HELP provider_terraform_drifts_total Times that a Workspace was found different from its module, and was corrected, or reported by its condition Drifted.
# TYPE provider_terraform_drifts_total counter
provider_terraform_drifts_total{action="corrected"} 2
provider_terraform_drifts_total{action="reported"} 0
`,
		},
		"ClaimsWaiting": {
			reason: "The last number counts.",
			do:     func(m *Metrics) { m.ClaimsWaiting(3); m.ClaimsWaiting(2) },
			name:   "provider_terraform_claims_waiting",
			want: `
# HELP provider_terraform_claims_waiting Workspaces that this instance is to serve, and that another instance has not released.
# TYPE provider_terraform_claims_waiting gauge
provider_terraform_claims_waiting 2
`,
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
			name: "provider_terraform_cache_requests_total",
			want: `
# HELP provider_terraform_cache_requests_total Results of init, modules and provider packages that were needed, and were in a cache (hit) or not (miss).
# TYPE provider_terraform_cache_requests_total counter
provider_terraform_cache_requests_total{cache="init",result="hit"} 0
provider_terraform_cache_requests_total{cache="init",result="miss"} 0
provider_terraform_cache_requests_total{cache="module",result="hit"} 2
provider_terraform_cache_requests_total{cache="module",result="miss"} 1
`,
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r := prometheus.NewPedanticRegistry()

			m, err := New(r)
			if err != nil {
				t.Fatal(err)
			}

			tc.do(m)

			if err := testutil.GatherAndCompare(r, strings.NewReader(tc.want), tc.name); err != nil {
				t.Errorf("%s\n%v", tc.reason, err)
			}
		})
	}
}

// TestWaits ensures that the durations that people wait for are in seconds, each with its labels.
func TestWaits(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		do     func(m *Metrics)
		name   string
		labels string
	}{
		"ApplySlotWait": {
			reason: "Each controller has its own slots.",
			do:     func(m *Metrics) { m.ApplySlotWaited("c", 90*time.Second) },
			name:   "provider_terraform_apply_slot_wait_seconds",
			labels: `controller="c"`,
		},
		"ChangeToReady": {
			reason: "Each controller has its own workers.",
			do:     func(m *Metrics) { m.BecameReady("c", 90*time.Second) },
			name:   "provider_terraform_change_to_ready_seconds",
			labels: `controller="c"`,
		},
		"HandOff": {
			reason: "The death of an instance takes longer than a release.",
			do:     func(m *Metrics) { m.HandedOff("dead", 90*time.Second) },
			name:   "provider_terraform_handoff_duration_seconds",
			labels: `previous="dead"`,
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r := prometheus.NewPedanticRegistry()

			m, err := New(r)
			if err != nil {
				t.Fatal(err)
			}

			tc.do(m)

			text, err := testutil.CollectAndFormat(r, expfmt.TypeTextPlain, tc.name)
			if err != nil {
				t.Fatal(err)
			}

			for _, line := range []string{
				tc.name + `_bucket{` + tc.labels + `,le="64"} 0`,
				tc.name + `_bucket{` + tc.labels + `,le="128"} 1`,
				tc.name + `_sum{` + tc.labels + `} 90`,
			} {
				if !strings.Contains(string(text), "\n"+line+"\n") {
					t.Errorf("%s\nwant %s in:\n%s", tc.reason, line, text)
				}
			}
		})
	}
}

// TestNewTwice ensures that a second registration, which is a mistake in the wiring, is an error
// and no panic.
func TestNewTwice(t *testing.T) {
	t.Parallel()

	r := prometheus.NewRegistry()
	if _, err := New(r); err != nil {
		t.Fatal(err)
	}

	if m, err := New(r); err == nil {
		t.Errorf("the same collectors were registered twice: %v", m)
	}
}

func TestNewNop(t *testing.T) {
	t.Parallel()

	m := NewNop()
	m.Shard("shard-0", "shard")
	m.WorkdirDeleted()
	m.GCFailed()
	m.CLIRun("plan", time.Second, nil)
}
