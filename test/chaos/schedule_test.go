// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"slices"
	"testing"
	"testing/quick"
	"time"

	"github.com/google/go-cmp/cmp"
)

func newMix() mix {
	return mix{
		lasts:      time.Minute,
		lease:      4 * time.Second,
		instances:  map[string][]string{"a": {"a", "a2"}, "b": {"b"}, "": {"catch"}},
		workspaces: 5,
	}
}

func TestScheduleIsRepeatable(t *testing.T) {
	t.Parallel()

	first, second := schedule(7, newMix()), schedule(7, newMix())
	if diff := cmp.Diff(first, second, cmp.AllowUnexported(fault{})); diff != "" {
		t.Errorf("two schedules with one seed differ:\n%s", diff)
	}

	if other := schedule(8, newMix()); cmp.Equal(first, other, cmp.AllowUnexported(fault{})) {
		t.Errorf("another seed makes the same schedule")
	}
}

// TestScheduleHasEverything shows that a long schedule leaves no kind of fault out.
func TestScheduleHasEverything(t *testing.T) {
	t.Parallel()

	m := newMix()
	m.lasts = 10 * time.Minute

	faults := schedule(1, m)
	all, _ := kinds()

	for _, k := range all {
		if !slices.ContainsFunc(faults, func(f fault) bool { return f.kind == k }) {
			t.Errorf("there is no %s among %d faults", k, len(faults))
		}
	}
}

// TestScheduleIsSound shows for many seeds that every fault can be injected.
func TestScheduleIsSound(t *testing.T) {
	t.Parallel()

	if err := quick.Check(func(seed uint64) bool {
		m, last := newMix(), time.Duration(0)
		created := map[string]bool{}

		for _, f := range schedule(seed, m) {
			if f.after < last {
				t.Errorf("seed %d: %s after %s comes after %s", seed, f, f.after, last)
			}

			last = f.after

			switch f.kind {
			case create:
				created[f.subject] = true
			case kill, terminate, pause:
				if !slices.Contains([]string{"a", "a2", "b", "catch"}, f.subject) {
					t.Errorf("seed %d: %s: there is no such instance", seed, f)
				}
			case restart:
			default:
				if !created[f.subject] {
					t.Errorf("seed %d: %s: there is no such Workspace yet", seed, f)
				}
			}

			if f.kind == relabel && !slices.Contains([]string{"a", "b"}, f.shard) {
				t.Errorf("seed %d: %s: there is no such shard", seed, f)
			}

			if f.kind == pause && (f.takes < m.lease/2 || f.takes > 2*m.lease) {
				t.Errorf("seed %d: %s is far from what a Lease lasts", seed, f)
			}
		}

		return !t.Failed()
	}, nil); err != nil {
		t.Error(err)
	}
}
