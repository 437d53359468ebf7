// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"slices"
	"strings"
	"testing"
	"testing/quick"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func newMix(t *testing.T, faults string) mix {
	t.Helper()

	kinds, err := parseClasses(faults)
	if err != nil {
		t.Fatal(err)
	}

	return mix{
		lasts:      time.Minute,
		lease:      6 * time.Second,
		renew:      3 * time.Second,
		fenced:     5700 * time.Millisecond,
		kinds:      kinds,
		instances:  map[string][]string{"a": {"a", "a2"}, "b": {"b"}, "c": {"c"}, "": {"catch"}},
		disk:       "c",
		workspaces: 5,
	}
}

func TestScheduleIsRepeatable(t *testing.T) {
	t.Parallel()

	first, second := schedule(7, newMix(t, "all")), schedule(7, newMix(t, "all"))
	if diff := cmp.Diff(first, second, cmp.AllowUnexported(fault{}, traits{})); diff != "" {
		t.Errorf("two schedules with one seed differ:\n%s", diff)
	}

	if other := schedule(8, newMix(t, "all")); cmp.Equal(first, other, cmp.AllowUnexported(fault{}, traits{})) {
		t.Errorf("another seed makes the same schedule")
	}
}

// TestScheduleHasEverything shows that three minutes have every requested kind of fault
// several times, and no others.
func TestScheduleHasEverything(t *testing.T) {
	t.Parallel()

	for _, faults := range append(sorted(classes()), "all") {
		t.Run(faults, func(t *testing.T) {
			t.Parallel()

			const seeds = 10

			m := newMix(t, faults)
			m.lasts = 3 * time.Minute
			count := map[kind]int{}

			for seed := range uint64(seeds) {
				for _, f := range schedule(seed, m) {
					count[f.kind]++

					// Two kinds are recognized by the objects that they create.
					if f.namespace == namespaceX {
						pair, _, _ := strings.Cut(f.subject, "-")
						count[kind(pair)]++
					}

					if f.flavour == leaky {
						count[leak]++
					}
				}
			}

			for _, w := range m.kinds {
				if count[w.kind] < 2*seeds {
					t.Errorf("%d schedules have %d %s, want two and more in each", seeds, count[w.kind], w.kind)
				}

				delete(count, w.kind)
			}

			// Faults that a composition needs.
			if faults != "all" {
				delete(count, relabel)
			}

			if len(count) > 0 {
				t.Errorf("there are others: %v", count)
			}
		})
	}
}

// TestParseClasses shows that a class that is not there is not taken for nothing.
func TestParseClasses(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		names  string
		want   []weighted
		err    error
	}{
		"One":     {reason: "There always is something to do.", names: "disk", want: slices.Concat(classes()["disk"], classes()["spec"])},
		"Twice":   {reason: "A class counts once.", names: "spec,spec", want: classes()["spec"]},
		"Unknown": {reason: "A class that is misspelt would hide all that it finds.", names: "disc", err: cmpopts.AnyError},
		"Empty":   {reason: "So would none.", err: cmpopts.AnyError},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got, err := parseClasses(tc.names)
			if diff := cmp.Diff(tc.err, err, cmpopts.EquateErrors()); diff != "" {
				t.Errorf("%s\n-want error, +got error:\n%s", tc.reason, diff)
			}

			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(weighted{})); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}

	all, err := parseClasses("all")
	if err != nil {
		t.Fatal(err)
	}

	n := 0
	for _, class := range classes() {
		n += len(class)
	}

	if len(all) != n {
		t.Errorf("all are %d, want %d", len(all), n)
	}
}

// TestScheduleIsSound shows for many seeds that every fault can be injected.
func TestScheduleIsSound(t *testing.T) {
	t.Parallel()

	m := newMix(t, "all")

	if err := quick.Check(func(seed uint64) bool {
		last := time.Duration(0)
		created := map[string]bool{}

		for _, f := range schedule(seed, m) {
			if f.after < last || f.after > m.lasts {
				t.Errorf("seed %d: %s after %s comes after %s", seed, f, f.after, last)
			}

			last = f.after

			if complaint := unsound(f, m, created); complaint != "" {
				t.Errorf("seed %d: %s: %s", seed, f, complaint)
			}
		}

		return !t.Failed()
	}, nil); err != nil {
		t.Error(err)
	}
}

// unsound says why a fault cannot be injected, given the Workspaces there are.
func unsound(f fault, m mix, created map[string]bool) string {
	switch f.kind {
	case create, copying:
		if created[f.subject] {
			return "there is such a Workspace already"
		}

		created[f.subject] = true
	case kill, terminate, pause, hang, delay, refuse, oneWay, drain:
		if !slices.ContainsFunc(sorted(m.instances), func(shard string) bool { return slices.Contains(m.instances[shard], f.subject) }) {
			return "there is no such instance"
		}
	case deleteLease, emptyLease, restoreLease:
		if m.instances[f.subject] == nil {
			return "there is no such shard"
		}
	case restart, outage:
	default:
		if !created[f.subject] {
			return "there is no such Workspace yet"
		}
	}

	return unsoundDetail(f, m, created)
}

func unsoundDetail(f fault, m mix, created map[string]bool) string {
	switch {
	case f.kind == copying && !created[f.of]:
		return "there is no original"
	case f.kind == relabel && (f.shard == "" || m.instances[f.shard] == nil):
		return "there is no such shard"
	case f.kind == pause && (f.takes < m.lease/2 || f.takes > 2*m.lease):
		return "is far from the duration of a Lease"
	default:
		return ""
	}
}
