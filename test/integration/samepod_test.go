// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
)

// withLongLease gives the instance a Lease that does not expire during a test.
func withLongLease() instanceOption {
	return withArgs("--lease-duration=1h", "--lease-renew-deadline=30m", "--lease-retry-period=500ms")
}

// TestSamePod kills a shard in the middle of an apply, and starts it again in the same pod. No child
// of it goes on. The next one ends its session before that expires, and removes the lock that it finds on
// the state.
func TestSamePod(t *testing.T) {
	t.Parallel()

	const suffix = "restart"

	c := shared.sharded.started(t)
	ns, shard := c.namespace(t), unique("shard")
	opts := []instanceOption{withShard(shard), withLongLease()}
	reached := make(chan struct{})
	reach := sync.OnceFunc(func() { close(reached) })

	var hangs atomic.Bool

	p := startProxy(t, c, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		// The plan makes the state, and the apply changes it.
		if !hangs.Load() || r.Method != http.MethodPut || !strings.Contains(r.URL.Path, "/secrets/tfstate-") {
			next.ServeHTTP(w, r)

			return
		}

		// Only then does the server notice that the client has closed the connection.
		_, _ = io.Copy(io.Discard, r.Body)

		reach()
		<-r.Context().Done()
	})
	a := startInstance(t, c, append(opts, withCLIKubeconfig(p.kubeconfig))...)

	cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, suffix))
	e := newEvidence(t)
	ready := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withEvidence(t, "evidence.tf", e))
	expectReady(t, c, ready)
	expectDone(t, e, "created")

	hangs.Store(true)

	ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withModule(moduleFile(t, "outputs.tf")))

	<-reached
	expectLeaseHeld(t, c, ns, lockOf(ws, suffix))

	before := c.sessionOf(t, ws)
	a.kill(t)

	b := startInstance(t, c, append(opts, withRoot(a.root))...)
	expectEvent(t, c, ws, "RemovedOrphanLock")
	expectReady(t, c, ws)
	expectServedBy(t, b, ws)
	expectUnlocked(t, c, ws, ns, suffix)

	if c.get(t, before); holder(before) != "" {
		t.Errorf("want the session of the dead process to have ended, but it is held by %q", holder(before))
	}

	c.request(t, ready)
	expectServedBy(t, b, ready)
	expectReady(t, c, ready)
	expectDone(t, e, "created")
}

// TestSamePodWithoutProof starts an instance while its predecessor, or a run of it, may be alive.
// It waits.
func TestSamePodWithoutProof(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		end    func(t *testing.T, i *instance)

		// prove ends what the next instance waits for.
		prove func(t *testing.T, i *instance, e evidence)
	}{
		"Stopped": {
			reason: "A stopped process may continue.",
			end:    func(*testing.T, *instance) {},
			prove:  func(t *testing.T, i *instance, e evidence) { t.Helper(); i.kill(t); e.write(t, "gate", "") },
		},
		"Child": {
			reason: "A script that a provisioner has started goes on. In a container it would have been killed.",
			end:    func(t *testing.T, i *instance) { t.Helper(); i.kill(t) },
			prove:  func(t *testing.T, _ *instance, e evidence) { t.Helper(); e.write(t, "gate", "") },
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			c := shared.sharded.started(t)
			ns, shard := c.namespace(t), unique("shard")
			a := startInstance(t, c, withShard(shard), withLongLease())
			cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, "without-proof"))
			ws, e := c.createGated(t, namespacedScope, ns, inShard(shard), withConfig(cfg))

			l := c.sessionOf(t, ws)
			a.signal(t, syscall.SIGSTOP)
			tc.end(t, a)

			b := startInstance(t, c, withShard(shard), withLongLease(), withRoot(a.root))
			expectServing(t, b, "/readyz")

			if runs := b.runs.of(string(ws.GetUID())); len(runs) > 0 {
				t.Errorf("%s\nthe next instance ran the CLI: %v", tc.reason, runs)
			}

			if c.get(t, l); holder(l) == "" {
				t.Fatalf("%s\nthe session was ended by another instance", tc.reason)
			}

			// A process that starts later finds the proof.
			b.stop(t)
			tc.prove(t, a, e)
			b = startInstance(t, c, withShard(shard), withLongLease(), withRoot(a.root))
			expectReady(t, c, ws)
			expectServedBy(t, b, ws)
		})
	}
}
