// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package chaos

import "slices"

// badEnds returns the processes that failed at their last SIGTERM. An instance that cannot
// renew or release its Lease is to fail. Without any fault only an overloaded machine may be
// the reason.
func badEnds(notes []note) []violation {
	var bad []violation

	for _, n := range notes {
		if n.failed && !slices.ContainsFunc(notes, func(s note) bool { return s.kind == slow && abs(s.time-n.time) < int64(lookBack) }) {
			bad = append(bad, violation{time: n.time, instances: []string{n.ended}, text: n.text})
		}
	}

	return bad
}

func abs(n int64) int64 { return max(n, -n) }
