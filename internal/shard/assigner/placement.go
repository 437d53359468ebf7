// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package assigner

import (
	"cmp"
	"slices"

	"github.com/cespare/xxhash/v2"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-terraform/internal/shard"
)

// An assignment is the shard of a Workspace according to its labels.
type assignment struct {
	uid   types.UID
	shard string

	// pinned says that a person or a Composition has written the label of the shard. It stays, even if no
	// instance can serve it.
	pinned bool
}

// assignmentOf returns the assignment of a Workspace that has the label of a shard.
//
// A Workspace that is deleted or paused is assigned like any other: a deletion needs an instance to
// finish it, and a pause ends.
func assignmentOf(uid types.UID, labels map[string]string) assignment {
	label := labels[shard.LabelKey]
	assigned, marked := labels[shard.AssignedLabelKey]

	return assignment{uid: uid, shard: label, pinned: !marked || label != assigned}
}

// A placement counts the Workspaces of each member. The labels of the Workspaces are the only record of
// where they are: a Workspace that is well placed stays, regardless of how it came there.
//
// Every Workspace counts the same, regardless of its cost. If 10 % of 1,000 Workspaces cost a hundred
// times as much as the others, the busiest of 5 shards has 1.19 times the mean, and of 8 shards 1.38
// times. To weigh them, the assigner would have to know the cost of each, and would move Workspaces
// whenever the costs change.
type placement struct {
	members Members
	counts  map[string]int // of all shards, members or not
}

func newPlacement(members Members, all []assignment) *placement {
	p := &placement{members: members, counts: map[string]int{}}
	for _, a := range all {
		p.counts[a.shard]++
	}

	return p
}

// place returns the shard of a Workspace that has none, and counts it there: the member with an instance
// that has the fewest Workspaces. Of several, it is the one with the highest score. It is empty if there
// is none: nothing moves to a shard without an instance.
func (p *placement) place(uid types.UID) string {
	if len(p.members.Here) == 0 {
		return ""
	}

	to := slices.MinFunc(p.members.Here, func(a, b string) int {
		return cmp.Or(cmp.Compare(p.counts[a], p.counts[b]), cmp.Compare(score(uid, b), score(uid, a)))
	})
	p.counts[to]++

	return to
}

// unbalanced says whether the shards have drifted apart since the members last changed, because
// Workspaces were deleted or pinned. Small differences are not worth a move.
func (p *placement) unbalanced() bool {
	total, most, least := 0, 0, 0

	for i, name := range p.members.Here {
		n := p.counts[name]
		total, most = total+n, max(most, n)

		if i == 0 || n < least {
			least = n
		}
	}

	k := len(p.members.Here)

	// A member without any Workspace has joined before this assigner was elected.
	return k > 0 && (float64(most) > 1.2*float64(total)/float64(k)+1 || least == 0 && most > 1)
}

// arrange returns the new shard of each Workspace that has to move, and counts it there. Those of shards
// that are gone are placed. Only if level is set, the members with an instance then give to each other
// until their numbers differ by one at the most, as far as Workspaces are not pinned. That takes as few
// moves as possible. A shard that comes back gets the same Workspaces as when it joined, as far as they
// have the highest scores for it: their directories may still be there.
func (p *placement) arrange(all []assignment, level bool) map[types.UID]string {
	if len(p.members.Here) == 0 {
		return nil // Every place is as bad as the current one.
	}

	moves := map[types.UID]string{}
	movable := map[string][]types.UID{}
	members := p.members.All()

	// The order of a list may change, and must not matter.
	for _, a := range slices.SortedFunc(slices.Values(all), func(a, b assignment) int { return cmp.Compare(a.uid, b.uid) }) {
		if !a.pinned && !slices.Contains(members, a.shard) {
			p.counts[a.shard]--
			a.shard = p.place(a.uid)
			moves[a.uid] = a.shard
		}

		if !a.pinned {
			movable[a.shard] = append(movable[a.shard], a.uid)
		}
	}

	if level {
		for _, t := range p.level(movable) {
			from := movable[t.from]
			slices.SortFunc(from, func(a, b types.UID) int { return cmp.Compare(score(b, t.to), score(a, t.to)) })

			for _, uid := range from[:t.n] {
				moves[uid] = t.to
			}

			movable[t.from] = from[t.n:]
		}
	}

	return moves
}

// A transfer moves n Workspaces from one member to another one.
type transfer struct {
	from, to string
	n        int
}

// level returns the transfers after which the members with an instance have the same number of Workspaces,
// or one more. It counts each of them. A member can give its movable Workspaces only.
func (p *placement) level(movable map[string][]types.UID) []transfer {
	var all []transfer

	given := map[string]int{}

	for {
		t := transfer{n: 1}

		for _, name := range p.members.Here {
			if t.to == "" || p.counts[name] < p.counts[t.to] {
				t.to = name
			}

			if len(movable[name]) > given[name] && (t.from == "" || p.counts[name] > p.counts[t.from]) {
				t.from = name
			}
		}

		if t.from == "" || p.counts[t.from]-p.counts[t.to] < 2 {
			return all
		}

		p.counts[t.from]--
		p.counts[t.to]++
		given[t.from]++

		if i := slices.IndexFunc(all, func(o transfer) bool { return o.from == t.from && o.to == t.to }); i >= 0 {
			all[i].n++
		} else {
			all = append(all, t)
		}
	}
}

// score ranks the shards of a Workspace, and the Workspaces of a shard, as rendezvous hashing does. The
// names of shards contain no zero byte.
func score(uid types.UID, name string) uint64 {
	return xxhash.Sum64String(name + "\x00" + string(uid))
}
