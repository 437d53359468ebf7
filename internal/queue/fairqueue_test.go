// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package queue

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/util/workqueue"
)

var _ workqueue.Queue[string] = &FairQueue[string]{}

// classOf returns the class of an item with the name TENANT-NUMBER. An exclamation mark at the
// end makes it urgent.
func classOf(item string) Class {
	tenant, rest, _ := strings.Cut(item, "-")
	c := Class{Tenant: tenant}

	if strings.HasSuffix(rest, "!") {
		c.Priority = Urgent
	}

	return c
}

func TestPop(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		push   []string
		want   []string
	}{
		"Empty": {
			reason: "The queue is empty.",
		},
		"OneTenant": {
			reason: "Items of one tenant come in their order.",
			push:   []string{"a-1", "a-2", "a-3"},
			want:   []string{"a-1", "a-2", "a-3"},
		},
		"Turns": {
			reason: "A tenant with many items does not delay the others.",
			push:   []string{"a-1", "a-2", "a-3", "b-1", "c-1", "c-2"},
			want:   []string{"a-1", "b-1", "c-1", "a-2", "c-2", "a-3"},
		},
		"UrgentFirst": {
			reason: "Items that a person waits for precede polls.",
			push:   []string{"a-1", "b-1", "a-2!", "b-2!", "a-3!"},
			want:   []string{"a-2!", "b-2!", "a-3!", "a-1", "b-1"},
		},
		"RoutineInBetween": {
			reason: "Polls continue, regardless of the number of urgent items.",
			push:   []string{"p-1", "p-2", "a-1!", "a-2!", "a-3!", "a-4!", "a-5!", "a-6!", "a-7!", "a-8!", "a-9!"},
			want:   []string{"a-1!", "a-2!", "a-3!", "a-4!", "a-5!", "a-6!", "a-7!", "a-8!", "p-1", "a-9!", "p-2"},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			f := NewFairQueue(classOf)
			for _, item := range tc.push {
				f.Push(item)
			}

			var got []string
			for f.Len() > 0 {
				got = append(got, f.Pop())
			}

			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}

			if extra := f.Pop(); extra != "" {
				t.Errorf("%s\nan empty queue gave %q", tc.reason, extra)
			}
		})
	}
}

// TestMany has a tenant with very many items, of either priority, and one with a single item.
func TestMany(t *testing.T) {
	t.Parallel()

	for reason, suffix := range map[string]string{"Urgent items continue.": "!", "Polls continue.": ""} {
		f := NewFairQueue(classOf)
		for n := range 500 {
			f.Push("many-" + strconv.Itoa(n) + suffix)
		}

		f.Push("one-0" + suffix)

		if diff := cmp.Diff([]string{"many-0" + suffix, "one-0" + suffix}, []string{f.Pop(), f.Pop()}); diff != "" {
			t.Errorf("%s\n-want, +got:\n%s", reason, diff)
		}
	}
}

// TestTouch adds an item again that has become urgent since.
func TestTouch(t *testing.T) {
	t.Parallel()

	urgent := map[string]bool{}
	f := NewFairQueue(func(item string) Class {
		c := classOf(item)
		if urgent[item] {
			c.Priority = Urgent
		}

		return c
	})

	for _, item := range []string{"a-1", "a-2", "a-3"} {
		f.Push(item)
	}

	urgent["a-3"] = true

	f.Touch("a-3")
	f.Touch("nobody-1")

	// It stays urgent until it is done, even if its class changes.
	urgent["a-3"] = false

	f.Touch("a-3")

	var got []string
	for f.Len() > 0 {
		got = append(got, f.Pop())
	}

	if diff := cmp.Diff([]string{"a-3", "a-1", "a-2"}, got); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

// TestNothingIsLost pushes, touches and pops at random: each pushed item is popped exactly once.
func TestNothingIsLost(t *testing.T) {
	t.Parallel()

	r := rand.New(rand.NewPCG(1, 2))
	waiting := map[int]bool{}
	f := NewFairQueue(func(int) Class {
		return Class{Priority: Priority(r.IntN(int(priorities))), Tenant: string(rune('a' + r.IntN(5)))}
	})

	for range 100000 {
		item := r.IntN(100)

		switch {
		case r.IntN(2) == 0 && f.Len() > 0:
			if got := f.Pop(); !waiting[got] {
				t.Fatalf("got %d, which is not there", got)
			} else {
				delete(waiting, got)
			}
		case waiting[item]:
			f.Touch(item)
		default:
			f.Push(item)

			waiting[item] = true
		}

		if f.Len() != len(waiting) {
			t.Fatalf("want %d items, got %d", len(waiting), f.Len())
		}
	}

	var left []int
	for f.Len() > 0 {
		left = append(left, f.Pop())
	}

	slices.Sort(left)

	if len(left) != len(waiting) || len(slices.Compact(left)) != len(waiting) {
		t.Errorf("want %d items left, got %d", len(waiting), len(left))
	}
}
