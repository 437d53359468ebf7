// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package statelock

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
)

// TestWhyKept has locks on the state of a Workspace that an instance on host-1, and an earlier one on
// host-0, have worked on. host-0 is that of this instance, which took over at a known time.
func TestWhyKept(t *testing.T) {
	t.Parallel()

	const (
		here, there = "host-0", "host-1"
		stranger    = "its holder may be alive"
		noRecord    = "no record of a run"
		longest     = time.Hour
	)

	took := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	before, after := took.Add(-time.Minute), took.Add(time.Minute)
	both := []string{here, there}
	died := func(who string) []Run { return []Run{{Who: who, Start: before}} }

	cases := map[string]struct {
		reason string
		hosts  []string
		runs   []Run
		who    string
		what   string
		at     time.Time
		when   string
		now    time.Time
		want   string // A part of it.
	}{
		"DiedHere":  {reason: "It died in a run.", hosts: both, runs: died("root@" + here), who: "root@" + here, at: before},
		"DiedThere": {reason: "The host does not matter.", hosts: both, runs: died("root@" + there), who: "root@" + there, at: before.Add(1)},
		"NoRunHere": {
			reason: "It died in no run on this Workspace: an instance of another cluster has its host name.",
			hosts:  both,
			who:    "root@" + here,
			at:     before,
			want:   noRecord,
		},
		"NoRunThere":     {reason: "The same, for a host that is not this one.", hosts: both, who: "root@" + there, at: before, want: noRecord},
		"BeforeTheRun":   {reason: "The run had not begun.", hosts: both, runs: died("root@" + here), who: "root@" + here, at: before.Add(-1), want: noRecord},
		"OtherUser":      {reason: "The run had another user.", hosts: both, runs: died("root@" + here), who: "alice@" + here, at: before, want: noRecord},
		"OtherHost":      {reason: "The run was on another host.", hosts: both, runs: died("root@" + here), who: "root@" + there, at: before, want: noRecord},
		"AfterLongest":   {reason: "No run takes that long.", hosts: both, runs: []Run{{Who: "root@" + here, Start: took.Add(-2 * longest)}}, who: "root@" + here, at: before, want: noRecord},
		"AfterTheRun":    {reason: "The run has ended.", hosts: both, runs: []Run{{Who: "root@" + here, Start: before.Add(-2), End: before.Add(-1)}}, who: "root@" + here, at: before, want: noRecord},
		"AfterTakeover":  {reason: "It is a person on this host, or this instance itself.", hosts: both, runs: died("root@" + here), who: "root@" + here, at: after, want: stranger},
		"MayBeAlive":     {reason: "It is not known to be dead.", runs: died("root@" + here), who: "root@" + here, at: before, want: stranger},
		"TookNothing":    {reason: "The run is in progress.", hosts: both, runs: []Run{{Who: "root@" + here, Start: after}}, who: "root@" + here, at: after, want: stranger},
		"Old":            {reason: "No run takes that long.", hosts: both, who: "root@" + here, at: before, now: before.Add(longest)},
		"AlmostOld":      {reason: "A run may take that long.", hosts: both, who: "root@" + here, at: before, now: before.Add(longest - 1), want: noRecord + " that made the lock, and an instance of another cluster may have the same host name. The provider removes it after 2026-01-02T04:03:05Z, when"},
		"OldStranger":    {reason: "A person may hold it for as long as they like.", hosts: both, who: "alice@laptop", at: before, now: before.Add(longest), want: stranger},
		"OldHere":        {reason: "This instance may hold it for another Workspace.", who: "root@" + here, at: before, now: before.Add(longest), want: stranger},
		"Stranger":       {reason: "It is unknown whether the holder is alive.", hosts: both, who: "alice@laptop", at: before, want: stranger},
		"Nobody":         {reason: "A lock without a host may belong to any process.", hosts: []string{""}, runs: died("alice"), who: "alice", at: before, want: stranger},
		"OddTime":        {reason: "The time of the lock matters.", hosts: both, runs: died("root@" + here), who: "root@" + here, when: "yesterday", want: stranger},
		"OwnFailure":     {reason: "A run of this instance failed to unlock.", runs: []Run{{Who: "root@" + here, Start: before, End: after}}, who: "root@" + here, at: took},
		"OtherTime":      {reason: "No failed run was in progress at that time.", runs: []Run{{Who: "root@" + here, Start: after, End: after.Add(1)}}, who: "root@" + here, at: took, want: stranger},
		"LockFree":       {reason: "A plan without a lock does not lock a state to change it: another process holds the lock.", runs: []Run{{Who: "root@" + here, Start: before, End: after, PlanWithoutLock: true}}, who: "root@" + here, what: "OperationTypeApply", at: took, want: stranger},
		"LockFreeFirst":  {reason: "A plan without a lock may have had to make the state.", runs: []Run{{Who: "root@" + here, Start: before, End: after, PlanWithoutLock: true}}, who: "root@" + here, what: "init", at: took},
		"DiedInLockFree": {reason: "The same, for an instance that died in it.", hosts: both, runs: []Run{{Who: "root@" + here, Start: before, PlanWithoutLock: true}}, who: "root@" + here, what: "OperationTypeApply", at: before, want: noRecord},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			ws := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{UID: "a"}}
			d := Detector{
				Host:         here,
				Predecessors: func(client.Object) Predecessors { return Predecessors{Hosts: tc.hosts, Until: took} },
				FailedRuns:   NewFailedRuns(),
				LongestRun:   longest,
			}
			d.FailedRuns.Record("a", tc.runs...)

			l := terraform.Lock{Who: tc.who, Operation: tc.what, Created: tc.when}
			if l.Created == "" {
				l.Created = tc.at.String()
			}

			if tc.now.IsZero() {
				tc.now = after
			}

			got, removal := d.WhyKept(ws, l, tc.now)
			if (got == "") != (tc.want == "") || !strings.Contains(got, tc.want) {
				t.Errorf("\n%s\nWhyKept(...): want %q, got %q", tc.reason, tc.want, got)
			}

			if waits := strings.HasPrefix(tc.want, noRecord); waits == removal.IsZero() || waits && !removal.Equal(tc.at.Add(longest)) {
				t.Errorf("\n%s\nWhyKept(...): removal at %s", tc.reason, removal)
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
