// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/queue"
	"github.com/crossplane-contrib/provider-terraform/internal/redact"
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
				r.Observe(settled(), Observation{}, nil)
				r.Fail(settled(), false)
			},
			want: want{Known: true, Observed: true, Failures: 1},
		},
		"Left": {
			reason: "Records of a reconcile after its Workspace has left the cache are dropped.",
			do: func(r *Records) {
				r.Forget(settled())
				r.Observe(settled(), Observation{}, nil)
				r.Fail(settled(), false)
			},
		},
		"Returned": {
			reason: "Another instance had the Workspace in between.",
			do: func(r *Records) {
				r.Observe(settled(), Observation{}, nil)
				r.Fail(settled(), false)
				r.Forget(settled())
				r.Begin(settled())
			},
			want: want{Known: true},
		},
		"Replaced": {
			reason: "Another Workspace of the same name has its own record.",
			do: func(r *Records) {
				r.Begin(other())
				r.Observe(settled(), Observation{}, nil)
				r.Fail(settled(), false)
			},
		},
		"ForgotObservation": {
			reason: "The Workspace is about to be changed.",
			do: func(r *Records) {
				r.Observe(settled(), Observation{}, nil)
				r.Fail(settled(), false)
				r.ForgetObservation(settled())
			},
			want: want{Known: true, Failures: 1},
		},
		"Claimed": {
			reason: "Another instance may have had the Workspace in between, although it was always in the cache.",
			do: func(r *Records) {
				r.Observe(settled(), Observation{}, nil)
				r.Fail(settled(), false)
				r.ForgetResults(settled())
			},
			want: want{Known: true},
		},
		"Succeeded": {
			reason: "The next failure is the first one.",
			do: func(r *Records) {
				r.Fail(settled(), false)
				r.Fail(settled(), false)
				r.Succeed(settled())
				r.Fail(settled(), false)
			},
			want: want{Known: true, Failures: 1},
		},
		"Changed": {
			reason: "A change by a person may fix the Workspace.",
			do: func(r *Records) {
				r.Fail(settled(), false)
				r.Fail(settled(), false)
				r.Fail(settled(changedSpec), false)
			},
			want: want{Known: true, Failures: 1},
		},
		"Appeared": {
			reason: "What was missing exists now: the failure is another one.",
			do: func(r *Records) {
				for range stallAfter {
					r.Fail(settled(), true)
				}

				r.Fail(settled(), false)
			},
			want: want{Known: true, Failures: 1},
		},
		"Deleted": {
			reason: "A deletion is not the same as a creation.",
			do: func(r *Records) {
				r.Fail(settled(), false)
				r.Fail(settled(beingDeleted), false)
				r.Fail(settled(beingDeleted), false)
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
// failures make the Workspace stalled. One that waits for something is stalled after some minutes, until
// which it is retried every few seconds.
func TestFail(t *testing.T) {
	t.Parallel()

	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

	cases := map[string]struct {
		reason     string
		missing    bool
		stallAfter int
		least      time.Duration
		most       time.Duration
	}{
		"Failed":  {reason: "It is unlikely to succeed.", stallAfter: 5, least: 11 * time.Second, most: 15 * time.Second},
		"Missing": {reason: "What is missing is often created a little later.", missing: true, stallAfter: 41, least: 4 * time.Minute, most: 6 * time.Minute},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r := NewRecords(Policy{Interval: time.Hour}, func() time.Time { return now })
			r.Begin(settled())

			waited := time.Duration(0)

			for n := 1; n <= tc.stallAfter+1; n++ {
				f := r.Fail(settled(), tc.missing)

				want := Failures{Count: n, Retry: now.Add(Policy{Interval: time.Hour}.retryDelay(settled().GetUID(), f)), missing: tc.missing, desired: Desired(settled())}
				if diff := cmp.Diff(want, f, cmp.AllowUnexported(Failures{})); diff != "" {
					t.Errorf("\n%s\nFail(...): -want, +got:\n%s", tc.reason, diff)
				}

				if stalled := n >= tc.stallAfter; f.Stalled() != stalled {
					t.Errorf("\n%s\nStalled() after %d failures: want %t, got %t", tc.reason, n, stalled, f.Stalled())
				}

				if delay := f.Retry.Sub(now); !f.Stalled() {
					waited += delay

					if delay > 8*time.Second {
						t.Errorf("\n%s\ndelay after failure %d: want a few seconds, got %s", tc.reason, n, delay)
					}
				} else if n == tc.stallAfter && (delay < 45*time.Second || delay > time.Minute) {
					t.Errorf("\n%s\ndelay when it stalls: want a minute or a little less, got %s", tc.reason, delay)
				}
			}

			if waited < tc.least || waited > tc.most {
				t.Errorf("\n%s\nStalled after %s, want from %s to %s", tc.reason, waited, tc.least, tc.most)
			}
		})
	}
}

// TestRetryBy ensures that a retry is moved forward only.
func TestRetryBy(t *testing.T) {
	t.Parallel()

	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	r := NewRecords(Policy{Interval: time.Hour}, func() time.Time { return now })
	r.Begin(settled())

	planned := r.Fail(settled(), false).Retry
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
	r.Fail(annotated, false)
	r.Update(annotated)
	expect("It was tried.", queue.Routine)
	r.Observe(annotated, Observation{}, nil)
	r.Update(annotated)
	expect("It was observed.", queue.Routine)
	r.Update(plain)
	expect("A person has removed the annotation.", queue.Urgent)
	r.Observe(annotated, Observation{}, nil)
	r.Succeed(annotated)
	expect("What was observed is older than that.", queue.Urgent)
	r.Observe(plain, Observation{}, nil)
	r.Succeed(plain)
	expect("It was observed, and there may be no event for a long time.", queue.Routine)
}

// TestSecrets ensures that secrets are remembered until the infrastructure is as the module asks for with new ones: an
// apply that fails may have used them.
func TestSecrets(t *testing.T) {
	t.Parallel()

	ws := newWorkspace("a")
	r := NewRecords(Policy{}, time.Now)
	r.Begin(ws)

	secret := func(n int) *redact.Secrets { return redact.New(fmt.Appendf(nil, "sesame-%d", n)) }
	expect := func(want string) {
		t.Helper()

		if got := redact.New().With(r.Get(ws).Secrets).Text("sesame-1 sesame-2 sesame-3"); got != want {
			t.Errorf("want %q, got %q", want, got)
		}
	}

	r.Observe(ws, Observation{}, secret(1))
	expect("sesame-1 sesame-2 sesame-3")
	r.Applying(ws, secret(1))
	expect("(sensitive) sesame-2 sesame-3")
	r.Observe(ws, Observation{UpToDate: true}, secret(2))
	expect("sesame-1 (sensitive) sesame-3")
	r.Applying(ws, secret(3))
	expect("sesame-1 (sensitive) (sensitive)")
	r.Observe(ws, Observation{UpToDate: true}, secret(3))
	expect("sesame-1 sesame-2 (sensitive)")
}

// TestApplied ensures that the time from a change to its effect is known, once for each change.
func TestApplied(t *testing.T) {
	t.Parallel()

	const run = time.Minute

	observed := Observation{UpToDate: true}
	wasPlanned := func(r *Records, ws *clusterv1beta1.Workspace) {
		r.ForgetObservation(ws)
		r.Update(ws)
		r.Observe(ws, observed, nil)
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
				r.Observe(newWorkspace("a"), observed, nil)
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
				r.Observe(settled(), observed, nil)
			},
			ws: settled(changedSpec),
		},
		"NotReady": {
			reason: "There are changes that may not be made.",
			begin:  newWorkspace("a"),
			do:     func(r *Records, _ func(time.Duration)) { r.Observe(newWorkspace("a"), Observation{Exists: true}, nil) },
			ws:     newWorkspace("a"),
		},
		"Deleted": {
			reason: "A deleted Workspace does not become Ready.",
			begin:  settled(),
			do: func(r *Records, _ func(time.Duration)) {
				r.Update(settled(beingDeleted, changedSpec))
				r.Observe(settled(beingDeleted, changedSpec), observed, nil)
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
