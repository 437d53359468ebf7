// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"

	"github.com/crossplane-contrib/provider-terraform/internal/shard"
)

// elected returns the election of a replica that was elected, on the Lease of the supplied server.
func elected(t *testing.T, s *server, identity string, timing Timing) *Election {
	t.Helper()

	l := &coordinationv1.Lease{}
	if err := s.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: shard.ID{}.LeaseName()}, l); err != nil {
		t.Fatal(err)
	}

	l.Spec.HolderIdentity = &identity
	if err := s.Update(t.Context(), l); err != nil {
		t.Fatal(err)
	}

	return &Election{
		Kube: s, Namespace: namespace, Identity: identity, Timing: timing,
		Observer: NewObserver(s, namespace, timing, logging.NewNopLogger()), Log: logging.NewNopLogger(),
	}
}

// TestOpen elects a replica whose sessions are short after one whose sessions may be long. The Lease of the latter is gone,
// and its process may be in an apply.
func TestOpen(t *testing.T) {
	t.Parallel()

	short := testTiming()
	short.ApplyDuration = 0

	cases := map[string]struct {
		reason string
		timing Timing

		// claimed says that an observer asks about a claim of that session, without its duration.
		claimed bool
		want    time.Duration
	}{
		"Short":   {reason: "No session of either takes longer.", timing: short, want: time.Minute},
		"Long":    {reason: "The Lease of the leader election names the duration.", timing: testTiming(), want: 5 * time.Minute},
		"Claimed": {reason: "An old CRD drops the duration from a claim.", timing: testTiming(), claimed: true, want: 5 * time.Minute},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				l := leaseOf("e", "", 0, 60)
				l.SetName(shard.ID{}.LeaseName())
				l.SetResourceVersion("")

				s := newServer(t, l)
				if err := elected(t, s, "host_1", tc.timing).Open(t.Context(), "first"); err != nil {
					t.Fatal(err)
				}

				e, begun := elected(t, s, "host_2", short), time.Now()

				if tc.claimed {
					time.AfterFunc(time.Minute+time.Second, func() {
						c := ofSession("first")
						c.LongestSeconds = 0

						if got := e.Observer.State(t.Context(), c); got != Alive {
							t.Errorf("State(...): want the session to be alive, got %s", got)
						}
					})
				}

				if err := e.Open(t.Context(), "second"); err != nil {
					t.Fatal(err)
				}

				if took := time.Since(begun); took < tc.want || took > tc.want+2*short.RetryPeriod {
					t.Errorf("%s\nOpen(...): want it to take %s, got %s", tc.reason, tc.want, took)
				}

				l, err := get(t.Context(), s, client.ObjectKeyFromObject(l))
				if err != nil {
					t.Fatal(err)
				}

				if diff := cmp.Diff(map[string]string{shard.SessionAnnotationKey: "second", shard.LongestAnnotationKey: "60"}, l.GetAnnotations()); diff != "" {
					t.Errorf("annotations of the Lease: -want, +got:\n%s", diff)
				}
			})
		})
	}
}
