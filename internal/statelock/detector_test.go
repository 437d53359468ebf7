// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package statelock

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
)

func TestIsOrphan(t *testing.T) {
	t.Parallel()

	const here, there = "host-0", "host-1"

	took := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	before, after := took.Add(-time.Minute), took.Add(time.Minute)

	cases := map[string]struct {
		reason string
		hosts  []string
		failed []Run
		who    string
		what   string
		at     time.Time
		when   string
		want   bool
	}{
		"Dead": {
			reason: "The only instance on that host is dead.",
			hosts:  []string{there},
			who:    "root@" + there,
			at:     after,
			want:   true,
		},
		"Stranger": {
			reason: "It is unknown whether the holder is alive.",
			hosts:  []string{there},
			who:    "alice@laptop",
			at:     before,
		},
		"Nobody": {
			reason: "A lock without a host may belong to any process.",
			hosts:  []string{""},
			who:    "alice",
			at:     before,
		},
		"DeadHere": {
			reason: "An earlier incarnation was on the host of this one.",
			hosts:  []string{here},
			who:    "root@" + here,
			at:     before,
			want:   true,
		},
		"AliveHere": {
			reason: "It was not an earlier incarnation: it is a person on this host, or this instance itself.",
			hosts:  []string{here},
			who:    "root@" + here,
			at:     after,
		},
		"NoPredecessor": {
			reason: "There was no earlier instance.",
			who:    "root@" + here,
			at:     before,
		},
		"OwnFailure": {
			reason: "A run of this instance failed to unlock.",
			failed: []Run{{Start: before, End: after}},
			who:    "root@" + here,
			at:     took,
			want:   true,
		},
		"OwnPlan": {
			reason: "A plan without a lock does not lock a state to change it: another process holds the lock.",
			failed: []Run{{Start: before, End: after, PlanWithoutLock: true}},
			who:    "root@" + here,
			what:   "OperationTypeApply",
			at:     took,
		},
		"OwnFirstPlan": {
			reason: "A plan without a lock may have had to make the state.",
			failed: []Run{{Start: before, End: after, PlanWithoutLock: true}},
			who:    "root@" + here,
			what:   "init",
			at:     took,
			want:   true,
		},
		"OwnFailureElsewhere": {
			reason: "No run of this instance locks on another host.",
			failed: []Run{{Start: before, End: after}},
			who:    "root@" + there,
			at:     took,
		},
		"OtherTime": {
			reason: "No failed run of this instance was running at that time.",
			failed: []Run{{Start: after, End: after.Add(time.Minute)}},
			who:    "root@" + here,
			at:     took,
		},
		"OddTime": {
			reason: "On this host the time matters.",
			hosts:  []string{here},
			who:    "root@" + here,
			when:   "yesterday",
		},
		"OddTimeElsewhere": {
			reason: "On another host it does not matter.",
			hosts:  []string{there},
			who:    "root@" + there,
			when:   "yesterday",
			want:   true,
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			ws := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{UID: "a"}}
			d := Detector{
				Host:         here,
				Predecessors: func(client.Object) Predecessors { return Predecessors{Hosts: tc.hosts, Until: took} },
				FailedRuns:   NewFailedRuns(),
			}

			for _, s := range tc.failed {
				d.FailedRuns.Record("a", s)
			}

			l := terraform.Lock{Who: tc.who, Operation: tc.what, Created: tc.when}
			if l.Created == "" {
				l.Created = tc.at.String()
			}

			if got := d.IsOrphan(ws, l); got != tc.want {
				t.Errorf("\n%s\nIsOrphan(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}
