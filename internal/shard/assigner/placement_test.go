// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package assigner

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/uuid"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-terraform/internal/shard"
)

func TestAssignmentOf(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		labels map[string]string
		want   assignment
	}{
		"Assigned": {reason: "An assigner has written both labels.", labels: map[string]string{shard.LabelKey: "a", shard.AssignedLabelKey: "a"}, want: assignment{shard: "a"}},
		"Pinned":   {reason: "A person has written the label.", labels: map[string]string{shard.LabelKey: "a"}, want: assignment{shard: "a", pinned: true}},
		"Repinned": {reason: "A person has changed the label since.", labels: map[string]string{shard.LabelKey: "a", shard.AssignedLabelKey: "b"}, want: assignment{shard: "a", pinned: true}},
		"Empty":    {reason: "A person has written a label that no instance serves.", labels: map[string]string{shard.LabelKey: ""}, want: assignment{pinned: true}},
		"Marked":   {reason: "An assigner never writes an empty label. It is repaired.", labels: map[string]string{shard.LabelKey: "", shard.AssignedLabelKey: ""}},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if diff := cmp.Diff(tc.want, assignmentOf("", tc.labels), cmp.AllowUnexported(assignment{})); diff != "" {
				t.Errorf("\n%s\nassignmentOf(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// at returns assignments of n Workspaces to each of the shards, in order.
func at(n int, names ...string) []assignment {
	var all []assignment

	for _, name := range names {
		for i := range n {
			all = append(all, assignment{uid: types.UID(fmt.Sprintf("%s-%d", name, i)), shard: name})
		}
	}

	return all
}

func pinned(all []assignment) []assignment {
	for i := range all {
		all[i].pinned = true
	}

	return all
}

func TestArrange(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason  string
		members Members
		all     []assignment
		level   bool
		moves   int
		want    map[string]int
	}{
		"Empty":         {reason: "There is nothing to move.", members: Members{Here: []string{"a"}}, level: true},
		"Joined":        {reason: "A shard that joins gets its share, and nothing else moves.", members: Members{Here: []string{"a", "b", "c"}}, all: at(6, "a", "b"), level: true, moves: 4, want: map[string]int{"a": 4, "b": 4, "c": 4}},
		"JoinedLater":   {reason: "Nothing moves if only those of shards that are gone are placed.", members: Members{Here: []string{"a", "b", "c"}}, all: at(6, "a", "b"), want: map[string]int{"a": 6, "b": 6}},
		"Gone":          {reason: "Those of a shard that is gone are spread over the others.", members: Members{Here: []string{"b", "c"}}, all: at(4, "a", "b", "c"), moves: 4, want: map[string]int{"b": 6, "c": 6}},
		"GoneAndJoined": {reason: "They go to the shard that has joined at the same time.", members: Members{Here: []string{"b", "c"}}, all: at(4, "a", "b"), level: true, moves: 4, want: map[string]int{"b": 4, "c": 4}},
		"GoneAll":       {reason: "No place is better.", all: at(4, "a"), level: true, want: map[string]int{"a": 4}},
		"Away":          {reason: "A shard that may come back keeps what it has, and gets no others.", members: Members{Here: []string{"b", "c"}, Away: []string{"a", "d"}}, all: slices.Concat(at(9, "a"), at(2, "gone")), level: true, moves: 2, want: map[string]int{"a": 9, "b": 1, "c": 1}},
		"AllAway":       {reason: "Nothing moves to a shard without an instance.", members: Members{Away: []string{"a"}}, all: at(2, "gone"), level: true, want: map[string]int{"gone": 2}},
		"Pinned":        {reason: "Pinned ones count, and stay.", members: Members{Here: []string{"a", "b", "c"}}, all: slices.Concat(pinned(at(8, "a")), at(6, "b")), level: true, moves: 3, want: map[string]int{"a": 8, "b": 3, "c": 3}},
		"PinnedGone":    {reason: "So do those that are pinned to a shard that does not exist.", members: Members{Here: []string{"a", "b"}}, all: slices.Concat(pinned(at(5, "gone", "")), at(2, "b")), level: true, moves: 1, want: map[string]int{"": 5, "gone": 5, "a": 1, "b": 1}},
		"Drifted":       {reason: "One less or more is as good as it gets.", members: Members{Here: []string{"a", "b", "c"}}, all: slices.Concat(at(3, "a", "b"), at(2, "c")), level: true, want: map[string]int{"a": 3, "b": 3, "c": 2}},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			p := newPlacement(tc.members, tc.all)

			moves := p.arrange(tc.all, tc.level)
			if len(moves) != tc.moves {
				t.Errorf("\n%s\nmoves: want %d, got %v", tc.reason, tc.moves, moves)
			}

			if diff := cmp.Diff(tc.want, countsAfter(tc.all, moves), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("\n%s\nWorkspaces by shard: -want, +got:\n%s", tc.reason, diff)
			}

			maps.DeleteFunc(p.counts, func(_ string, n int) bool { return n == 0 })

			if diff := cmp.Diff(tc.want, p.counts, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("\n%s\ncounts: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestUnbalanced(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		counts []int
		want   bool
	}{
		"None":    {reason: "There are no members."},
		"Nothing": {reason: "There are no Workspaces.", counts: []int{0, 0}},
		"Even":    {reason: "All have the same.", counts: []int{4, 4, 4}},
		"Small":   {reason: "A small difference is not worth a move.", counts: []int{5, 4, 3}},
		"Large":   {reason: "One has more than 1.2 times the mean, and one more.", counts: []int{7, 4, 3}, want: true},
		"Few":     {reason: "One Workspace cannot be spread.", counts: []int{1, 0}},
		"New":     {reason: "A shard has joined while no assigner was elected.", counts: []int{4, 4, 4, 0}, want: true},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			p := newPlacement(Members{}, nil)

			for i, n := range tc.counts {
				name := strconv.Itoa(i)
				p.members.Here, p.counts[name] = append(p.members.Here, name), n
			}

			if got := p.unbalanced(); got != tc.want {
				t.Errorf("\n%s\nunbalanced(): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

// A world has Workspaces and shards that change at random.
type world struct {
	random *rand.Rand
	all    []assignment
	here   []string
	made   int
}

// uid returns one that looks like those of the API server.
func (w *world) uid() types.UID {
	w.made++

	return types.UID(uuid.NewSHA1(uuid.Nil, fmt.Append(nil, w.made)).String())
}

// create Workspaces, which the placement of the last list places.
func (w *world) create(p *placement, n int) {
	for range n {
		uid := w.uid()
		w.all = append(w.all, assignment{uid: uid, shard: p.place(uid)})
	}
}

// change lets a shard join or leave, which has no successor of the same name.
func (w *world) change() {
	if len(w.here) == 8 || len(w.here) > 1 && w.random.IntN(2) == 0 {
		w.here = slices.Delete(w.here, 0, 1)

		return
	}

	w.here = append(w.here, string(w.uid()))
}

// TestPlacements changes the members and the Workspaces at random. After each change of the members, the
// numbers of Workspaces differ by one at the most, and as few have moved as possible.
func TestPlacements(t *testing.T) {
	t.Parallel()

	for _, n := range []int{12, 100, 1_000, 10_000} {
		for seed := range uint64(4) {
			t.Run(fmt.Sprintf("%d/%d", n, seed), func(t *testing.T) {
				t.Parallel()

				w := &world{random: rand.New(rand.NewPCG(seed, uint64(n))), here: []string{"first"}}
				p := newPlacement(Members{Here: w.here}, nil)
				w.create(p, n)

				for range 20 {
					// Deletions are not seen before the next list.
					w.all = slices.DeleteFunc(w.all, func(assignment) bool { return w.random.IntN(10) == 0 })
					w.create(p, w.random.IntN(1+n/8))
					w.change()

					p = newPlacement(Members{Here: w.here}, w.all)
					moves := p.arrange(w.all, true)

					expectFewest(t, w, moves)

					for i, a := range w.all {
						if to, ok := moves[a.uid]; ok {
							w.all[i].shard = to
						}
					}

					expectEven(t, w)
				}
			})
		}
	}
}

// TestPlacementsWithPins pins Workspaces at random. No other one could move to make the numbers more even.
func TestPlacementsWithPins(t *testing.T) {
	t.Parallel()

	for seed := range uint64(8) {
		w := &world{random: rand.New(rand.NewPCG(seed, 0)), here: []string{"first"}}
		p := newPlacement(Members{Here: w.here}, nil)
		w.create(p, 200)

		for range 20 {
			w.create(p, w.random.IntN(20))
			w.change()

			for range w.random.IntN(30) {
				i := w.random.IntN(len(w.all))
				w.all[i].pinned, w.all[i].shard = true, w.here[w.random.IntN(len(w.here))]
			}

			p = newPlacement(Members{Here: w.here}, w.all)
			moves := p.arrange(w.all, true)
			fewest := slices.Min(slices.Collect(maps.Values(countsOf(w.here, countsAfter(w.all, moves)))))

			for i, a := range w.all {
				to, moved := moves[a.uid]
				if moved && a.pinned {
					t.Fatalf("a pinned Workspace moves from %q to %q", a.shard, to)
				}

				if moved {
					w.all[i].shard = to
				}
			}

			for _, a := range w.all {
				if !a.pinned && p.counts[a.shard] > fewest+1 {
					t.Fatalf("seed %d: a Workspace could move from a shard with %d to one with %d", seed, p.counts[a.shard], fewest)
				}
			}
		}
	}
}

// TestOrder ensures that the order of the list does not matter.
func TestOrder(t *testing.T) {
	t.Parallel()

	w := &world{random: rand.New(rand.NewPCG(1, 1)), here: []string{"a", "b", "c"}}
	w.create(newPlacement(Members{Here: []string{"a", "d"}}, nil), 100)

	backward := slices.Clone(w.all)
	slices.Reverse(backward)

	members := Members{Here: w.here}
	if diff := cmp.Diff(newPlacement(members, w.all).arrange(w.all, true), newPlacement(members, backward).arrange(backward, true)); diff != "" {
		t.Errorf("arrange(...): -forward, +backward:\n%s", diff)
	}
}

// TestReturn lets a shard leave and come back. It gets most of the Workspaces that it had.
func TestReturn(t *testing.T) {
	t.Parallel()

	w := &world{random: rand.New(rand.NewPCG(1, 1)), here: []string{"a", "b"}}
	w.create(newPlacement(Members{Here: w.here}, nil), 300)

	arrange := func(here ...string) map[types.UID]string {
		moves := newPlacement(Members{Here: here}, w.all).arrange(w.all, true)
		for i, a := range w.all {
			if to, ok := moves[a.uid]; ok {
				w.all[i].shard = to
			}
		}

		return moves
	}

	had := arrange("a", "b", "c")
	arrange("a", "b")

	again := 0

	for uid := range arrange("a", "b", "c") {
		if had[uid] == "c" {
			again++
		}
	}

	if again < 80 {
		t.Errorf("a shard that had %d Workspaces gets %d of them back", len(had), again)
	}
}

// expectEven ensures that the numbers of Workspaces differ by one at the most.
func expectEven(t *testing.T, w *world) {
	t.Helper()

	counts := slices.Sorted(maps.Values(countsOf(w.here, countsAfter(w.all, nil))))
	if counts[len(counts)-1]-counts[0] > 1 {
		t.Fatalf("Workspaces by shard: %v", counts)
	}
}

// expectFewest ensures that as many Workspaces stay as can: those of the fullest shards fill the larger
// shares.
func expectFewest(t *testing.T, w *world, moves map[types.UID]string) {
	t.Helper()

	counts := slices.Sorted(maps.Values(countsOf(w.here, countsAfter(w.all, nil))))
	slices.Reverse(counts)

	stay := 0

	for i, n := range counts {
		share := len(w.all) / len(w.here)
		if i < len(w.all)%len(w.here) {
			share++
		}

		stay += min(n, share)
	}

	if want := len(w.all) - stay; len(moves) != want {
		t.Fatalf("%d Workspaces move, want %d", len(moves), want)
	}
}

// countsAfter returns the numbers of Workspaces by shard.
func countsAfter(all []assignment, moves map[types.UID]string) map[string]int {
	counts := map[string]int{}

	for _, a := range all {
		if to, ok := moves[a.uid]; ok {
			a.shard = to
		}

		counts[a.shard]++
	}

	return counts
}

// countsOf returns the numbers of the supplied shards only.
func countsOf(names []string, counts map[string]int) map[string]int {
	some := map[string]int{}
	for _, name := range names {
		some[name] = counts[name]
	}

	return some
}
