// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/crossplane-contrib/provider-terraform/test/background"
	"github.com/crossplane-contrib/provider-terraform/test/chaos/record"
	"github.com/crossplane-contrib/provider-terraform/test/controlplane"
)

// Evidence is the complete record, and the secrets that must not be in it.
type evidence struct {
	dir       string
	historian *historian
	witness   *witness
	canaries  map[string]canary
}

func newEvidence(c *controlplane.ControlPlane, dir string, seed uint64) *evidence {
	return &evidence{dir: dir, historian: &historian{kube: c.Kube}, witness: newWitness(c.Kube), canaries: canaries(seed)}
}

// collect evidence until the returned function is called.
func (e *evidence) collect(t *testing.T, j *journal) func() {
	t.Helper()

	all := []func(context.Context) error{
		func(ctx context.Context) error { return watchRuns(ctx, e.dir) },
		e.historian.watch,
		func(ctx context.Context) error { return watchLoad(ctx, e.witness.kube, j) },
	}
	for _, kind := range witnessed() {
		all = append(all, func(ctx context.Context) error { return e.witness.watch(ctx, kind) })
	}

	return background.Run(t, all...)
}

func newFate() fate {
	return fate{names: map[string]string{}, removed: map[string]int64{}, orphaned: map[string]bool{}, lost: map[string]int64{}}
}

// judge reads the records and completes the report.
func (e *evidence) judge(t *testing.T, r *report, f fleet, w *workspaces, missing []absence) {
	t.Helper()

	events, err := record.Read(filepath.Join(e.dir, "runs"))
	if err != nil {
		t.Fatal(err)
	}

	ledger, err := readLedger(filepath.Join(e.dir, "ledger"))
	if err != nil {
		t.Fatal(err)
	}

	fate := w.fate
	fate.gone = e.witness.departures()
	fate.used = map[string]bool{}

	for _, ws := range w.all {
		if ws.removed == 0 {
			fate.used[ws.state()] = true
		}
	}

	versions := e.historian.versions
	j := w.journal

	r.notes = j.all()
	r.runs = readRuns(events, fate.names)
	r.resources = resources(ledger, versions, r.runs)
	r.rules = append([]rule{
		{name: "overlapping runs", violations: overlaps(r.runs, r.clock)},
		{name: "overlapping changes of a state", violations: stateOverlaps(r.runs, ledger, r.clock)},
		{name: "resources created twice", violations: createdTwice(r.resources, versions, r.clock)},
		{name: "resources created after their state was lost", violations: createdAfterLoss(r.resources, fate, r.clock)},
		{name: "resources destroyed under another", violations: destroyedUnderAnother(r.resources, fate, r.clock)},
		{name: "resources destroyed twice", violations: destroyedTwice(r.resources, versions, r.clock)},
		{name: "resources destroyed without approval", violations: unapproved(r.resources, w.guarded(), w.approvals, r.runs, versions, r.clock)},
		{name: "resources left behind", violations: leftBehind(r.resources, versions, fate, r.notes, r.clock)},
		{name: "resources not in the state", violations: unsaved(r.resources, r.notes, r.clock)},
		{name: "lost states", violations: lost(r.resources, versions, r.runs)},
		{name: "deleted workdirs in use", violations: deletedWorkdirs(r.runs, fate.unused(), missing, r.clock)},
		{name: "secrets that can be read", violations: leaks(append(e.witness.sightings(), logs(t, e.dir, f)...), e.canaries)},
		{name: "instances that failed at the end", violations: badEnds(r.notes)},
	}, r.rules...)
}

// logs returns all that the instances logged.
func logs(t *testing.T, dir string, f fleet) []sighting {
	t.Helper()

	var all []sighting

	for _, name := range sorted(f) {
		data, err := os.ReadFile(filepath.Join(dir, name+".log"))
		if err != nil {
			t.Fatal(err)
		}

		for line := range bytes.Lines(data) {
			all = append(all, sighting{where: "the log of " + name, text: string(line)})
		}
	}

	return all
}
