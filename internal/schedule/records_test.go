// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/queue"
)

func TestRecords(t *testing.T) {
	t.Parallel()

	type want struct {
		Known, Observed bool
		Failures        int
	}

	other := func() *clusterv1beta1.Workspace {
		return settled(func(ws *clusterv1beta1.Workspace) { ws.SetUID("b") })
	}

	cases := map[string]struct {
		reason string
		do     func(r *Records)
		want   want
	}{
		"Recorded": {
			reason: "The next reconcile gets the observation of the last one.",
			do: func(r *Records) {
				r.Observe(settled(), Observation{})
				r.Fail(settled())
			},
			want: want{Known: true, Observed: true, Failures: 1},
		},
		"Left": {
			reason: "Records of a reconcile after its Workspace has left the cache are dropped.",
			do: func(r *Records) {
				r.Forget(settled())
				r.Observe(settled(), Observation{})
				r.Fail(settled())
			},
		},
		"Returned": {
			reason: "Another instance had the Workspace in between.",
			do: func(r *Records) {
				r.Observe(settled(), Observation{})
				r.Fail(settled())
				r.Forget(settled())
				r.Begin(settled())
			},
			want: want{Known: true},
		},
		"Replaced": {
			reason: "Another Workspace of the same name has its own record.",
			do: func(r *Records) {
				r.Begin(other())
				r.Observe(settled(), Observation{})
				r.Fail(settled())
			},
		},
		"ForgotObservation": {
			reason: "The Workspace is about to be changed.",
			do: func(r *Records) {
				r.Observe(settled(), Observation{})
				r.Fail(settled())
				r.ForgetObservation(settled())
			},
			want: want{Known: true, Failures: 1},
		},
		"Succeeded": {
			reason: "The next failure is the first one.",
			do: func(r *Records) {
				r.Fail(settled())
				r.Fail(settled())
				r.Succeed(settled())
				r.Fail(settled())
			},
			want: want{Known: true, Failures: 1},
		},
		"Changed": {
			reason: "A change by a person may fix the Workspace.",
			do: func(r *Records) {
				r.Fail(settled())
				r.Fail(settled())
				r.Fail(settled(changedSpec))
			},
			want: want{Known: true, Failures: 1},
		},
		"Deleted": {
			reason: "A deletion is not the same as a creation.",
			do: func(r *Records) {
				r.Fail(settled())
				r.Fail(settled(beingDeleted))
				r.Fail(settled(beingDeleted))
			},
			want: want{Known: true, Failures: 2},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r := NewRecords(Policy{Interval: time.Minute}, time.Now)
			r.Begin(settled())
			tc.do(r)

			rec := r.Get(settled())
			got := want{Known: rec.UID != "", Observed: rec.Observed(), Failures: rec.Failures.Count}

			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestFail ensures that the retry delay of a Workspace grows with each failure, and that a few
// failures make the Workspace stalled.
func TestFail(t *testing.T) {
	t.Parallel()

	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	r := NewRecords(Policy{Interval: time.Hour}, func() time.Time { return now })
	r.Begin(settled())

	for n := 1; n <= stallAfter+1; n++ {
		f := r.Fail(settled())

		want := Failures{Count: n, Retry: now.Add(Policy{Interval: time.Hour}.backoff(n)), desired: Desired(settled())}
		if diff := cmp.Diff(want, f, cmp.AllowUnexported(Failures{})); diff != "" {
			t.Errorf("Fail(...): -want, +got:\n%s", diff)
		}

		if stalled := n >= stallAfter; f.Stalled() != stalled {
			t.Errorf("Stalled() after %d failures: want %t, got %t", n, stalled, f.Stalled())
		}
	}
}

// TestRetryBy ensures that a retry is moved forward only.
func TestRetryBy(t *testing.T) {
	t.Parallel()

	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	r := NewRecords(Policy{Interval: time.Hour}, func() time.Time { return now })
	r.Begin(settled())

	planned := r.Fail(settled()).Retry
	if got := r.RetryBy(settled(), planned.Add(1)).Retry; !got.Equal(planned) {
		t.Errorf("RetryBy(...) of a later time: want %s, got %s", planned, got)
	}

	if got := r.RetryBy(settled(), now.Add(1)).Retry; !got.Equal(now.Add(1)) {
		t.Errorf("RetryBy(...) of an earlier time: want %s, got %s", now.Add(1), got)
	}
}

// TestAnnotatedIsUrgent ensures that a Workspace that a person has annotated precedes all polls
// until it was observed.
func TestAnnotatedIsUrgent(t *testing.T) {
	t.Parallel()

	r := NewRecords(Policy{Interval: time.Minute}, time.Now)
	plain, annotated := settled(), settled(annotatedWith("example.org/refresh", "1"))
	expect := func(reason string, want queue.Priority) {
		t.Helper()

		if got := r.class(requestOf("ws")).Priority; got != want {
			t.Errorf("%s\nclass(...): want priority %v, got %v", reason, want, got)
		}
	}

	expect("There is no such Workspace.", queue.Routine)
	r.Begin(plain)
	expect("An instance that has just started does not know of any change.", queue.Routine)
	r.Update(annotated)
	expect("A person waits for it.", queue.Urgent)
	r.Fail(annotated)
	r.Update(annotated)
	expect("It was tried.", queue.Routine)
	r.Observe(annotated, Observation{})
	r.Update(annotated)
	expect("It was observed.", queue.Routine)
	r.Update(plain)
	expect("A person has removed the annotation.", queue.Urgent)
}

// TestApplied ensures that the time from a change to its effect is known, once for each change.
func TestApplied(t *testing.T) {
	t.Parallel()

	const run = time.Minute

	observed := Observation{UpToDate: true}
	wasPlanned := func(r *Records, ws *clusterv1beta1.Workspace) {
		r.ForgetObservation(ws)
		r.Update(ws)
		r.Observe(ws, observed)
	}

	type want struct {
		Took time.Duration
		OK   bool
	}

	cases := map[string]struct {
		reason string
		begin  *clusterv1beta1.Workspace
		do     func(r *Records, pass func(time.Duration))
		ws     *clusterv1beta1.Workspace
		want   want
	}{
		"Created": {
			reason: "A new Workspace is a change.",
			begin:  newWorkspace("a"),
			do: func(r *Records, pass func(time.Duration)) {
				pass(run)
				r.Observe(newWorkspace("a"), observed)
			},
			ws:   newWorkspace("a"),
			want: want{Took: run, OK: true},
		},
		"Settled": {
			reason: "A Workspace that another instance has made Ready is no change.",
			begin:  settled(),
			do:     func(r *Records, _ func(time.Duration)) { wasPlanned(r, settled()) },
			ws:     settled(),
		},
		"Changed": {
			reason: "The time begins with the change.",
			begin:  settled(),
			do: func(r *Records, pass func(time.Duration)) {
				pass(time.Hour)
				r.Update(settled(changedSpec))
				pass(run)
				wasPlanned(r, settled(changedSpec))
			},
			ws:   settled(changedSpec),
			want: want{Took: run, OK: true},
		},
		"Once": {
			reason: "The polls after that are no changes.",
			begin:  settled(),
			do: func(r *Records, _ func(time.Duration)) {
				r.Update(settled(changedSpec))
				wasPlanned(r, settled(changedSpec))
				r.Applied(settled(changedSpec))
				wasPlanned(r, settled(changedSpec))
			},
			ws: settled(changedSpec),
		},
		"ChangedDuringRun": {
			reason: "The observation does not show the change.",
			begin:  settled(),
			do: func(r *Records, _ func(time.Duration)) {
				r.Update(settled(changedSpec))
				r.Observe(settled(), observed)
			},
			ws: settled(changedSpec),
		},
		"NotReady": {
			reason: "There are changes that may not be made.",
			begin:  newWorkspace("a"),
			do:     func(r *Records, _ func(time.Duration)) { r.Observe(newWorkspace("a"), Observation{Exists: true}) },
			ws:     newWorkspace("a"),
		},
		"Deleted": {
			reason: "A deleted Workspace does not become Ready.",
			begin:  settled(),
			do: func(r *Records, _ func(time.Duration)) {
				r.Update(settled(beingDeleted, changedSpec))
				r.Observe(settled(beingDeleted, changedSpec), observed)
			},
			ws: settled(beingDeleted, changedSpec),
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
			r := NewRecords(Policy{Interval: time.Hour}, func() time.Time { return now })
			r.Begin(tc.begin)
			tc.do(r, func(d time.Duration) { now = now.Add(d) })

			took, ok := r.Applied(tc.ws)
			if diff := cmp.Diff(tc.want, want{Took: took, OK: ok}); diff != "" {
				t.Errorf("\n%s\nApplied(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
