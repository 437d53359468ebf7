// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// A crowd of Workspaces wants to be applied.
type crowd struct {
	*laneFixture

	rand     *rand.Rand
	todo     map[string]bool
	queued   []string
	applying []string
}

// pick and remove one of the supplied names.
func (c *crowd) pick(names *[]string) string {
	i := c.rand.IntN(len(*names))
	name := (*names)[i]
	*names = slices.Delete(*names, i, i+1)

	return name
}

// step ends an apply, or begins a reconcile of a Workspace that may have vanished.
func (c *crowd) step() {
	switch {
	case len(c.applying) > 0 && (len(c.queued) == 0 || c.rand.IntN(3) == 0):
		name := c.pick(&c.applying)
		c.end(name)
		delete(c.todo, name)
	case len(c.queued) > 0:
		c.reconcile(c.pick(&c.queued))
	}

	c.queued = append(c.queued, c.called...)
	c.called = nil
}

func (c *crowd) reconcile(name string) {
	switch {
	case c.rand.IntN(4) == 0:
		c.look(name)
		c.end(name)
		delete(c.todo, name)
	case c.begin(name):
		c.applying = append(c.applying, name)
	default:
		c.end(name)
	}
}

// TestLanesForgetNobody lets Workspaces come, wait, vanish and end in many orders:
// all are done in the end, without asking again.
func TestLanesForgetNobody(t *testing.T) {
	t.Parallel()

	const lanes = 2

	for seed := range uint64(2000) {
		c := &crowd{laneFixture: newLaneFixture(lanes), rand: rand.New(rand.NewPCG(seed, 0)), todo: map[string]bool{}}

		for _, name := range []string{"a-1", "a-2", "a-3", "b-1!", "b-2", "c-1"} {
			c.todo[name] = true
			c.queued = append(c.queued, name)
		}

		for range 1000 {
			c.step()

			if len(c.applying) > lanes {
				t.Fatalf("seed %d: %v apply at once", seed, c.applying)
			}
		}

		if len(c.todo) > 0 || c.lanes.free != lanes {
			t.Fatalf("seed %d: %v are forgotten, %d lanes are free", seed, c.todo, c.lanes.free)
		}
	}
}
