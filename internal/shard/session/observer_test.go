// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/shard"
)

func ofSession(name string) commonv1beta1.Claim {
	return commonv1beta1.Claim{Namespace: namespace, Lease: name, Holder: "host_1", Instance: "a", LongestSeconds: 300}
}

func labelled(l *coordinationv1.Lease, name, instance string) *coordinationv1.Lease {
	l.SetName(name)
	l.SetResourceVersion("")
	l.SetLabels(map[string]string{shard.InstanceLabelKey: instance, shard.AssignableLabelKey: "true"})

	return l
}

func newTestObserver(s *server) *Observer {
	t := testTiming()
	t.ApplyDuration = 0

	return NewObserver(s, namespace, t, logging.NewNopLogger())
}

func observe(t *testing.T, o *Observer) {
	t.Helper()

	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)

	go func() { done <- o.Start(ctx) }()

	t.Cleanup(func() {
		cancel()

		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// waitForEnd waits until the end of the session is known, and asks about it from time to time.
func waitForEnd(t *testing.T, o *Observer, ended <-chan client.ObjectKey, limit time.Duration) {
	t.Helper()

	for begun := time.Now(); time.Since(begun) < limit; {
		select {
		case <-ended:
			return
		case <-time.After(15 * time.Second):
			o.State(t.Context(), ofSession("session"))
		}
	}

	t.Fatalf("the session has not ended within %s", limit)
}

// TestObserver waits for the end of sessions, and is told of it when it is written.
func TestObserver(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		lease  *coordinationv1.Lease

		// uncreated is the answer to a creation of the Lease, if not the usual one.
		uncreated error

		// released is when the process ends its session.
		released time.Duration
		want     time.Duration
	}{
		"Expired":  {reason: "Its process is gone.", lease: leaseOf("a", "", 0, 60), want: time.Minute},
		"Applying": {reason: "Its process is gone in the middle of an apply.", lease: leaseOf("a", "", 0, 300), want: 5 * time.Minute},
		"Released": {reason: "Its process has ended it.", lease: leaseOf("a", "", 0, 60), released: 30 * time.Second, want: 30 * time.Second},
		"Missing":  {reason: "A person has deleted the Lease.", want: 5 * time.Minute},
		"Gone":     {reason: "A person has deleted the namespace of the Lease.", uncreated: kerrors.NewNotFound(corev1.Resource("namespaces"), namespace), want: 5 * time.Minute},
		"Forbidden": {
			reason:    "The same, and the observer has no rights there: the API server asks for these first.",
			uncreated: kerrors.NewForbidden(coordinationv1.Resource("leases"), "session", nil), want: 5 * time.Minute,
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newServer(t)
				if tc.lease != nil {
					s = newServer(t, labelled(tc.lease.DeepCopy(), "session", "a"))
				}

				s.uncreated = tc.uncreated
				o, ended := newTestObserver(s), make(chan client.ObjectKey, 1)
				o.OnEnd(func(key client.ObjectKey) { ended <- key })

				if got := o.State(t.Context(), ofSession("session")); got != Alive {
					t.Errorf("State(...): want it to be alive at first, got %s", got)
				}

				begun := time.Now()

				observe(t, o)

				if tc.released > 0 {
					time.Sleep(tc.released)

					if _, err := EndProven(t.Context(), s, client.ObjectKey{Namespace: namespace, Name: "session"}, "host_1"); err != nil {
						t.Fatal(err)
					}
				}

				waitForEnd(t, o, ended, 2*tc.want)

				if took := time.Since(begun); took < tc.want || took > tc.want+2*o.timing.RetryPeriod {
					t.Errorf("%s\nwant its end after %s, got %s", tc.reason, tc.want, took)
				}

				l, err := get(t.Context(), s, client.ObjectKey{Namespace: namespace, Name: "session"})
				if err != nil || tc.uncreated == nil && !hasEnded(l) {
					t.Errorf("want the end in the Lease, got %+v, %v", l, err)
				}

				s.set(true, false)

				if got := o.State(t.Context(), ofSession("session")); got != Dead {
					t.Errorf("State(...): want it to be remembered that it is dead, got %s", got)
				}
			})
		})
	}
}

// TestNoAnswer has something between this process and the API server, which answers that there is no Lease. The process of
// the session may have a run.
func TestNoAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, labelled(leaseOf("a", "", 0, 300), "session", "a"))
		s.unread = kerrors.NewGenericServerResponse(http.StatusNotFound, http.MethodGet, coordinationv1.Resource("leases"), "session", "", 0, true)
		s.uncreated = kerrors.NewForbidden(coordinationv1.Resource("leases"), "session", nil)
		o := newTestObserver(s)

		for range 30 {
			if got := o.State(t.Context(), ofSession("session")); got != Unknown {
				t.Fatalf("State(...): want it to be unknown whether the session is alive, got %s", got)
			}

			time.Sleep(15 * time.Second)
		}
	})
}

// TestLateRenewal ends a session that its process renews at the same moment.
func TestLateRenewal(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := open(t)
		o := newTestObserver(f.server)

		o.State(t.Context(), f.Claim())
		time.Sleep(time.Minute - 1)
		o.State(t.Context(), f.Claim()) // It reads, so that the next question needs no read.
		time.Sleep(time.Nanosecond)

		if _, err := f.renew(t.Context()); err != nil {
			t.Fatal(err)
		}

		if got := o.State(t.Context(), f.Claim()); got != Alive {
			t.Errorf("State(...): want a session that was just renewed to be alive, got %s", got)
		}

		time.Sleep(5 * time.Minute)

		if got := o.State(t.Context(), f.Claim()); got != Dead {
			t.Errorf("State(...): want it to be dead, got %s", got)
		}

		if _, err := f.renew(t.Context()); err != nil || f.Err() == nil {
			t.Errorf("want a late renewal to end the session, got %v, %v", err, f.Err())
		}
	})
}

// TestPresence lists the sessions of some instances.
func TestPresence(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dead := labelled(leaseOf("b", "", 0, 60), "b", "b")
		end(dead, "host_1")

		s := newServer(t, labelled(leaseOf("a", "", 0, 60), "a", "a"), dead, labelled(leaseOf("c", "", 0, 60), "c", "mode.catch-all"))
		o := newTestObserver(s)

		if _, ok := o.Serving(); ok {
			t.Error("Serving(): want it not to be known before the first list")
		}

		for range 2 {
			if err := o.refresh(t.Context()); err != nil {
				t.Fatal(err)
			}
		}

		serving, ok := o.Serving()
		if len(serving) != 2 || !ok {
			t.Errorf("Serving(): want two instances, got %v, %t", serving, ok)
		}

		shards, ok := o.Shards()
		if diff := cmp.Diff(map[string]Presence{"a": {Alive: true}, "b": {}}, shards); diff != "" || !ok {
			t.Errorf("Shards(): -want, +got:\n%s\n%t", diff, ok)
		}

		time.Sleep(o.listAge())

		if _, ok := o.Serving(); ok {
			t.Error("Serving(): want it not to be known after an old list")
		}
	})
}

func mustParse(t *testing.T, name string) shard.ID {
	t.Helper()

	id, err := shard.Parse(name)
	if err != nil {
		t.Fatal(err)
	}

	return id
}

// TestCollector deletes the Leases of sessions that ended long ago, and no others. With the last one of an instance goes that
// of its leader election.
func TestCollector(t *testing.T) {
	t.Parallel()

	old := func(name, instance string, age time.Duration) *coordinationv1.Lease {
		l := labelled(leaseOf("a", "", 0, 60), name, instance)
		end(l, "host_1")

		l.Spec.RenewTime = &metav1.MicroTime{Time: time.Now().Add(-age)}

		return l
	}

	// The leader election of a shard, or of the catch-all.
	election := func(id shard.ID, session string, age time.Duration) *coordinationv1.Lease {
		l := leaseOf("e", "", 0, 60)
		l.SetName(id.LeaseName())
		l.SetResourceVersion("")
		l.SetAnnotations(map[string]string{shard.SessionAnnotationKey: session})

		l.Spec.RenewTime = &metav1.MicroTime{Time: time.Now().Add(-age)}

		return l
	}

	abandoned, changed, restarted, away := mustParse(t, "abandoned"), mustParse(t, "changed"), mustParse(t, "restarted"), mustParse(t, "away")

	s := newServer(t, labelled(leaseOf("a", "", 0, 60), "live", "a"),
		old("own", "mode.unsharded", 2*time.Hour), old("moved", "mode.unsharded", 50*time.Minute), old("named", "mode.unsharded", 2*time.Hour),
		old("other", "b", 2*time.Hour), old("recent", "b", 50*time.Minute),
		election(shard.CatchAll(), "elected", time.Second), old("elected", "mode.catch-all", 2*time.Hour),
		election(abandoned, "last", 8*24*time.Hour), old("last", "abandoned", 8*24*time.Hour), old("first", "abandoned", 9*24*time.Hour),
		election(changed, "before", 8*24*time.Hour), old("before", "changed", 8*24*time.Hour),
		election(away, "night", 12*time.Hour), old("night", "away", 12*time.Hour),
		election(restarted, "now", 8*24*time.Hour), labelled(leaseOf("a", "", 0, 60), "now", "restarted"), old("then", "restarted", 2*time.Hour))

	// It is elected again between the read of its Lease and the deletion.
	s.deleting = func(o client.Object) {
		if o.GetName() != changed.LeaseName() {
			return
		}

		l := election(changed, "before", 0)
		l.SetResourceVersion(o.GetResourceVersion())

		if err := s.Update(t.Context(), l); err != nil {
			t.Error(err)
		}
	}

	o := newTestObserver(s)

	if err := o.refresh(t.Context()); err != nil {
		t.Fatal(err)
	}

	task := o.Collector(func(context.Context) (map[client.ObjectKey]bool, error) {
		return map[client.ObjectKey]bool{{Namespace: namespace, Name: "named"}: true}, nil
	})
	if err := task.Do(t.Context()); err != nil {
		t.Fatal(err)
	}

	for name, gone := range map[string]bool{
		"live": false, "own": true, "moved": false, "named": false, "other": true, "recent": false,
		shard.CatchAll().LeaseName(): false, "elected": false,
		abandoned.LeaseName(): true, "last": true, "first": true,
		changed.LeaseName(): false, "before": false,
		away.LeaseName(): false, "night": false,
		restarted.LeaseName(): false, "now": false, "then": true,
	} {
		err := s.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, &coordinationv1.Lease{})
		if kerrors.IsNotFound(err) != gone {
			t.Errorf("Lease %q: want it gone %t, got %v", name, gone, err)
		}
	}
}
