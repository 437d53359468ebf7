// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"

	"github.com/crossplane-contrib/provider-terraform/internal/shard"
)

const namespace = "ns"

func testTiming() Timing {
	return Timing{Duration: time.Minute, RenewDeadline: 40 * time.Second, RetryPeriod: 2 * time.Second, ApplyDuration: 5 * time.Minute}
}

// A server is an API server with Leases. It can be away, or lose answers.
type server struct {
	client.Client

	// uncreated is the answer to all creations, and unread that to all reads, if there is one.
	uncreated, unread error

	// deleting is called before a deletion, if it is set.
	deleting func(o client.Object)

	mu         sync.Mutex
	away, lose bool
}

var errAway = errors.New("connection refused")

func newServer(t *testing.T, leases ...client.Object) *server {
	t.Helper()

	scheme := runtime.NewScheme()
	if err := coordinationv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}

	s := &server{}
	answer := func(request func() error) error {
		s.mu.Lock()
		away, lose := s.away, s.lose
		s.mu.Unlock()

		if away {
			return errAway
		}

		if err := request(); err != nil || !lose {
			return err
		}

		return errAway
	}

	s.Client = interceptor.NewClient(fake.NewClientBuilder().WithScheme(scheme).WithObjects(leases...).Build(), interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			if s.unread != nil {
				return s.unread
			}

			return answer(func() error { return c.Get(ctx, key, o, opts...) })
		},
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			if s.uncreated != nil {
				return s.uncreated
			}

			return answer(func() error { return c.Create(ctx, o, opts...) })
		},
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			if s.deleting != nil {
				s.deleting(o)
			}

			return c.Delete(ctx, o, opts...)
		},
		Update: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
			return answer(func() error { return c.Update(ctx, o, opts...) })
		},
	})

	return s
}

func (s *server) set(away, lose bool) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.away, s.lose = away, lose
}

// A stubFence remembers when it would kill this process. It is 0 if it would not.
type stubFence struct {
	begun time.Time

	mu sync.Mutex
	at time.Duration
}

func (f *stubFence) Now() (time.Duration, error) { return time.Since(f.begun), nil }

func (f *stubFence) Arm(at time.Duration) error {
	f.mu.Lock()
	defer f.mu.Unlock()

	f.at = at

	return nil
}

func (f *stubFence) Disarm() error { return f.Arm(0) }

func (f *stubFence) armed() time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()

	return f.at
}

// A fixture is an open session.
type fixture struct {
	*Session

	server *server
	fence  *stubFence
	over   []error
}

func open(t *testing.T) *fixture {
	t.Helper()

	f := &fixture{server: newServer(t), fence: &stubFence{begun: time.Now()}}

	s, err := Open(t.Context(), Options{
		Kube:       f.server,
		Namespace:  namespace,
		Holder:     "host_1",
		Timing:     testTiming(),
		Fence:      f.fence,
		Assignable: true,
		Record:     func(string) error { return nil },
		Over:       func(err error) { f.over = append(f.over, err) },
		Log:        logging.NewNopLogger(),
	})
	if err != nil {
		t.Fatal(err)
	}

	f.Session = s

	return f
}

// renewing renews the session until the end of the test.
func (f *fixture) renewing(t *testing.T) {
	t.Helper()

	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})

	go func() {
		defer close(done)

		f.Renew(ctx)
	}()

	t.Cleanup(func() {
		cancel()
		<-done
	})
}

func (f *fixture) lease(t *testing.T) *coordinationv1.Lease {
	t.Helper()

	l := &coordinationv1.Lease{}
	if err := f.server.Get(t.Context(), f.key, l); err != nil {
		t.Fatal(err)
	}

	return l
}

// TestOutage takes the API server away from a process that applies, and from one that is idle.
func TestOutage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := open(t)
		f.renewing(t)

		if f.fence.armed() != 0 {
			t.Error("want no fence for an idle process")
		}

		time.Sleep(time.Second)

		ctx, end, err := f.Begin(t.Context(), true)
		if err != nil {
			t.Fatal(err)
		}

		synctest.Wait()

		if got := durationOf(f.lease(t)); got != 5*time.Minute {
			t.Errorf("want the begin of an apply to renew with the long duration at once, got %s", got)
		}

		begun := time.Now()

		f.server.set(true, false)
		<-ctx.Done()

		// The deadline of the long duration.
		if took := time.Since(begun); took != 280*time.Second {
			t.Errorf("want the apply to be interrupted after 280 s, got %s", took)
		}

		if at := f.fence.armed(); at != time.Second+298*time.Second {
			t.Errorf("want the fence to kill before others may end the session, got %s", at)
		}

		if _, _, err := f.Begin(t.Context(), false); err == nil {
			t.Error("want no further run")
		}

		end()

		if f.fence.armed() != 0 {
			t.Error("want no fence when the last run has ended")
		}

		time.Sleep(time.Hour)
		f.server.set(false, false)
		time.Sleep(10 * time.Second)

		if err := errors.Join(f.MayRun(), f.Err()); err != nil || len(f.over) > 0 {
			t.Errorf("want an idle process to go on, got %v", err)
		}

		if got := durationOf(f.lease(t)); got != time.Minute {
			t.Errorf("want the short duration when the apply has ended, got %s", got)
		}
	})
}

// TestShorter begins to renew with the short duration after an apply, without an answer. Others may see
// it, so that the deadlines are those of the short duration.
func TestShorter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := open(t)

		_, end, err := f.Begin(t.Context(), true)
		if err != nil {
			t.Fatal(err)
		}

		if _, err := f.renew(t.Context()); err != nil {
			t.Fatal(err)
		}

		end()
		f.server.set(false, true)

		if _, err := f.renew(t.Context()); !errors.Is(err, errAway) {
			t.Errorf("want no answer, got %v", err)
		}

		if _, end, err = f.Begin(t.Context(), false); err != nil {
			t.Fatal(err)
		}
		defer end()

		if at := f.fence.armed(); at != 58*time.Second {
			t.Errorf("want the fence of the short duration, got %s", at)
		}

		<-f.begun

		if _, end, err = f.Begin(t.Context(), true); err != nil {
			t.Fatal(err)
		}
		defer end()

		if len(f.begun) == 0 {
			t.Error("want the next apply to renew at once, because the Lease may have the short duration")
		}
	})
}

// TestManyApplies begins applies one after the other. Only the first one renews the session at once: then its
// Lease has the long duration. A renewal for each would be one more request for each creation.
func TestManyApplies(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := open(t)
		f.renewing(t)
		synctest.Wait()

		before := *f.lease(t).Spec.LeaseTransitions

		for range 10 {
			_, end, err := f.Begin(t.Context(), true)
			if err != nil {
				t.Fatal(err)
			}

			synctest.Wait()

			if got := durationOf(f.lease(t)); got != 5*time.Minute {
				t.Errorf("want the long duration during an apply, got %s", got)
			}

			end()
		}

		if got := *f.lease(t).Spec.LeaseTransitions - before; got != 1 {
			t.Errorf("want one renewal for all applies, got %d", got)
		}
	})
}

// TestConflicts changes the Lease of a live session.
func TestConflicts(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		change func(t *testing.T, f *fixture)
		over   bool
	}{
		"Edited": {
			reason: "The next renewal repairs it.",
			change: func(t *testing.T, f *fixture) {
				t.Helper()

				l := f.lease(t)
				l.Spec.HolderIdentity = new("")
				l.SetLabels(nil)
				update(t, f, l)
			},
		},
		"AnswerLost": {
			reason: "The renewal has taken effect.",
			change: func(t *testing.T, f *fixture) {
				t.Helper()
				f.server.set(false, true)

				if _, err := f.renew(t.Context()); err == nil {
					t.Error("want no answer")
				}

				f.server.set(false, false)
			},
		},
		"Ended": {
			reason: "Another instance has ended it.",
			over:   true,
			change: func(t *testing.T, f *fixture) {
				t.Helper()

				l := f.lease(t)
				end(l, "host_1")
				update(t, f, l)
			},
		},
		"Deleted": {
			reason: "Its name is not used again.",
			over:   true,
			change: func(t *testing.T, f *fixture) {
				t.Helper()

				if err := f.server.Delete(t.Context(), f.lease(t)); err != nil {
					t.Fatal(err)
				}
			},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := open(t)

				ctx, done, err := f.Begin(t.Context(), false)
				if err != nil {
					t.Fatal(err)
				}

				tc.change(t, f)
				f.renewing(t)
				time.Sleep(time.Minute)

				if over := f.Err() != nil && len(f.over) == 1 && ctx.Err() != nil; over != tc.over || !over && ctx.Err() != nil {
					t.Errorf("%s\nwant the session over: %t, got %v, and the run %v", tc.reason, tc.over, f.Err(), ctx.Err())
				}

				done()

				if err := f.End(t.Context()); err != nil {
					t.Error(err)
				}

				l := f.lease(t)
				if diff := cmp.Diff(map[string]string{shard.InstanceLabelKey: f.o.ID.Instance(), shard.AssignableLabelKey: "true"}, l.GetLabels()); diff != "" && name != "Deleted" {
					t.Errorf("%s\nlabels of the Lease: -want, +got:\n%s", tc.reason, diff)
				}

				if diff := cmp.Diff("host_1", l.GetAnnotations()[shard.ReleasedAnnotationKey]); diff != "" || !hasEnded(l) {
					t.Errorf("%s\nend of the session: -want, +got:\n%s", tc.reason, diff)
				}
			})
		})
	}
}

func update(t *testing.T, f *fixture, l *coordinationv1.Lease) {
	t.Helper()

	if err := f.server.Update(t.Context(), l); err != nil {
		t.Fatal(err)
	}
}

// TestEndProven ends the session of a dead process, if there is one.
func TestEndProven(t *testing.T) {
	t.Parallel()

	s := newServer(t, leaseOf("a", "", 0, 60))

	for name, want := range map[string]bool{"session": true, "none": false} {
		found, err := EndProven(t.Context(), s, client.ObjectKey{Namespace: namespace, Name: name}, "host_1")
		if found != want || err != nil {
			t.Errorf("EndProven(%q): want %t, got %t, %v", name, want, found, err)
		}
	}

	l, err := get(t.Context(), s, client.ObjectKey{Namespace: namespace, Name: "session"})
	if err != nil || !hasEnded(l) {
		t.Errorf("want the end of the session, got %+v, %v", l, err)
	}
}
