// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package unserved

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-terraform/internal/shard"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
	"github.com/crossplane-contrib/provider-terraform/test/apiserver"
)

// A step is a change, a number of scans, and the expected results.
type step struct {
	reason string

	// leases are the Leases that are held from now on, self is the scanning instance, and relabel
	// are the labels that change. Unset fields change nothing.
	leases  stubLeases
	self    shard.ID
	relabel map[string]string

	scans int

	// noShard and noCatchAll are the counts. told is the number of Events for each Workspace of a
	// label.
	noShard, noCatchAll int
	told                map[string]int
}

// TestScan scans with a real API server, which selects the Workspaces. The cases share it and run
// one after the other.
func TestScan(t *testing.T) {
	t.Parallel()

	live := apiserver.Client(t, apiserver.Start(t, "../../../package/crds/tf.upbound.io_workspaces.yaml", "../../../package/crds/tf.m.upbound.io_workspaces.yaml"))
	a, b, c := id(t, "a"), id(t, "b"), id(t, "c")

	for name, steps := range map[string][]step{
		"Twice": {
			{reason: "An instance is being replaced.", scans: 1},
			{reason: "There is no instance for two of the labels, and none for Workspaces without a label.", scans: 1, noShard: 4, noCatchAll: 2, told: map[string]int{"": 1, "a": 1, "c": 1}},
			{reason: "The Events were sent before.", scans: 1, noShard: 4, noCatchAll: 2, told: map[string]int{"": 1, "a": 1, "c": 1}},
		},
		"CatchAll": {
			{reason: "An instance serves the Workspaces without a label.", leases: stubLeases{shard.CatchAll(), b, c}, scans: 2, noShard: 2, told: map[string]int{"a": 1}},
			{reason: "There is no shard.", leases: stubLeases{shard.CatchAll()}, self: shard.CatchAll(), scans: 2, noShard: 6, told: map[string]int{"a": 1, "b": 1, "c": 1}},
		},
		"FirstOnly": {
			{reason: "The instance of shard a scans.", leases: stubLeases{b, a}, scans: 2},
			{reason: "The instance of shard a is gone: this instance scans.", leases: stubLeases{b, c}, scans: 2, noShard: 2, noCatchAll: 2, told: map[string]int{"": 1, "a": 1}},
		},
		"Unsharded": {
			{reason: "No instance serves them.", scans: 2, noShard: 4, noCatchAll: 2, told: map[string]int{"": 1, "a": 1, "c": 1}},
			{reason: "An unsharded instance serves all.", leases: stubLeases{b, {}}, scans: 1, told: map[string]int{"": 1, "a": 1, "c": 1}},
		},
		"Served": {
			{reason: "No instance serves them.", scans: 2, noShard: 4, noCatchAll: 2, told: map[string]int{"": 1, "a": 1, "c": 1}},
			{reason: "An instance serves those of shard a now.", relabel: map[string]string{"a": "b"}, scans: 1, noShard: 2, noCatchAll: 2, told: map[string]int{"": 1, "b": 1, "c": 1}},
			{reason: "Workspaces that were served in between get another Event, and so do the others of shard b.", leases: stubLeases{c}, self: c, scans: 2, noShard: 4, noCatchAll: 2, told: map[string]int{"": 1, "b": 3, "c": 1}},
		},
		"OtherReason": {
			{reason: "An instance is being replaced.", scans: 1},
			{reason: "The label was changed a moment ago.", relabel: map[string]string{"": "d"}, scans: 1, noShard: 4, told: map[string]int{"a": 1, "c": 1}},
			{reason: "No instance serves that one either.", scans: 1, noShard: 6, told: map[string]int{"a": 1, "c": 1, "d": 1}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, live)

			for _, s := range steps {
				if s.leases != nil {
					*f.leases = s.leases
				}

				if s.self != (shard.ID{}) {
					f.ID = s.self
				}

				for from, to := range s.relabel {
					f.relabel(t, from, to)
				}

				f.scan(t, s.scans)
				f.expect(t, s.reason, s.noShard, s.noCatchAll, s.told)
			}
		})
	}

	t.Run("Ranges", func(t *testing.T) { testRanges(t, newFixture(t, live)) })
	t.Run("NobodyKnown", func(t *testing.T) { testNobodyKnown(t, newFixture(t, live)) })
	t.Run("OnlyUnsharded", func(t *testing.T) { testOnlyUnsharded(t, newFixture(t, live)) })
	t.Run("CannotList", func(t *testing.T) { testCannotList(t, newFixture(t, live)) })
	t.Run("CannotListOneKind", func(t *testing.T) { testCannotListOneKind(t, newFixture(t, live)) })
	t.Run("WhatPeopleRead", func(t *testing.T) { testWhatPeopleRead(t, newFixture(t, live)) })
}

// testRanges has instances that serve ranges of the Workspaces without a label.
func testRanges(t *testing.T, f *fixture) {
	t.Helper()

	shards, halves := stubLeases{id(t, "a"), id(t, "b"), id(t, "c")}, stubLeases{hashRange(t, "0/2"), hashRange(t, "1/2")}

	// The API server chooses the UIDs. One Workspace at least is in each half.
	for _, half := range halves {
		for !slices.ContainsFunc(f.objects, func(o client.Object) bool { return half.Serves(o.GetLabels(), o.GetUID()) }) {
			f.create(t, workspace.Kinds()[0], "")
		}
	}

	f.ID, *f.leases = shards[0], slices.Concat(shards, halves)
	f.scan(t, 2)
	f.expect(t, "Each range has an instance.", 0, 0, nil)

	var unlabelled []client.Object

	for _, o := range f.objects {
		if len(o.GetLabels()) == 0 {
			unlabelled = append(unlabelled, o)
		}
	}

	// Only the half that the first one is not in has an instance.
	rest := slices.DeleteFunc(slices.Clone(halves), func(id shard.ID) bool { return id.Serves(nil, unlabelled[0].GetUID()) })
	unlabelled = slices.DeleteFunc(unlabelled, func(o client.Object) bool { return rest[0].Serves(nil, o.GetUID()) })
	*f.leases = slices.Concat(shards, rest)
	f.scan(t, 2)

	if diff := cmp.Diff(stubMetrics{ReasonNoLiveShard: 0, ReasonNoCatchAll: len(unlabelled)}, f.counts); diff != "" {
		t.Errorf("a range has no instance: -want, +got:\n%s", diff)
	}

	for _, o := range unlabelled {
		expectText(t, f.events.events["Workspace "+o.GetName()], "Warning NobodyServes", "--shard-range")
	}
}

func hashRange(t *testing.T, text string) shard.ID {
	t.Helper()

	id, err := shard.ParseRange(text)
	if err != nil {
		t.Fatal(err)
	}

	return id
}

func testNobodyKnown(t *testing.T, f *fixture) {
	t.Helper()

	*f.leases = nil

	f.scan(t, 2)

	if diff := cmp.Diff(stubMetrics{}, f.counts); diff != "" {
		t.Errorf("it is not known who there is: -want, +got:\n%s", diff)
	}
}

func testOnlyUnsharded(t *testing.T, f *fixture) {
	t.Helper()

	f.ID, *f.leases = shard.ID{}, stubLeases{{}}

	f.scan(t, 2)
	f.expect(t, "This instance serves all.", 0, 0, nil)
}

func testCannotList(t *testing.T, f *fixture) {
	t.Helper()

	f.scan(t, 2)

	f.Live = brokenReader{}
	if err := f.Scan(t.Context()); err == nil {
		t.Error("want the error of the API server")
	}

	f.expect(t, "The counts stay.", 4, 2, map[string]int{"": 1, "a": 1, "c": 1})

	f.Live = f.kube
	f.scan(t, 1)
	f.expect(t, "The Events were sent before.", 4, 2, map[string]int{"": 1, "a": 1, "c": 1})
}

// testCannotListOneKind ensures that the other kind is reported, and once.
func testCannotListOneKind(t *testing.T, f *fixture) {
	t.Helper()

	f.scan(t, 1)

	kinds := workspace.Kinds()
	told := func(want int) {
		t.Helper()

		for _, o := range f.objects {
			if group := o.GetObjectKind().GroupVersionKind().Group; group == kinds[0].GroupVersionKind.Group && o.GetLabels()[shard.LabelKey] != "b" {
				if got := len(f.events.events["Workspace "+o.GetName()]); got != want {
					t.Errorf("Events of %s %q: want %d, got %d", group, o.GetName(), want, got)
				}
			}
		}
	}

	for range 3 {
		f.Live = halfReader{Reader: f.kube, broken: kinds[1].GroupVersionKind}
		if err := f.Scan(t.Context()); err == nil {
			t.Error("want the error of the API server")
		}

		told(1)

		if diff := cmp.Diff(stubMetrics{ReasonNoLiveShard: 2, ReasonNoCatchAll: 1}, f.counts); diff != "" {
			t.Errorf("counts of the kind that was listed: -want, +got:\n%s", diff)
		}
	}

	f.Live = f.kube
	f.scan(t, 1)
	f.expect(t, "Both kinds were found twice.", 4, 2, map[string]int{"": 1, "a": 1, "c": 1})

	f.Live = halfReader{Reader: f.kube, broken: kinds[0].GroupVersionKind}
	if err := f.Scan(t.Context()); err == nil {
		t.Error("want the error of the API server")
	}

	f.expect(t, "What was found stays.", 4, 2, map[string]int{"": 1, "a": 1, "c": 1})
}

func testWhatPeopleRead(t *testing.T, f *fixture) {
	t.Helper()

	f.scan(t, 2)

	for _, o := range f.objects {
		events := f.events.events["Workspace "+o.GetName()]

		switch label := o.GetLabels()[shard.LabelKey]; label {
		case "b":
			if len(events) > 0 {
				t.Errorf("an instance serves it: %q", events)
			}
		case "":
			expectText(t, events, "Warning NobodyServes", "no label "+shard.LabelKey, "--shard-catch-all", "With --assign-shards, it waits")
		default:
			expectText(t, events, "Warning NobodyServes", "--shard-name="+label, shard.LabelKey)
		}
	}
}

// TestDescribeAssigned ensures that people who scale elastic shards down are told to wait.
func TestDescribeAssigned(t *testing.T) {
	t.Parallel()

	o := &metav1.PartialObjectMetadata{}
	o.SetLabels(map[string]string{shard.LabelKey: "a", shard.AssignedLabelKey: "a"})

	if got := describe(ReasonNoLiveShard, o, nil).Error(); !strings.Contains(got, "--shard-grace-period") || strings.Contains(got, "change the label") {
		t.Errorf("an assigned Workspace moves by itself: %s", got)
	}

	o.SetLabels(map[string]string{shard.LabelKey: "b", shard.AssignedLabelKey: "a"})

	if got := describe(ReasonNoLiveShard, o, nil).Error(); !strings.Contains(got, "change the label") {
		t.Errorf("a person has written the label: %s", got)
	}
}

func expectText(t *testing.T, events []string, texts ...string) {
	t.Helper()

	for _, text := range texts {
		if !strings.Contains(fmt.Sprint(events), text) {
			t.Errorf("want %q in %q", text, events)
		}
	}
}
