// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package metrics has the Prometheus collectors of this provider. A package that counts something
// declares the methods that it needs in its own interface.
package metrics

import (
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// Metrics is safe for concurrent use.
type Metrics struct {
	shardInfo       *prometheus.GaugeVec
	cliInfo         *prometheus.GaugeVec
	workdirsDeleted prometheus.Counter
	gcFailures      prometheus.Counter
	statesUnsaved   prometheus.Gauge
	cliRuns         *prometheus.CounterVec
	cliRunDuration  *prometheus.HistogramVec
	unserved        *prometheus.GaugeVec
	members         prometheus.Gauge
	moved           prometheus.Counter
	slots           *prometheus.GaugeVec
	applies         *prometheus.GaugeVec
	slotWait        *prometheus.HistogramVec
	changeToReady   *prometheus.HistogramVec
	drifts          *prometheus.CounterVec
	workspaces      *prometheus.GaugeVec
	locksRemoved    prometheus.Counter
	claimsWaiting   prometheus.Gauge
	handOffs        *prometheus.HistogramVec
	cacheRequests   *prometheus.CounterVec
}

// New returns Metrics whose collectors are registered with r, unless it is nil. It panics if they are
// registered already.
func New(r prometheus.Registerer) *Metrics {
	f := promauto.With(r)
	gauge := func(name, help string, labels ...string) *prometheus.GaugeVec {
		return f.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)
	}
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return f.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	histogram := func(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
		return f.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
	}

	// 0.1 s to 27 min: from an empty plan to the longest run that the default timeout of a
	// reconcile allows.
	runs := prometheus.ExponentialBuckets(0.1, 2, 15)
	// 0.25 s to 68 min: the times that people wait.
	waits := prometheus.ExponentialBuckets(0.25, 2, 15)

	m := &Metrics{
		shardInfo: gauge("provider_terraform_shard_info",
			"Always 1. The labels tell which shard this instance serves.", "shard", "mode"),
		cliInfo: gauge("provider_terraform_cli_info",
			"Always 1. The labels tell a program that this instance can run.", "product", "version"),
		workdirsDeleted: counter("provider_terraform_workdirs_deleted_total",
			"Working directories that were deleted because their Workspace is gone.").WithLabelValues(),
		gcFailures: counter("provider_terraform_gc_failures_total",
			"Rounds of the garbage collector of working directories that failed.").WithLabelValues(),
		statesUnsaved: gauge("provider_terraform_unsaved_states",
			"Workspaces that are gone and have left a state that is nowhere else, below .unsaved-states.").WithLabelValues(),
		cliRuns: counter("provider_terraform_cli_runs_total",
			"Finished runs of the terraform or tofu program.", "command", "result"),
		// Without the result, failures that end at once would hide how long successful runs take.
		cliRunDuration: histogram("provider_terraform_cli_run_duration_seconds",
			"How long runs of the terraform or tofu program took.", runs, "command", "result"),
		unserved: gauge("provider_terraform_workspaces_unserved",
			"Workspaces that no running instance serves. One instance counts them for all.", "reason"),
		members: gauge("provider_terraform_assigner_shards",
			"Shards that Workspaces are assigned to, as the elected assigner sees them. 0 on all other instances.").WithLabelValues(),
		moved: counter("provider_terraform_assigner_moves_total",
			"Workspaces that this instance has assigned to a shard, or moved to another one.").WithLabelValues(),
		slots: gauge("provider_terraform_apply_slots",
			"Workspaces that this instance creates, changes or deletes at a time, at most.", "controller"),
		applies: gauge("provider_terraform_applies",
			"Workspaces that this instance creates, changes or deletes now (running), and those that wait until it can (waiting).", "controller", "state"),
		slotWait: histogram("provider_terraform_apply_slot_wait_seconds",
			"How long Workspaces waited until this instance could create, change or delete them.", waits, "controller"),
		changeToReady: histogram("provider_terraform_change_to_ready_seconds",
			"How long Workspaces took to become Ready after this instance had seen that they were created or changed.", waits, "controller"),
		drifts: counter("provider_terraform_drifts_total",
			"Times that a Workspace was found different from its module, and was corrected, or reported by its condition Drifted.", "action"),
		workspaces: gauge("provider_terraform_workspaces",
			"Workspaces of this instance whose condition is True: Drifted, Stalled or AwaitingApproval.", "gvk", "condition"),
		locksRemoved: counter("provider_terraform_orphan_locks_removed_total",
			"Locks on states that a dead process had left, and that this instance has removed.").WithLabelValues(),
		claimsWaiting: gauge("provider_terraform_claims_waiting",
			"Workspaces that this instance is to serve, and that another instance has not released.").WithLabelValues(),
		handOffs: histogram("provider_terraform_handoff_duration_seconds",
			"How long this instance waited for Workspaces that another instance has released, or has left when it died.", waits, "previous"),
		cacheRequests: counter("provider_terraform_cache_requests_total",
			"Results of init, modules and provider packages that were needed, and were in a cache (hit) or not (miss).", "cache", "result"),
	}

	// A rate needs a value before the first event.
	for _, action := range []string{"corrected", "reported"} {
		m.drifts.WithLabelValues(action)
	}

	for _, previous := range []string{"released", "dead"} {
		m.handOffs.WithLabelValues(previous)
	}

	return m
}

// Shard records the shard and the mode of this instance: see shard.ID.
func (m *Metrics) Shard(name, mode string) { m.shardInfo.WithLabelValues(name, mode).Set(1) }

// CLI is called with each program that this instance can run.
func (m *Metrics) CLI(product, version string) { m.cliInfo.WithLabelValues(product, version).Set(1) }

// WorkdirDeleted counts a working directory that was deleted.
func (m *Metrics) WorkdirDeleted() { m.workdirsDeleted.Inc() }

// GCFailed counts a round of the garbage collector that failed.
func (m *Metrics) GCFailed() { m.gcFailures.Inc() }

// StatesUnsaved records the number of deleted Workspaces that left a state that is nowhere else.
func (m *Metrics) StatesUnsaved(n int) { m.statesUnsaved.Set(float64(n)) }

// Unserved records the number of Workspaces that no instance serves, for the supplied reason.
func (m *Metrics) Unserved(reason string, workspaces int) {
	m.unserved.WithLabelValues(reason).Set(float64(workspaces))
}

// Members records the number of shards that Workspaces are assigned to.
func (m *Metrics) Members(n int) { m.members.Set(float64(n)) }

// Moved counts a Workspace that was assigned or moved.
func (m *Metrics) Moved() { m.moved.Inc() }

// Workspaces records how many Workspaces of a kind have a condition that is True.
func (m *Metrics) Workspaces(gvk, condition string, n int) {
	m.workspaces.WithLabelValues(gvk, condition).Set(float64(n))
}

// ApplySlots records how many applies and destroys a controller runs at a time, at most. It is called
// before the controller starts: it sets the numbers of Applies to 0.
func (m *Metrics) ApplySlots(controller string, slots int) {
	m.slots.WithLabelValues(controller).Set(float64(slots))
	m.Applies(controller, 0, 0)
	m.slotWait.WithLabelValues(controller)
	m.changeToReady.WithLabelValues(controller)
}

// Applies records how many Workspaces have a slot of a controller, and how many wait for one.
func (m *Metrics) Applies(controller string, running, waiting int) {
	m.applies.WithLabelValues(controller, "running").Set(float64(running))
	m.applies.WithLabelValues(controller, "waiting").Set(float64(waiting))
}

// ApplySlotWaited records how long a Workspace waited for an apply slot.
func (m *Metrics) ApplySlotWaited(controller string, took time.Duration) {
	m.slotWait.WithLabelValues(controller).Observe(took.Seconds())
}

// BecameReady records how long a Workspace took to become Ready after a change.
func (m *Metrics) BecameReady(controller string, took time.Duration) {
	m.changeToReady.WithLabelValues(controller).Observe(took.Seconds())
}

// Drifted counts a drift, by what was done about it.
func (m *Metrics) Drifted(action string) { m.drifts.WithLabelValues(action).Inc() }

// OrphanLockRemoved counts a lock of a dead process that was removed.
func (m *Metrics) OrphanLockRemoved() { m.locksRemoved.Inc() }

// ClaimsWaiting records how many Workspaces wait for the instance that has claimed them.
func (m *Metrics) ClaimsWaiting(n int) { m.claimsWaiting.Set(float64(n)) }

// HandedOff records how long a Workspace was waited for, and what the previous instance has done.
func (m *Metrics) HandedOff(previous string, took time.Duration) {
	m.handOffs.WithLabelValues(previous).Observe(took.Seconds())
}

// Cache returns a function that counts the requests to the cache of the supplied name.
func (m *Metrics) Cache(name string) func(hit bool) {
	requests := map[bool]prometheus.Counter{
		true:  m.cacheRequests.WithLabelValues(name, "hit"),
		false: m.cacheRequests.WithLabelValues(name, "miss"),
	}

	return func(hit bool) { requests[hit].Inc() }
}

// CLIRun counts a finished run of the CLI and its duration, by subcommand and result. A run that was
// stopped, or ran out of time, counts as canceled: it says nothing about the module.
func (m *Metrics) CLIRun(command string, took time.Duration, err error) {
	result := "error"

	switch {
	case err == nil:
		result = "success"
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		result = "canceled"
	}

	m.cliRuns.WithLabelValues(command, result).Inc()
	m.cliRunDuration.WithLabelValues(command, result).Observe(took.Seconds())
}
