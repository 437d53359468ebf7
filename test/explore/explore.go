// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package explore visits every state of a model of a protocol: every order of its moves,
// up to a number of faults. It reports the shortest way to a wrong state.
package explore

import (
	"fmt"
	"os"
	"strings"
)

// Full says whether models run with more faults than are needed to show that every rule is
// necessary: see make model.
func Full() bool { return os.Getenv("MODEL_BOUNDS") == "full" }

// A Model of a protocol. S is the complete state at one moment, a value that can be a key
// of a map: two ways to the same state are merged. M is a move from one state to another.
type Model[S comparable, M any] interface {
	// Start is the first state.
	Start() S

	// Moves calls fn with each move that may be next, and the state after it.
	Moves(s *S, fn func(m M, after *S))

	// Fault says that progress must not depend on a move: it is a fault, or an action of
	// people. A model has to reach its goals without it.
	Fault(m M) bool

	// Describe a move in one line.
	Describe(m M, before, after *S) string

	Judge[S]
}

// A Judge has the rules that all states must keep.
type Judge[S comparable] interface {
	// Wrong describes the broken rule in a state. It is empty if the state keeps all
	// rules.
	Wrong(s *S) string

	// Goals is the number of things that are due at times, and have to be possible then.
	Goals() int

	// Due says whether a goal is, and Reached whether it is reached.
	Due(s *S, goal int) bool
	Reached(s *S, goal int) bool
}

// TooLarge is the error of a model with more than limit states: it is unbounded, or should
// be split.
const (
	TooLarge = "too many states"
	limit    = 8_000_000
)

// Stuck is the error of a state in which a goal is due and cannot be reached.
const Stuck = "stuck"

// A Result of an exploration.
type Result struct {
	// States and Edges are how many there are; an edge is a move that is no fault.
	States, Edges int

	// Wrong describes the broken rule in the first wrong state. It is empty if all states
	// are right.
	Wrong string

	// Trace are the moves to that state, one per line. There is no shorter way.
	Trace string
}

// Run explores a model until there is a state that is wrong.
func Run[S comparable, M any](m Model[S, M]) Result {
	got := RunFirst(m, limit)
	if got.Wrong == "" && got.States > limit {
		got.Wrong = TooLarge
	}

	return got
}

// RunFirst explores the first states of a model, in the order of the number of moves that
// lead to them. What it finds to be wrong is wrong in the complete model, too.
func RunFirst[S comparable, M any](m Model[S, M], most int) Result {
	g := &graph[S, M]{model: m, index: map[S]int32{}}
	start := m.Start()
	g.add(&start, arrival[M]{from: -1})

	for ; g.explored < len(g.states) && g.explored < most; g.explored++ {
		i := int32(g.explored) //nolint:gosec // There are no more states than the limit.

		s := g.states[i]
		if wrong := m.Wrong(s); wrong != "" {
			return g.result(wrong, i)
		}

		m.Moves(s, func(e M, after *S) {
			to := g.add(after, arrival[M]{from: i, move: e})
			if !m.Fault(e) && to != i {
				g.edges = append(g.edges, [2]int32{i, to})
			}
		})
	}

	for goal := range m.Goals() {
		if i, stuck := g.stuck(goal); stuck {
			return g.result(Stuck, i)
		}
	}

	return Result{States: len(g.states), Edges: len(g.edges)}
}

// A graph has the states in the order of the number of moves that lead to them.
type graph[S comparable, M any] struct {
	model Model[S, M]

	// Pointers to them, since a slice is copied whenever it grows.
	states []*S
	index  map[S]int32

	// explored states come first. The moves from the others are not known.
	explored int

	// first is how each state was reached first.
	first []arrival[M]

	// edges that are no faults, as pairs.
	edges [][2]int32
}

type arrival[M any] struct {
	from int32
	move M
}

func (g *graph[S, M]) add(s *S, a arrival[M]) int32 {
	if i, ok := g.index[*s]; ok {
		return i
	}

	i := int32(len(g.states)) //nolint:gosec // There are no more states than the limit.
	g.index[*s] = i
	kept := *s
	g.states = append(g.states, &kept)
	g.first = append(g.first, a)

	return i
}

func (g *graph[S, M]) result(wrong string, i int32) Result {
	return Result{States: len(g.states), Edges: len(g.edges), Wrong: wrong, Trace: g.trace(i)}
}

// stuck returns the first state in which a goal is due, and from which no sequence of
// moves without faults reaches it. A state that is not explored may reach it.
func (g *graph[S, M]) stuck(goal int) (int32, bool) {
	back := make([][]int32, len(g.states))
	for _, e := range g.edges {
		back[e[1]] = append(back[e[1]], e[0])
	}

	good := make([]bool, len(g.states))

	var queue []int32

	for i := range g.states {
		if i >= g.explored || g.model.Reached(g.states[i], goal) {
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
		if !good[i] && g.model.Due(g.states[i], goal) {
			return int32(i), true
		}
	}

	return 0, false
}

// trace returns the moves to a state.
func (g *graph[S, M]) trace(i int32) string {
	var lines []string

	for ; g.first[i].from >= 0; i = g.first[i].from {
		lines = append(lines, g.model.Describe(g.first[i].move, g.states[g.first[i].from], g.states[i]))
	}

	b := &strings.Builder{}
	for n := range lines {
		fmt.Fprintf(b, "%3d. %s\n", n+1, lines[len(lines)-1-n])
	}

	return b.String()
}
