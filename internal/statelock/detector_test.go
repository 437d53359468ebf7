// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package statelock

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
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

// TestMayBeLocked ensures that only a Workspace that an earlier instance may have worked on costs
// a plan with a lock.
func TestMayBeLocked(t *testing.T) {
	t.Parallel()

	took := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

	cases := map[string]struct {
		reason       string
		created      time.Time
		predecessors Predecessors
		observed     bool
		want         bool
	}{
		"Before":   {reason: "A predecessor may have worked on it.", created: took.Add(-time.Hour), predecessors: Predecessors{Hosts: []string{"a"}, Until: took}, want: true},
		"After":    {reason: "It did not exist then.", created: took.Add(time.Second), predecessors: Predecessors{Hosts: []string{"a"}, Until: took}},
		"Unknown":  {reason: "It is not known when this instance took over.", created: took, predecessors: Predecessors{Hosts: []string{"a"}}, want: true},
		"First":    {reason: "There was no predecessor.", created: took.Add(-time.Hour), predecessors: Predecessors{Until: took}},
		"Observed": {reason: "This instance has looked.", created: took.Add(-time.Hour), predecessors: Predecessors{Hosts: []string{"a"}, Until: took}, observed: true},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			d := Detector{FailedRuns: NewFailedRuns(), Predecessors: func(client.Object) Predecessors { return tc.predecessors }}
			o := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{UID: "a", CreationTimestamp: metav1.NewTime(tc.created)}}

			if got := d.MayBeLocked(o, tc.observed); got != tc.want {
				t.Errorf("\n%s\nMayBeLocked(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}
