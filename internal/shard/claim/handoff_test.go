// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package claim

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"

	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/shard"
	"github.com/crossplane-contrib/provider-terraform/internal/shard/lease"
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

func TestHandOffs(t *testing.T) {
	t.Parallel()

	const wait = time.Minute

	ws := owned(nil)
	b := another("host-1_1f33")

	cases := map[string]struct {
		reason string
		id     shard.ID
		do     func(c *Claims, pass func(time.Duration))
		want   []handOff

		// waiting is the number of Workspaces that wait in the end.
		waiting int
	}{
		"Waits": {
			reason: "The other instance has not released it.",
			id:     mustParse("a"),
			do: func(c *Claims, _ func(time.Duration)) {
				c.notify(ws, Wait, Situation{Me: c.me, Claimed: b, Claimant: lease.Alive})
				c.notify(ws, Wait, Situation{Me: c.me, Claimed: b, Claimant: lease.Alive})
			},
			waiting: 1,
		},
		"Released": {
			reason: "The other instance has released it.",
			id:     mustParse("a"),
			do: func(c *Claims, pass func(time.Duration)) {
				c.notify(ws, Wait, Situation{Me: c.me, Claimed: b, Claimant: lease.Alive})
				pass(wait)
				c.handedOff(ws, Situation{Me: c.me})
				c.handedOff(ws, Situation{Me: c.me, Claimed: c.me})
			},
			want: []handOff{{Previous: handOffReleased, Took: wait}},
		},
		"Restarted": {
			reason: "The other instance was restarted and has claimed it again. It is still the same wait.",
			id:     mustParse("a"),
			do: func(c *Claims, pass func(time.Duration)) {
				c.notify(ws, Wait, Situation{Me: c.me, Claimed: b, Claimant: lease.Alive})
				pass(wait)
				c.notify(ws, Wait, Situation{Me: c.me, Claimed: another("host-1_2a44"), Claimant: lease.Alive})
				pass(wait)
				c.handedOff(ws, Situation{Me: c.me})
			},
			want: []handOff{{Previous: handOffReleased, Took: 2 * wait}},
		},
		"Died": {
			reason: "The other instance is dead.",
			id:     mustParse("a"),
			do: func(c *Claims, pass func(time.Duration)) {
				c.notify(ws, Wait, Situation{Me: c.me, Claimed: b, Claimant: lease.Alive})
				pass(wait)
				c.handedOff(ws, Situation{Me: c.me, Claimed: b, Claimant: lease.Dead})
			},
			want: []handOff{{Previous: handOffDead, Took: wait}},
		},
		"WasDead": {
			reason: "The other instance was dead before: it was a hand-off without a wait.",
			id:     mustParse("a"),
			do: func(c *Claims, _ func(time.Duration)) {
				c.handedOff(ws, Situation{Me: c.me, Claimed: b, Claimant: lease.Dead})
			},
			want: []handOff{{Previous: handOffDead}},
		},
		"New": {
			reason: "No other instance has served it.",
			id:     mustParse("a"),
			do:     func(c *Claims, _ func(time.Duration)) { c.handedOff(ws, Situation{Me: c.me}) },
		},
		"Own": {
			reason: "An earlier process of this instance has served it.",
			id:     mustParse("a"),
			do: func(c *Claims, _ func(time.Duration)) {
				earlier := c.me
				earlier.Holder = "host-0_0000"
				c.handedOff(ws, Situation{Me: c.me, Claimed: earlier, Claimant: lease.Dead})
			},
		},
		"UnshardedReleased": {
			reason: "An unsharded instance waits for shards, too.",
			do: func(c *Claims, pass func(time.Duration)) {
				c.notify(ws, Wait, Situation{Claimed: b, Claimant: lease.Alive})
				pass(wait)
				c.handedOff(ws, Situation{})
			},
			want: []handOff{{Previous: handOffReleased, Took: wait}},
		},
		"UnshardedDied": {
			reason: "An unsharded instance does not remove the claim of a dead shard, and counts it once.",
			do: func(c *Claims, pass func(time.Duration)) {
				c.notify(ws, Wait, Situation{Claimed: b, Claimant: lease.Alive})
				pass(wait)
				c.handedOff(ws, Situation{Claimed: b, Claimant: lease.Dead})
				c.handedOff(ws, Situation{Claimed: b, Claimant: lease.Dead})
			},
			want: []handOff{{Previous: handOffDead, Took: wait}},
		},
		"Left": {
			reason: "It was labelled for another instance again.",
			id:     mustParse("a"),
			do: func(c *Claims, _ func(time.Duration)) {
				c.notify(ws, Wait, Situation{Me: c.me, Claimed: b, Claimant: lease.Alive})
				c.notices.forget(ws.GetUID())
			},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			now, got := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), &handOffs{}
			c := New(tc.id, identity, &stubLeases{}, nil, nil, Options{Recorder: event.NewNopRecorder(), Metrics: got, LongestRun: time.Hour})
			c.notices.now = func() time.Time { return now }

			t.Cleanup(c.queue.ShutDown)
			tc.do(c, func(d time.Duration) { now = now.Add(d) })

			if diff := cmp.Diff(tc.want, got.counted, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("\n%s\nhand-offs: -want, +got:\n%s", tc.reason, diff)
			}

			if got.waiting != tc.waiting {
				t.Errorf("\n%s\nwaiting: want %d, got %d", tc.reason, tc.waiting, got.waiting)
			}
		})
	}
}

// A leasesHook calls a function while the state of another instance is read.
type leasesHook struct {
	stubLeases

	read func()
}

func (l *leasesHook) State(context.Context, client.ObjectKey, string) lease.State {
	l.read()

	return lease.Alive
}

// TestLeavesBeforeItWaits lets a Workspace leave the cache while it is decided that it waits.
func TestLeavesBeforeItWaits(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		leave  func(cache *oldReader, h toolscache.ResourceEventHandler)
		want   int
	}{
		"Stays": {
			reason: "It waits.",
			leave:  func(*oldReader, toolscache.ResourceEventHandler) {},
			want:   1,
		},
		"Left": {
			reason: "It does not wait for this instance.",
			leave: func(cache *oldReader, h toolscache.ResourceEventHandler) {
				left := cache.f.ws
				cache.f.ws = nil

				h.OnDelete(left)
			},
		},
		"Recreated": {
			reason: "Another Workspace has its name now.",
			leave: func(cache *oldReader, h toolscache.ResourceEventHandler) {
				left := cache.f.ws
				cache.f.ws = owned(nil)
				cache.f.ws.SetUID("another")

				h.OnDelete(left)
			},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			b := another("host-1_1f33")
			ws := owned(&commonv1beta1.Ownership{UID: "uid", Claim: claimed(b)})
			ws.SetLabels(map[string]string{shard.LabelKey: "a"})

			cache, leases, got := &oldReader{&fixture{ws: ws}}, &leasesHook{}, &handOffs{}
			c := New(mustParse("a"), identity, leases, cache, nil, Options{Recorder: event.NewNopRecorder(), Metrics: got, LongestRun: time.Hour})
			t.Cleanup(c.queue.ShutDown)

			r := c.Reconciler(nil, clusterv1beta1.WorkspaceGroupVersionKind, &clusterv1beta1.Workspace{})
			leases.read = func() { tc.leave(cache, r.Handler()) }

			if _, err := r.Reconcile(t.Context(), reconcile.Request{}); err != nil {
				t.Error(err)
			}

			if got.waiting != tc.want {
				t.Errorf("\n%s\nwaiting: want %d, got %d", tc.reason, tc.want, got.waiting)
			}
		})
	}
}

// TestHandler sends events about a Workspace that is held and about one that waits.
func TestHandler(t *testing.T) {
	t.Parallel()

	ws, changed, another := owned(nil), owned(nil), owned(nil)
	changed.SetGeneration(2)
	another.SetUID("another")

	cases := map[string]struct {
		reason string
		event  func(h toolscache.ResourceEventHandler)
		stays  bool
	}{
		"Changed": {
			reason: "It has not left.",
			event:  func(h toolscache.ResourceEventHandler) { h.OnUpdate(ws, changed) },
			stays:  true,
		},
		"Left": {
			reason: "It was relabelled or deleted.",
			event:  func(h toolscache.ResourceEventHandler) { h.OnDelete(ws) },
		},
		"Missed": {
			reason: "It has left before the watch began again.",
			event: func(h toolscache.ResourceEventHandler) {
				h.OnDelete(toolscache.DeletedFinalStateUnknown{Obj: ws})
			},
		},
		"Recreated": {
			reason: "It was deleted, and another one of its name created, before the watch began again.",
			event:  func(h toolscache.ResourceEventHandler) { h.OnUpdate(ws, another) },
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got := &handOffs{}
			c := New(mustParse("a"), identity, &stubLeases{}, nil, nil, Options{Recorder: event.NewNopRecorder(), Metrics: got, LongestRun: time.Hour})
			t.Cleanup(c.queue.ShutDown)

			r := c.Reconciler(nil, clusterv1beta1.WorkspaceGroupVersionKind, ws)
			name := ref{kind: r.kind, key: client.ObjectKeyFromObject(ws)}
			c.notices.waited(ws.GetUID(), Claim{})
			c.held.add(name, ws.GetUID(), false)
			c.held.end(name)

			tc.event(r.Handler())

			if waits := got.waiting == 1; waits != tc.stays {
				t.Errorf("\n%s\nwaits: want %t, got %t", tc.reason, tc.stays, waits)
			}

			if holds := c.held.holds(name, ws.GetUID()); holds != tc.stays {
				t.Errorf("\n%s\nholds(...): want %t, got %t", tc.reason, tc.stays, holds)
			}
		})
	}
}
