// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package shard

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
)

func TestParseRange(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		text   string
		want   ID
		ok     bool
	}{
		"First":       {reason: "Ranges are counted from 0.", text: "0/3", want: ID{ranges: 3}, ok: true},
		"Last":        {reason: "The last range has the number N-1.", text: "2/3", want: ID{index: 2, ranges: 3}, ok: true},
		"Only":        {reason: "One range is all.", text: "0/1", want: ID{ranges: 1}, ok: true},
		"Most":        {reason: "There is a limit.", text: "1023/1024", want: ID{index: 1023, ranges: 1024}, ok: true},
		"Beyond":      {reason: "There is no such range.", text: "3/3"},
		"None":        {reason: "No range is no instance.", text: "0/0"},
		"Negative":    {reason: "There is no such range.", text: "-1/3"},
		"TooMany":     {reason: "This is a mistake.", text: "0/1025"},
		"NoNumber":    {reason: "It is no number.", text: "a/3"},
		"NoCount":     {reason: "The number of ranges is missing.", text: "0"},
		"EmptyCount":  {reason: "The number of ranges is missing.", text: "0/"},
		"Zeros":       {reason: "A range has one name.", text: "00/3"},
		"Sign":        {reason: "A range has one name.", text: "+0/3"},
		"TooMuch":     {reason: "It has three parts.", text: "0/3/4"},
		"Overflowing": {reason: "It is no number of this machine.", text: "0/18446744073709551617"},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got, err := ParseRange(tc.text)
			if tc.ok != (err == nil) {
				t.Errorf("%s\nParseRange(%q): %v", tc.reason, tc.text, err)
			}

			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(ID{})); diff != "" {
				t.Errorf("%s\nParseRange(%q): -want, +got:\n%s", tc.reason, tc.text, diff)
			}
		})
	}
}

func TestShardSelector(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		id     ID
		want   string
	}{
		"Unsharded": {reason: "Nothing is selected.", id: ID{}},
		"CatchAll":  {reason: "Labels are selected, and no hashes.", id: CatchAll()},
		"Only":      {reason: "One range is all.", id: ID{ranges: 1}, want: "shardRange(object.metadata.uid, '0x0000000000000000', '0x10000000000000000')"},
		"First":     {reason: "The first range begins at 0.", id: ID{ranges: 3}, want: "shardRange(object.metadata.uid, '0x0000000000000000', '0x5555555555555555')"},
		"Middle":    {reason: "A range begins where the one before ends.", id: ID{index: 1, ranges: 3}, want: "shardRange(object.metadata.uid, '0x5555555555555555', '0xaaaaaaaaaaaaaaaa')"},
		"Last":      {reason: "The last range ends at 2^64.", id: ID{index: 2, ranges: 3}, want: "shardRange(object.metadata.uid, '0xaaaaaaaaaaaaaaaa', '0x10000000000000000')"},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if diff := cmp.Diff(tc.want, tc.id.ShardSelector()); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestRanges has Workspaces without a label, and ranges of several numbers. Each Workspace is in one
// of them, and they have about the same number of Workspaces.
func TestRanges(t *testing.T) {
	t.Parallel()

	// With the race detector, all of them take as long as all other tests of the package.
	workspaces, numbers := 10000, []int{1, 2, 3, 7, 50}
	if testing.Short() {
		workspaces, numbers = 2000, []int{1, 2, 3, 7}
	}

	r := rand.New(rand.NewPCG(1, 2))

	uids := make([]types.UID, workspaces)
	for i := range uids {
		uids[i] = types.UID(fmt.Sprintf("%08x-%04x-4%03x-8%03x-%012x", r.Uint32(), r.Uint32N(1<<16), r.Uint32N(1<<12), r.Uint32N(1<<12), r.Uint64N(1<<48)))
	}

	for _, n := range numbers {
		sum := 0

		for i := range n {
			c := 0

			for _, uid := range uids {
				if (ID{index: i, ranges: n}).Serves(nil, uid) {
					c++
				}
			}

			sum += c

			if c*n < workspaces*7/10 || c*n > workspaces*13/10 {
				t.Errorf("range %d/%d has %d of %d Workspaces", i, n, c, workspaces)
			}
		}

		if sum != workspaces {
			t.Errorf("%d ranges: want each of %d Workspaces in one, got %d", n, workspaces, sum)
		}
	}
}

func TestRangeServesNoLabel(t *testing.T) {
	t.Parallel()

	if (ID{ranges: 1}).Serves(map[string]string{LabelKey: "a"}, "") {
		t.Error("a Workspace with a label belongs to the shard that it names")
	}
}

func TestServeUnlabelled(t *testing.T) {
	t.Parallel()

	half := []ID{{ranges: 2}, {index: 1, ranges: 2}}

	cases := map[string]struct {
		reason string
		ids    []ID
		want   bool
	}{
		"None":     {reason: "There is no instance."},
		"Shards":   {reason: "A shard serves what has its label.", ids: []ID{{name: "a"}}},
		"CatchAll": {reason: "The catch-all serves all.", ids: []ID{{name: "a"}, CatchAll()}, want: true},
		"Ranges":   {reason: "The ranges are all there is.", ids: half, want: true},
		"OneRange": {reason: "A range is missing.", ids: half[1:]},
		"Mixed":    {reason: "Ranges of different sizes may leave a gap.", ids: []ID{{ranges: 2}, {index: 2, ranges: 3}}},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if got := ServeUnlabelled(tc.ids); got != tc.want {
				t.Errorf("%s\nServeUnlabelled(%v): want %t, got %t", tc.reason, tc.ids, tc.want, got)
			}
		})
	}
}
