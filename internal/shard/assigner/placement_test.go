// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package assigner

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"k8s.io/apimachinery/pkg/types"
)

// uids returns UIDs that look like those of the API server, and are the same in each run.
func uids(n int) []types.UID {
	var all []types.UID
	for i := range n {
		all = append(all, types.UID(uuid.NewSHA1(uuid.Nil, fmt.Appendf(nil, "%d", i)).String()))
	}

	return all
}

func shards(n int) []string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf("provider-terraform-%d", i))
	}

	return all
}

// TestGolden has the shards of some UIDs in all versions and on all architectures.
func TestGolden(t *testing.T) {
	t.Parallel()

	var got []string
	for _, uid := range uids(8) {
		got = append(got, Place(uid, shards(5)))
	}

	want := []string{
		"provider-terraform-0",
		"provider-terraform-2",
		"provider-terraform-2",
		"provider-terraform-1",
		"provider-terraform-4",
		"provider-terraform-3",
		"provider-terraform-4",
		"provider-terraform-2",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Place(...): -want, +got:\n%s", diff)
	}
}

// TestOrder ensures that the order in which shards are known does not matter.
func TestOrder(t *testing.T) {
	t.Parallel()

	all := shards(7)
	backward := slices.Clone(all)
	slices.Reverse(backward)

	for _, uid := range uids(100) {
		if a, b := Place(uid, all), Place(uid, backward); a != b {
			t.Errorf("Place(%q, ...): want %q in any order, got %q", uid, a, b)
		}
	}
}

// TestMoved ensures that a shard that joins moves only its share, and only to itself.
func TestMoved(t *testing.T) {
	t.Parallel()

	const workspaces = 10_000

	all := uids(workspaces)

	for n := 1; n < 50; n++ {
		before, after, moved := shards(n), shards(n+1), 0

		for _, uid := range all {
			from, to := Place(uid, before), Place(uid, after)
			if from == to {
				continue
			}

			moved++

			if to != after[n] {
				t.Fatalf("%q moves from %q to %q, but only %q has joined", uid, from, to, after[n])
			}
		}

		// Four standard deviations of a binomial distribution.
		share := 1 / float64(n+1)
		ideal, slack := workspaces*share, 4*math.Sqrt(workspaces*share*(1-share))

		if math.Abs(float64(moved)-ideal) > slack {
			t.Errorf("shard %d joins: %d of %d Workspaces move, want %.0f +- %.0f", n+1, moved, workspaces, ideal, slack)
		}
	}
}

// TestSpread ensures that each of several shards has about its share.
func TestSpread(t *testing.T) {
	t.Parallel()

	const workspaces = 10_000

	all := uids(workspaces)

	for n := 1; n <= 50; n++ {
		counts := map[string]int{}
		for _, uid := range all {
			counts[Place(uid, shards(n))]++
		}

		share := 1 / float64(n)
		ideal, slack := workspaces*share, 5*math.Sqrt(workspaces*share*(1-share))

		for _, s := range shards(n) {
			if math.Abs(float64(counts[s])-ideal) > slack {
				t.Errorf("%d shards: %q has %d of %d Workspaces, want %.0f +- %.0f", n, s, counts[s], workspaces, ideal, slack)
			}
		}
	}
}
