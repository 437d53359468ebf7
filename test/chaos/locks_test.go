// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"testing"
	"time"
)

// TestTakenBy has a lock that an instance "b" has taken at 01:00:00, and the run that may have done it.
func TestTakenBy(t *testing.T) {
	t.Parallel()

	const (
		uid   = "uid-1"
		state = "kubernetes/ns/suffix/ws-1"
		info  = `{"ID":"1","Operation":"OperationTypeApply","Who":"root@b","Created":"2026-01-01T01:00:00Z"}`
	)

	at := func(d time.Duration) int64 { return time.Date(2026, 1, 1, 1, 0, 0, 0, time.UTC).Add(d).UnixNano() }

	cases := map[string]struct {
		reason string
		change func(r *run)
		want   bool
	}{
		"Taken":     {reason: "The run was in progress.", want: true},
		"NotSeen":   {reason: "No end of the run was seen.", change: func(r *run) { r.end = 0 }, want: true},
		"Workspace": {reason: "The run was for another Workspace.", change: func(r *run) { r.uid = "uid-2" }},
		"State":     {reason: "The run has used another state.", change: func(r *run) { r.state += "0" }},
		"Host":      {reason: "The run was on another host.", change: func(r *run) { r.instance = "b2#2" }},
		"Before":    {reason: "The run was over.", change: func(r *run) { r.end = at(-1) }},
		"After":     {reason: "The run had not begun.", change: func(r *run) { r.start = at(1) }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r := run{uid: uid, instance: "b#2", command: "apply", state: state, start: at(-time.Second), end: at(time.Second)}
			if tc.change != nil {
				tc.change(&r)
			}

			if got := takenBy(uid, state, info, []run{r}); got != tc.want {
				t.Errorf("%s\nwant %v, got %v", tc.reason, tc.want, got)
			}
		})
	}

	if takenBy(uid, state, "", []run{{uid: uid, state: state}}) {
		t.Error("want nothing to be known of a lock without a description")
	}
}
