// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package claim

import (
	"fmt"
	"strings"
)

// A graph is every state that can be reached, in the order of the number of events
// that it takes to get there.
type graph struct {
	model  *model
	states []state
	index  map[state]int32

	// first is how each state was reached first.
	first []arrival

	// edges that do not depend on a fault, as pairs.
	edges [][2]int32
}

type arrival struct {
	from int32
	move move
}

// explore the model until there is a state in which two processes work on one
// Workspace; it returns that one and true.
func explore(m *model) (*graph, int32, bool) {
	m.prepare()

	g := &graph{model: m, index: map[state]int32{}}
	start := m.initial()
	g.add(&start, arrival{from: -1})

	for i := int32(0); int(i) < len(g.states); i++ {
		if m.unsafe(&g.states[i]) {
			return g, i, true
		}

		s := g.states[i]
		m.successors(&s, func(e move, n *state) {
			to := g.add(n, arrival{from: i, move: e})
			if !e.fault() && to != i {
				g.edges = append(g.edges, [2]int32{i, to})
			}
		})
	}

	return g, 0, false
}

func (g *graph) add(s *state, a arrival) int32 {
	if i, ok := g.index[*s]; ok {
		return i
	}

	i := int32(len(g.states))
	g.index[*s] = i
	g.states = append(g.states, *s)
	g.first = append(g.first, a)

	return i
}

// unsafe says that two processes work on one Workspace.
func (m *model) unsafe(s *state) bool {
	for w := range m.spaces {
		workers := 0

		for p := range m.roles {
			if s.procs[p].work[w].step == working {
				workers++
			}
		}

		if workers > 1 {
			return true
		}
	}

	return false
}

// stuck returns a state from which, whatever happens but for faults, a Workspace is
// never worked on by an instance that is to serve it, although there is one.
func (g *graph) stuck() (int32, bool) {
	back := make([][]int32, len(g.states))
	for _, e := range g.edges {
		back[e[1]] = append(back[e[1]], e[0])
	}

	for w := range g.model.spaces {
		good := make([]bool, len(g.states))

		var queue []int32

		for i := range g.states {
			if g.model.served(&g.states[i], w) {
				good[i] = true
				queue = append(queue, int32(i))
			}
		}

		for len(queue) > 0 {
			i := queue[len(queue)-1]
			queue = queue[:len(queue)-1]

			for _, from := range back[i] {
				if !good[from] {
					good[from] = true
					queue = append(queue, from)
				}
			}
		}

		for i := range g.states {
			if !good[i] && g.model.servable(&g.states[i], w) {
				return int32(i), true
			}
		}
	}

	return 0, false
}

// served says that an instance that is to serve a Workspace works on it.
func (m *model) served(s *state, w int) bool {
	for p, r := range m.roles {
		if s.procs[p].work[w].step == working && m.serves[r][s.label[w]] {
			return true
		}
	}

	return false
}

// servable says that there is an instance that is to serve a Workspace.
func (m *model) servable(s *state, w int) bool {
	for p, r := range m.roles {
		at := s.procs[p].status
		if (at == standby || at == leading) && !s.procs[p].paused && m.serves[r][s.label[w]] {
			return true
		}
	}

	return false
}

// trace says how a state is reached, a line for each event.
func (g *graph) trace(i int32) string {
	var lines []string

	for ; g.first[i].from >= 0; i = g.first[i].from {
		lines = append(lines, g.model.describe(g.first[i].move, &g.states[g.first[i].from], &g.states[i]))
	}

	b := &strings.Builder{}
	for n := range lines {
		fmt.Fprintf(b, "%3d. %s\n", n+1, lines[len(lines)-1-n])
	}

	return b.String()
}
