// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package claim

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"

	"github.com/crossplane-contrib/provider-terraform/apis"
	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/shard"
	"github.com/crossplane-contrib/provider-terraform/internal/shard/session"
)

// A handOff is one that was counted.
type handOff struct {
	Previous string
	Took     time.Duration
}

// handOffs are the metrics of claims.
type handOffs struct {
	waiting int
	counted []handOff
}

func (h *handOffs) ClaimsWaiting(n int) { h.waiting = n }

func (h *handOffs) HandedOff(previous string, took time.Duration) {
	h.counted = append(h.counted, handOff{Previous: previous, Took: took})
}

// waiter returns the claims of an instance, and its metrics.
func waiter(t *testing.T, id shard.ID, l Sessions, cache client.Reader) (*Claims, *handOffs) {
	t.Helper()

	scheme := runtime.NewScheme()
	if err := apis.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}

	got := &handOffs{}
	kube := fake.NewClientBuilder().WithScheme(scheme).Build()
	me := own()
	me.Instance = id.Instance()

	c := New(id, me, l, cache, kube, Options{MayRun: mayRun, FailedRuns: &stubFailedRuns{}, Recorder: event.NewNopRecorder(), Metrics: got, LongestRun: time.Hour})
	t.Cleanup(c.queue.ShutDown)

	return c, got
}

func TestHandOffs(t *testing.T) {
	t.Parallel()

	const pause = time.Minute

	// A step is the claim on a Workspace and the state of its holder, a minute after the step before.
	// Without a state, the instance does not wait for the holder any more.
	type step struct {
		claim Claim
		state session.State
	}

	b := another("host-1_1f33")
	earlier := Claim{Namespace: namespace, Lease: "session-a-0", Holder: "host-0_0000", Instance: "a"}

	waits := step{claim: b, state: session.Alive}
	died := step{claim: b, state: session.Dead}

	cases := map[string]struct {
		reason    string
		unsharded bool
		steps     []step
		want      []handOff

		// waiting is the number of Workspaces that wait in the end.
		waiting int
	}{
		"Waits": {reason: "The other instance has not released it.", steps: []step{waits, waits}, waiting: 1},
		"Released": {
			reason: "The other instance has released it.",
			steps:  []step{waits, {}, {claim: own()}}, want: []handOff{{Previous: handOffReleased, Took: pause}},
		},
		"Restarted": {
			reason: "The other instance has claimed it again. It is the same wait.",
			steps:  []step{waits, {claim: another("host-1_2a44"), state: session.Alive}, {}}, want: []handOff{{Previous: handOffReleased, Took: 2 * pause}},
		},
		"Died":    {reason: "The other instance is dead.", steps: []step{waits, died}, want: []handOff{{Previous: handOffDead, Took: pause}}},
		"WasDead": {reason: "It was dead before: it is a hand-off without a wait.", steps: []step{died}, want: []handOff{{Previous: handOffDead}}},
		"New":     {reason: "No other instance has served it.", steps: []step{{}}},
		"Own":     {reason: "An earlier process of this instance has served it.", steps: []step{{claim: earlier, state: session.Dead}}},
		"UnshardedReleased": {
			reason:    "An unsharded instance waits for shards, too.",
			unsharded: true, steps: []step{waits, {}}, want: []handOff{{Previous: handOffReleased, Took: pause}},
		},
		"UnshardedDied": {
			reason:    "It takes over, and counts it once.",
			unsharded: true, steps: []step{waits, died, {claim: own()}}, want: []handOff{{Previous: handOffDead, Took: pause}},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			id := mustParse("a")
			if tc.unsharded {
				id = shard.ID{}
			}

			c, got := waiter(t, id, &stubSessions{}, nil)
			now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
			c.waits.now = func() time.Time { return now }

			for _, s := range tc.steps {
				is := Situation{Me: c.me, Claimed: s.claim, Claimant: s.state}
				if s.state == session.Alive {
					c.notify(ref{}, owned(nil), is)
				} else {
					c.handedOff(ref{}, is)
				}

				now = now.Add(pause)
			}

			if diff := cmp.Diff(tc.want, got.counted, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("\n%s\nhand-offs: -want, +got:\n%s", tc.reason, diff)
			}

			if got.waiting != tc.waiting {
				t.Errorf("\n%s\nwaiting: want %d, got %d", tc.reason, tc.waiting, got.waiting)
			}
		})
	}
}

// A sessionsHook calls a function while the state of a session is read.
type sessionsHook struct {
	stubSessions

	read func()
}

func (s *sessionsHook) State(context.Context, Claim) session.State {
	s.read()

	return session.Alive
}

// TestLeavesBeforeItWaits lets a Workspace leave the cache while it is decided that it waits. The next
// reconcile ends the wait.
func TestLeavesBeforeItWaits(t *testing.T) {
	t.Parallel()

	ws := owned(&commonv1beta1.Ownership{UID: "uid", Claim: claimed(another("host-1_1f33"))})
	ws.SetLabels(map[string]string{shard.LabelKey: "a"})

	cache, sessions := &oldReader{&fixture{ws: ws}}, &sessionsHook{}
	c, got := waiter(t, mustParse("a"), sessions, cache)

	r := c.Reconciler(&inner{}, clusterv1beta1.WorkspaceGroupVersionKind, &clusterv1beta1.Workspace{})
	sessions.read = sync.OnceFunc(func() {
		cache.f.ws = nil

		c.Left(ws)
	})

	for _, want := range []int{1, 0} {
		if _, err := r.Reconcile(t.Context(), reconcile.Request{}); err != nil {
			t.Error(err)
		}

		if got.waiting != want {
			t.Errorf("waiting: want %d, got %d", want, got.waiting)
		}
	}
}
