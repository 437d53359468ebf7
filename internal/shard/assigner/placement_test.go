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

// maxShards is the number of shards up to which placements are tested.
const maxShards = 20

// TestPlacements tests the placements of 2,000 Workspaces on each number of shards.
func TestPlacements(t *testing.T) {
	t.Parallel()

	all := uids(2_000)
	placements := make([][]string, maxShards+1)

	for n := 1; n <= maxShards; n++ {
		names := shards(n)
		for _, uid := range all {
			placements[n] = append(placements[n], Place(uid, names))
		}
	}

	t.Run("Moved", func(t *testing.T) { testMoved(t, all, placements) })
	t.Run("Spread", func(t *testing.T) { testSpread(t, placements) })
}

// testMoved ensures that a shard that joins moves only its share, and only to itself.
func testMoved(t *testing.T, all []types.UID, placements [][]string) {
	t.Helper()

	for n := 1; n < maxShards; n++ {
		joined, moved := shards(n + 1)[n], 0

		for i, from := range placements[n] {
			to := placements[n+1][i]
			if from == to {
				continue
			}

			moved++

			if to != joined {
				t.Fatalf("%q moves from %q to %q, but only %q has joined", all[i], from, to, joined)
			}
		}

		// Four standard deviations of a binomial distribution.
		ideal, slack := binomial(len(all), 1/float64(n+1), 4)

		if math.Abs(float64(moved)-ideal) > slack {
			t.Errorf("shard %d joins: %d of %d Workspaces move, want %.0f +- %.0f", n+1, moved, len(all), ideal, slack)
		}
	}
}

// testSpread ensures that each of several shards has about its share.
func testSpread(t *testing.T, placements [][]string) {
	t.Helper()

	for n := 1; n <= maxShards; n++ {
		counts := map[string]int{}
		for _, s := range placements[n] {
			counts[s]++
		}

		ideal, slack := binomial(len(placements[n]), 1/float64(n), 5)

		for _, s := range shards(n) {
			if math.Abs(float64(counts[s])-ideal) > slack {
				t.Errorf("%d shards: %q has %d of %d Workspaces, want %.0f +- %.0f", n, s, counts[s], len(placements[n]), ideal, slack)
			}
		}
	}
}

// binomial returns the mean of a binomial distribution, and a number of standard deviations.
func binomial(n int, p, deviations float64) (mean, slack float64) {
	return float64(n) * p, deviations * math.Sqrt(float64(n)*p*(1-p))
}
