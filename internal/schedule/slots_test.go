// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane-contrib/provider-terraform/internal/queue"
)

// slotFixture has Slots for Workspaces of the name TENANT-NUMBER, with a ! at the end if they
// are urgent.
type slotFixture struct {
	*Slots

	records *Records
	calls   []string

	// reported are the last reported numbers.
	reported [2]int

	// waited are the reported times.
	waited []time.Duration
}

func newSlotFixture(n int) *slotFixture {
	r := NewRecords(Policy{Interval: time.Minute}, time.Now)

	for _, name := range []string{"a-1", "a-2", "a-3", "a-4", "b-1", "b-1!", "b-2", "c-1", "c-1!"} {
		tenant, _, _ := strings.Cut(name, "-")
		class := queue.Class{Tenant: tenant}

		if strings.HasSuffix(name, "!") {
			class.Priority = queue.Urgent
		}

		r.records[requestOf(name).NamespacedName] = &Record{UID: types.UID(name), Class: class}
	}

	f := &slotFixture{records: r}
	f.Slots = NewSlots(n, r, func(held, waiting int) { f.reported = [2]int{held, waiting} }, func(d time.Duration) { f.waited = append(f.waited, d) })
	f.call = func(req reconcile.Request) { f.calls = append(f.calls, req.Name) }

	return f
}

func (f *slotFixture) acquire(names ...string) []bool {
	var got []bool
	for _, name := range names {
		got = append(got, f.Acquire(requestOf(name)))
	}

	return got
}

func (f *slotFixture) release(names ...string) {
	for _, name := range names {
		f.Release(requestOf(name))
	}
}

func (f *slotFixture) cancel(name string) { f.Cancel(requestOf(name)) }

func TestSlots(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		slots  int
		do     func(f *slotFixture) []bool

		// passes is the time that passes before the later ones acquire a slot.
		passes time.Duration
		later  []string

		// acquired are the results for all of them, called the Workspaces that were called, and
		// free the number of free slots at the end.
		acquired []bool
		called   []string
		free     int
	}{
		"Free": {
			reason:   "All slots can be acquired.",
			slots:    2,
			do:       func(f *slotFixture) []bool { return f.acquire("a-1", "a-2", "a-3") },
			acquired: []bool{true, true, false},
		},
		"Again": {
			reason:   "A Workspace that has a slot does not get a second one.",
			slots:    2,
			do:       func(f *slotFixture) []bool { return f.acquire("a-1", "a-1") },
			acquired: []bool{true, true},
			free:     1,
		},
		"AgainWithoutFree": {
			reason:   "It keeps its slot when no other is free.",
			slots:    1,
			do:       func(f *slotFixture) []bool { return f.acquire("a-1", "a-1") },
			acquired: []bool{true, true},
		},
		"Released": {
			reason: "A slot that is released is free.",
			slots:  1,
			do: func(f *slotFixture) []bool {
				f.acquire("a-1")
				f.release("a-1", "a-1", "a-2")

				return nil
			},
			free: 1,
		},
		"Called": {
			reason: "A Workspace that waits is called when a slot is free, which no other gets.",
			slots:  1,
			do: func(f *slotFixture) []bool {
				f.acquire("a-1", "a-2")
				f.release("a-1")

				return f.acquire("a-3", "a-2")
			},
			acquired: []bool{false, true},
			called:   []string{"a-2"},
		},
		"TakesTurns": {
			reason: "Tenants take turns, and urgent Workspaces come first.",
			slots:  1,
			do: func(f *slotFixture) []bool {
				f.acquire("a-1", "a-2", "a-3", "b-1", "c-1!")

				for _, name := range []string{"a-1", "c-1!", "a-2", "b-1"} {
					f.acquire(name)
					f.release(name)
				}

				return nil
			},
			called: []string{"c-1!", "a-2", "b-1", "a-3"},
		},
		"Canceled": {
			reason: "A Workspace that was called and does not need the slot passes it on.",
			slots:  1,
			do: func(f *slotFixture) []bool {
				f.acquire("a-1", "a-2", "a-3")
				f.release("a-1")
				f.cancel("a-2")

				return f.acquire("a-3")
			},
			acquired: []bool{true},
			called:   []string{"a-2", "a-3"},
		},
		"CanceledTicket": {
			reason: "A Workspace that does not wait any more is not called.",
			slots:  1,
			do: func(f *slotFixture) []bool {
				f.acquire("a-1", "a-2", "a-3")
				f.cancel("a-2")
				f.release("a-1")

				return nil
			},
			called: []string{"a-3"},
		},
		"Newcomer": {
			reason: "A Workspace that comes while slots are reserved for others waits.",
			slots:  2,
			do: func(f *slotFixture) []bool {
				f.acquire("a-1", "a-2", "a-3", "a-4")
				f.release("a-1", "a-2")

				return f.acquire("b-1", "a-4", "a-3")
			},
			acquired: []bool{false, true, true},
			called:   []string{"a-3", "a-4"},
		},
		"AskedAgain": {
			reason: "A Workspace that acquires again while it waits has one ticket.",
			slots:  1,
			do: func(f *slotFixture) []bool {
				f.acquire("a-1", "a-2", "a-2", "a-3")
				f.release("a-1")
				f.acquire("a-2")
				f.release("a-2")

				return nil
			},
			called: []string{"a-2", "a-3"},
		},
		"BecomesUrgent": {
			reason: "A Workspace that has become urgent comes first when it asks again.",
			slots:  1,
			do: func(f *slotFixture) []bool {
				f.acquire("a-1", "a-2", "b-1")
				f.records.records[requestOf("b-1").NamespacedName].Class.Priority = queue.Urgent
				f.acquire("b-1")
				f.release("a-1")

				return nil
			},
			called: []string{"b-1"},
		},
		"TimedOut": {
			reason: "A Workspace that was called and does not come loses its slot.",
			slots:  1,
			do: func(f *slotFixture) []bool {
				f.acquire("a-1", "a-2", "a-3")
				f.release("a-1")

				return nil
			},
			passes:   ticketTimeout,
			later:    []string{"a-3", "a-2"},
			acquired: []bool{true, false},
			called:   []string{"a-2", "a-3"},
		},
		"InTime": {
			reason: "A slot that was acquired in time is kept.",
			slots:  1,
			do: func(f *slotFixture) []bool {
				f.acquire("a-1", "a-2", "a-3")
				f.release("a-1")
				f.acquire("a-2")

				return nil
			},
			passes:   2 * ticketTimeout,
			later:    []string{"a-3"},
			acquired: []bool{false},
			called:   []string{"a-2"},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			synctest.Test(t, func(t *testing.T) {
				f := newSlotFixture(tc.slots)

				acquired := tc.do(f)

				if tc.passes > 0 {
					time.Sleep(tc.passes)
					synctest.Wait()
				}

				acquired = append(acquired, f.acquire(tc.later...)...)

				if diff := cmp.Diff(tc.acquired, acquired, cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("\n%s\nAcquire(...): -want, +got:\n%s", tc.reason, diff)
				}

				if diff := cmp.Diff(tc.called, f.calls); diff != "" {
					t.Errorf("\n%s\ncalled: -want, +got:\n%s", tc.reason, diff)
				}

				if diff := cmp.Diff([2]int{len(f.held), len(f.waiting)}, f.reported); diff != "" {
					t.Errorf("\n%s\nWorkspaces that have a slot, and that wait for one: -want, +reported:\n%s", tc.reason, diff)
				}

				if diff := cmp.Diff(tc.free, f.free); diff != "" {
					t.Errorf("\n%s\nfree slots: -want, +got:\n%s", tc.reason, diff)
				}
			})
		})
	}
}

// TestCalledIsUrgent ensures that a Workspace for which a slot is reserved does not wait behind polls.
func TestCalledIsUrgent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newSlotFixture(1)

		var called queue.Class

		f.call = func(req reconcile.Request) { called = f.records.class(req) }

		f.acquire("a-1", "a-2", "a-3")
		f.release("a-1")

		if diff := cmp.Diff(queue.Class{Tenant: "a", Priority: queue.Urgent}, called); diff != "" {
			t.Errorf("class of the Workspace that was called: -want, +got:\n%s", diff)
		}

		if diff := cmp.Diff(queue.Class{Tenant: "a"}, f.records.class(requestOf("a-3"))); diff != "" {
			t.Errorf("class of the Workspace that waits: -want, +got:\n%s", diff)
		}

		f.cancel("a-3")
		f.cancel("a-2")
	})
}

// TestSlotWait ensures that the wait for a slot lasts from the first request for it to the slot.
func TestSlotWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newSlotFixture(1)

		f.acquire("a-1", "a-2", "a-3")
		time.Sleep(time.Minute)
		f.acquire("a-2")
		f.cancel("a-3")
		f.acquire("a-3", "a-1")
		f.release("a-1")
		time.Sleep(time.Second)
		f.acquire("a-2", "a-2")
		f.release("a-2")
		f.acquire("a-3")

		// a-1 did not wait, and a-3 does not count the wait that it canceled.
		if diff := cmp.Diff([]time.Duration{0, time.Minute + time.Second, time.Second}, f.waited); diff != "" {
			t.Errorf("waits: -want, +got:\n%s", diff)
		}
	})
}

// TestNoSlotIsLost lets Workspaces come, wait, vanish and end in many orders. In the end all are
// done, and all slots are free.
func TestNoSlotIsLost(t *testing.T) {
	t.Parallel()

	const slots = 2

	for seed := range uint64(2000) {
		f, random := newSlotFixture(slots), rand.New(rand.NewPCG(seed, 0))
		queued, applying := []string{"a-1", "a-2", "a-3", "b-1!", "b-2", "c-1"}, []string{}
		pick := func(names *[]string) string {
			i := random.IntN(len(*names))
			name := (*names)[i]
			*names = slices.Delete(*names, i, i+1)

			return name
		}

		for range 1000 {
			switch {
			case len(applying) > 0 && (len(queued) == 0 || random.IntN(3) == 0):
				f.release(pick(&applying))
			case len(queued) > 0 && random.IntN(4) == 0:
				f.cancel(pick(&queued))
			case len(queued) > 0:
				name := pick(&queued)
				// Most that wait are known to wait before they are read again.
				if random.IntN(2) == 0 && !f.Available(requestOf(name)) {
					continue
				}

				if f.Acquire(requestOf(name)) {
					applying = append(applying, name)
				}
			}

			queued, f.calls = append(queued, f.calls...), nil

			if len(applying) > slots {
				t.Fatalf("seed %d: %v apply at once", seed, applying)
			}
		}

		type end struct {
			free, tickets, waiting, held int
			reported                     [2]int
		}

		if diff := cmp.Diff(end{free: slots}, end{f.free, f.tickets.Len(), len(f.waiting), len(f.held), f.reported}, cmp.AllowUnexported(end{})); diff != "" {
			t.Fatalf("seed %d: -want, +got:\n%s", seed, diff)
		}
	}
}
