// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package lease

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestPause makes the API server unavailable for an hour, for an instance that may pause.
func TestPause(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		busy   bool
		fault  fault
		// meanwhile is called in the middle of the outage.
		meanwhile func(t *testing.T, s *apiServer)
		pauses    []bool
		lost      bool
	}{
		"Idle":        {reason: "It continues when it has its Lease again.", fault: refused, pauses: []bool{true, false}},
		"IdleHanging": {reason: "The kind of failure does not matter.", fault: hanging, pauses: []bool{true, false}},
		"Busy":        {reason: "Work in progress must have ended before others take over.", busy: true, fault: refused, lost: true},
		"Taken": {
			reason: "Another instance works now.",
			fault:  refused,
			meanwhile: func(t *testing.T, s *apiServer) {
				t.Helper()
				newCandidate(s, rival, standard()).start(t)
			},
			pauses: []bool{true},
			lost:   true,
		},
		"TakenAndReleased": {
			reason: "Another instance has worked, so the records of this one are out of date.",
			fault:  refused,
			meanwhile: func(t *testing.T, s *apiServer) {
				t.Helper()
				s.change(edited(signedBy(rival+","+me), releasedBy(rival)))
			},
			pauses: []bool{true},
			lost:   true,
		},
		"Deleted": {
			reason: "Another instance may have worked.",
			fault:  refused,
			meanwhile: func(t *testing.T, s *apiServer) {
				t.Helper()
				s.change(deleted)
			},
			pauses: []bool{true},
			lost:   true,
		},
		"Emptied": {
			reason: "Another instance would have left its name.",
			fault:  refused,
			meanwhile: func(t *testing.T, s *apiServer) {
				t.Helper()
				s.change(edited(heldBy("")))
			},
			pauses: []bool{true, false},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := &apiServer{}
				c := newCandidate(s, me, standard()).mayPause(tc.busy).start(t)

				until(outage)

				_, since := c.Predecessors()

				c.client.become(tc.fault)
				until(outage + time.Minute)

				if armed := c.fence.at() != 0; armed == (len(tc.pauses) > 0) {
					t.Errorf("%s\nfence is armed: %t", tc.reason, armed)
				}

				if tc.meanwhile != nil {
					tc.meanwhile(t, s)
				}

				until(outage + time.Hour)
				c.client.become(0)
				until(outage + time.Hour + time.Minute)

				_, lost, err := c.events()
				if tc.lost != (lost != 0) {
					t.Errorf("%s\nlost at %s: %v", tc.reason, lost, err)
				}

				c.mu.Lock()
				pauses := c.pauses
				c.mu.Unlock()

				if diff := cmp.Diff(tc.pauses, pauses, cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("%s\npaused, and resumed: -want, +got:\n%s", tc.reason, diff)
				}

				if now := outage + time.Hour + time.Minute; !tc.lost && c.fence.at() < now+50*time.Second {
					t.Errorf("%s\nfence at %s, now is %s", tc.reason, c.fence.at(), now)
				}

				if _, got := c.Predecessors(); !got.Equal(since) {
					t.Errorf("%s\nholds the Lease since %s, want %s", tc.reason, got, since)
				}

				c.end()
			})
		})
	}
}
