// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package lease

import (
	"context"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	coordinationv1 "k8s.io/api/coordination/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"

	"github.com/crossplane-contrib/provider-terraform/internal/shard"
)

const namespace = "here"

func named(name string) leaseOption {
	return func(l *coordinationv1.Lease) { l.Name = name }
}

func TestObserver(t *testing.T) {
	t.Parallel()

	name := shard.CatchAll().LeaseName()
	timing := Timing{Duration: 10 * time.Second, RenewDeadline: 5 * time.Second, RetryPeriod: 2 * time.Second}

	type want struct {
		State State
		// Reads is the number of reads for the answer.
		Reads int
	}

	cases := map[string]struct {
		reason string
		// before is the Lease at the last read, at time zero.
		before *coordinationv1.Lease
		now    *coordinationv1.Lease
		err    error
		at     time.Duration
		// late is how long the answer of the API server takes.
		late time.Duration
		want want
	}{
		"AliveRecently": {
			reason: "An answer of alive may be a little old: many Workspaces wait for one instance.",
			before: newLease(named(name)),
			at:     2*time.Second - 1,
			want:   want{State: Alive},
		},
		"AliveTooLongAgo": {
			reason: "The last read is too old.",
			before: newLease(named(name)),
			now:    newLease(named(name), version2, signedBy(me), releasedBy(me)),
			at:     2 * time.Second,
			want:   want{State: Dead, Reads: 1},
		},
		"BornSince": {
			reason: "The current holder was not dead before: it had not started.",
			before: newLease(named(name), signedBy(old), releasedBy(old)),
			now:    newLease(named(name), version2),
			at:     time.Second,
			want:   want{State: Alive, Reads: 1},
		},
		"SucceededSince": {
			reason: "Another incarnation held it at the last read.",
			before: newLease(named(name), heldBy(rival)),
			now:    newLease(named(name), version2),
			at:     time.Second,
			want:   want{State: Alive, Reads: 1},
		},
		"Dead": {
			reason: "Death is final, but only a new read proves it.",
			before: newLease(named(name), heldBy(rival), signedBy(rival+","+me)),
			now:    newLease(named(name), heldBy(rival), signedBy(rival+","+me)),
			at:     time.Second,
			want:   want{State: Dead, Reads: 1},
		},
		"Expired": {
			reason: "It was not renewed since the last read.",
			before: newLease(named(name)),
			now:    newLease(named(name)),
			at:     10 * time.Second,
			want:   want{State: Dead, Reads: 1},
		},
		"LateAnswer": {
			reason: "It may have renewed its Lease since the request.",
			before: newLease(named(name)),
			now:    newLease(named(name)),
			at:     10*time.Second - 1,
			late:   time.Hour,
			want:   want{State: Alive, Reads: 1},
		},
		"Unreadable": {
			reason: "An instance whose Lease cannot be read may be alive.",
			before: newLease(named(name)),
			err:    errors.New("boom"),
			at:     time.Hour,
			want:   want{State: Unknown, Reads: 1},
		},
		"UnreadableRecently": {
			reason: "An instance that was alive a moment ago may be alive.",
			before: newLease(named(name)),
			err:    errors.New("boom"),
			at:     time.Second,
			want:   want{State: Alive},
		},
		"Missing": {
			reason: "The Lease may have existed when the state was requested.",
			want:   want{State: Alive, Reads: 1},
		},
		"Deleted": {
			reason: "A deleted Lease counts until its expiry.",
			before: newLease(named(name)),
			at:     10*time.Second - 1,
			want:   want{State: Alive, Reads: 1},
		},
		"DeletedAfterLong": {
			reason: "It was not read for its whole duration. Its holder may have renewed it until a moment ago.",
			before: newLease(named(name)),
			at:     10 * time.Second,
			want:   want{State: Alive, Reads: 1},
		},
	}

	for testName, tc := range cases {
		t.Run(testName, func(t *testing.T) {
			t.Parallel()

			now := time.Unix(1e9, 0)
			l := &leases{lease: tc.before}
			o := NewObserver(l, namespace, timing, logging.NewNopLogger())
			o.now = func() time.Time { return now }

			if err := o.refresh(t.Context()); err != nil {
				t.Fatal(err)
			}

			now = now.Add(tc.at)
			l.lease, l.err = tc.now, tc.err
			l.onGet = func() { now = now.Add(tc.late) }

			got := want{State: o.State(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, me), Reads: l.gets}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestObserverDeleted ensures that the time after which the holder of a deleted Lease is dead
// begins before its state is first requested.
func TestObserverDeleted(t *testing.T) {
	t.Parallel()

	start := time.Unix(1e9, 0)
	key := client.ObjectKey{Namespace: namespace, Name: shard.CatchAll().LeaseName()}
	l := &leases{lease: newLease(named(key.Name))}
	o := NewObserver(l, namespace, Timing{Duration: 10 * time.Second, RetryPeriod: time.Second}, logging.NewNopLogger())

	for _, at := range []time.Duration{0, 5 * time.Second, 9 * time.Second} {
		o.now = func() time.Time { return start.Add(at) }

		if err := o.refresh(t.Context()); err != nil {
			t.Fatal(err)
		}

		l.lease = nil
	}

	for at, want := range map[time.Duration]State{15*time.Second - 1: Alive, 15 * time.Second: Dead} {
		o.now = func() time.Time { return start.Add(at) }

		if diff := cmp.Diff(want, o.State(t.Context(), key, me)); diff != "" {
			t.Errorf("State(...) after %s: -want, +got:\n%s", at, diff)
		}
	}
}

// TestObserverRemembers asks about an instance whose Lease is missing, as an unsharded instance does at
// each poll of a Workspace with the claim of an earlier shard.
func TestObserverRemembers(t *testing.T) {
	t.Parallel()

	now := time.Unix(1e9, 0)
	key := client.ObjectKey{Namespace: namespace, Name: shard.CatchAll().LeaseName()}
	o := NewObserver(&leases{}, namespace, Timing{Duration: 10 * time.Second, RetryPeriod: time.Second}, logging.NewNopLogger())
	o.now = func() time.Time { return now }

	for _, step := range []struct {
		reason string
		after  time.Duration
		want   State
	}{
		{reason: "It was never seen to hold the Lease.", want: Alive},
		{reason: "Its Lease has been missing for the duration of one.", after: time.Minute, want: Dead},
		{reason: "The next poll comes years later.", after: 5 * 365 * 24 * time.Hour, want: Dead},
	} {
		now = now.Add(step.after)

		if err := o.refresh(t.Context()); err != nil {
			t.Fatal(err)
		}

		if diff := cmp.Diff(step.want, o.State(t.Context(), key, me)); diff != "" {
			t.Errorf("%s\nState(...): -want, +got:\n%s", step.reason, diff)
		}
	}
}

// TestObserverOtherNamespace ensures that Leases of another namespace are read when their state
// is requested.
func TestObserverOtherNamespace(t *testing.T) {
	t.Parallel()

	const asked = "asked"

	name := shard.CatchAll().LeaseName()

	cases := map[string]struct {
		reason string
		lease  *coordinationv1.Lease
		err    error
		// first is the state at once. then is the state one duration later.
		first, then State
	}{
		"Held":      {reason: "It is not renewed.", lease: newLease(named(name)), first: Alive, then: Dead},
		"Released":  {reason: "It was released.", lease: newLease(named(name), signedBy(me), releasedBy(me)), first: Dead, then: Dead},
		"Gone":      {reason: "The namespace may be deleted, and its instances soon.", first: Alive, then: Dead},
		"Forbidden": {reason: "Without the right to read it, the state is unknown.", err: errors.New("boom"), first: Unknown, then: Unknown},
	}

	for testName, tc := range cases {
		t.Run(testName, func(t *testing.T) {
			t.Parallel()

			now := time.Unix(1e9, 0)
			o := NewObserver(&leases{namespace: asked, lease: tc.lease, err: tc.err}, namespace, Timing{Duration: 10 * time.Second, RetryPeriod: time.Second}, logging.NewNopLogger())
			o.now = func() time.Time { return now }

			for _, want := range []State{tc.first, tc.then} {
				if diff := cmp.Diff(want, o.State(t.Context(), client.ObjectKey{Namespace: asked, Name: name}, me)); diff != "" {
					t.Errorf("%s\nState(...): -want, +got:\n%s", tc.reason, diff)
				}

				now = now.Add(10 * time.Second)
			}

			if got, _ := o.Serving(); len(got) > 0 {
				t.Errorf("%s\nServing(): %v is none of this namespace", tc.reason, got)
			}
		})
	}
}

// TestObserverShards ensures that Workspaces are assigned only to shards of this namespace that say
// so in their Lease.
func TestObserverShards(t *testing.T) {
	t.Parallel()

	one, err := shard.Parse("one")
	if err != nil {
		t.Fatal(err)
	}

	assignable := func(l *coordinationv1.Lease) { l.Labels = map[string]string{shard.AssignableLabelKey: "true"} }

	cases := map[string]struct {
		reason    string
		lease     *coordinationv1.Lease
		namespace string
		want      map[string]Presence
	}{
		"Held":       {reason: "It was not seen to renew.", lease: newLease(named(one.LeaseName()), assignable), namespace: namespace, want: map[string]Presence{"one": {Alive: true}}},
		"Released":   {reason: "Its Lease stays.", lease: newLease(named(one.LeaseName()), assignable, signedBy(me), releasedBy(me)), namespace: namespace, want: map[string]Presence{"one": {}}},
		"Manual":     {reason: "A shard without the flag gets no Workspaces.", lease: newLease(named(one.LeaseName())), namespace: namespace},
		"CatchAll":   {reason: "A catch-all needs no label.", lease: newLease(named(shard.CatchAll().LeaseName()), assignable), namespace: namespace},
		"Elsewhere":  {reason: "It is a shard of another installation.", lease: newLease(named(one.LeaseName()), assignable), namespace: "elsewhere"},
		"OtherLease": {reason: "It is not of a shard.", lease: newLease(named("other"), assignable), namespace: namespace},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			o := NewObserver(&leases{namespace: tc.namespace, lease: tc.lease}, namespace, Timing{Duration: 10 * time.Second, RetryPeriod: time.Second}, logging.NewNopLogger())
			o.State(t.Context(), client.ObjectKey{Namespace: tc.namespace, Name: tc.lease.Name}, me)

			got, _ := o.Shards()
			if diff := cmp.Diff(tc.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s\nShards(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestObserverUnsharded ensures that Unsharded says that the instance is dead only after a read from the
// API server.
func TestObserverUnsharded(t *testing.T) {
	t.Parallel()

	now := time.Unix(1e9, 0)
	l := &leases{}
	o := NewObserver(l, namespace, Timing{Duration: 10 * time.Second, RetryPeriod: 2 * time.Second}, logging.NewNopLogger())
	o.now = func() time.Time { return now }

	for i, step := range []struct {
		reason string
		holder string
		err    error
		after  time.Duration
		late   time.Duration
		// same says that the Lease is that of the previous step.
		same  bool
		want  State
		reads int
	}{
		{reason: "An instance holds the Lease.", holder: me, want: Alive, reads: 1},
		{reason: "It held it a moment ago: many Workspaces wait for it.", after: 2*time.Second - 1, want: Alive, reads: 1},
		{reason: "Another one holds it.", holder: rival, after: 1, want: Alive, reads: 2},
		{reason: "It was released.", after: 2 * time.Second, want: Dead, reads: 3},
		{reason: "It may have been taken since.", holder: me, want: Alive, reads: 4},
		{reason: "It may have been renewed since the request.", same: true, after: 10*time.Second - 1, late: time.Hour, want: Alive, reads: 5},
		{reason: "It cannot be read.", err: errors.New("boom"), after: 2 * time.Second, want: Unknown, reads: 6},
	} {
		now = now.Add(step.after)
		l.onGet = func() { now = now.Add(step.late) }
		l.err = step.err

		if !step.same {
			l.lease = newLease(named(shard.ID{}.LeaseName()), heldBy(step.holder), signedBy(rival+","+me), func(l *coordinationv1.Lease) { l.ResourceVersion = strconv.Itoa(i) })
		}

		if !step.same && step.holder == "" {
			releasedBy(rival)(l.lease)
		}

		if diff := cmp.Diff(step.want, o.Unsharded(t.Context())); diff != "" {
			t.Errorf("%s\nUnsharded(...): -want, +got:\n%s", step.reason, diff)
		}

		if l.gets != step.reads {
			t.Errorf("%s\nUnsharded(...): want %d reads until now, got %d", step.reason, step.reads, l.gets)
		}
	}
}

// TestObserverUnshardedHosts ensures that a shard that takes over gets the hosts of its predecessors.
func TestObserverUnshardedHosts(t *testing.T) {
	t.Parallel()

	name := shard.ID{}.LeaseName()
	l := &leases{}
	o := NewObserver(l, namespace, Timing{RetryPeriod: time.Hour}, logging.NewNopLogger())

	for _, step := range []struct {
		reason string
		lease  *coordinationv1.Lease
		want   []string
	}{
		{reason: "There is no Lease."},
		{
			reason: "An instance without signature held it last, and several on one host before.",
			lease:  newLease(named(name), heldBy("old-0_5ad8"), signedBy("pod-1_1f33,pod-0_2a44,pod-1_3b55")),
			want:   []string{"old-0", "pod-1", "pod-0"},
		},
		{reason: "The Lease was deleted.", want: []string{"old-0", "pod-1", "pod-0"}},
	} {
		l.lease = step.lease

		o.Unsharded(t.Context())

		if diff := cmp.Diff(step.want, o.UnshardedHosts()); diff != "" {
			t.Errorf("%s\nUnshardedHosts(): -want, +got:\n%s", step.reason, diff)
		}
	}
}

// TestObserverStart ensures that the Observer counts from its first read of a Lease, which is
// before its state is requested.
func TestObserverStart(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		name := shard.CatchAll().LeaseName()
		l := &leases{lease: newLease(named(name))}
		o := NewObserver(l, namespace, Timing{Duration: 10 * time.Second, RenewDeadline: 5 * time.Second, RetryPeriod: time.Second}, logging.NewNopLogger())

		if _, ok := o.Serving(); ok {
			t.Error("Serving(): an answer before anything was read")
		}

		ctx, cancel := context.WithCancel(t.Context())
		stopped := make(chan error, 1)

		go func() { stopped <- o.Start(ctx) }()

		synctest.Wait()
		expectServing(t, "It holds its Lease.", o, shard.CatchAll())

		<-time.After(10*time.Second - 1)
		synctest.Wait()
		expectServing(t, "It has the whole duration of its Lease to renew it.", o, shard.CatchAll())

		if diff := cmp.Diff(Alive, o.State(ctx, client.ObjectKey{Namespace: namespace, Name: name}, me)); diff != "" {
			t.Errorf("State(...): -want, +got:\n%s", diff)
		}

		<-time.After(1)
		expectServing(t, "It did not renew it.", o)

		if diff := cmp.Diff(Dead, o.State(ctx, client.ObjectKey{Namespace: namespace, Name: name}, me)); diff != "" {
			t.Errorf("State(...): -want, +got:\n%s", diff)
		}

		cancel()

		if err := <-stopped; err != nil {
			t.Error(err)
		}
	})
}

// TestObserverTooOld ensures that an Observer does not know who serves when it has not listed the Leases
// for a time, after which every instance that is alive would count as dead.
func TestObserverTooOld(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		const duration = 60 * time.Second

		l := &leases{lease: newLease(named(shard.CatchAll().LeaseName()))}
		o := NewObserver(l, namespace, Timing{Duration: duration, RetryPeriod: time.Second}, logging.NewNopLogger())

		set := func(change func()) {
			l.mu.Lock()
			defer l.mu.Unlock()

			change()
		}
		expect := func(reason string, want bool) {
			t.Helper()
			synctest.Wait()

			_, serving := o.Serving()
			_, shards := o.Shards()

			if serving != want || shards != want {
				t.Errorf("%s\nwant %t, got %t of Serving() and %t of Shards()", reason, want, serving, shards)
			}
		}

		ctx, cancel := context.WithCancel(t.Context())
		stopped := make(chan error, 1)

		go func() { stopped <- o.Start(ctx) }()

		expect("The Leases were listed.", true)

		set(func() { l.err = errors.New("forbidden") })
		<-time.After(duration/2 - 1)
		expect("One list or two may fail.", true)

		<-time.After(1)
		expect("The right to list Leases is gone.", false)

		set(func() { l.err = nil })
		<-time.After(o.interval)
		expect("The right is back.", true)

		set(func() { l.hangs = true })
		<-time.After(o.interval + duration/2)
		expect("A list has no answer, and the next one has.", true)

		cancel()

		if err := <-stopped; err != nil {
			t.Error(err)
		}
	})
}

func expectServing(t *testing.T, reason string, o *Observer, want ...shard.ID) {
	t.Helper()

	got, ok := o.Serving()
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b shard.ID) bool { return a == b })); diff != "" || !ok {
		t.Errorf("%s\nServing(): %t, -want, +got:\n%s", reason, ok, diff)
	}
}
