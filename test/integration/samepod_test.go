// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/utils/ptr"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/shard/incarnation"
)

// withLongLease gives the instance a Lease that does not expire during a test.
func withLongLease() instanceOption {
	return withArgs("--lease-duration=1h", "--lease-renew-deadline=30m", "--lease-retry-period=500ms")
}

// TestSamePod kills a shard in the middle of an apply, and starts it again in the same pod. No child
// of it goes on. The next one takes the Lease before it expires, and the lock that it finds on the
// state.
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

	before := newLease(leaseNamespace, leaseName+"-"+shard)
	a.freeze(t, c, before)
	a.kill(t)

	b := startInstance(t, c, append(opts, withRoot(a.root))...)
	after := expectTaken(t, c, before)

	if expiry := before.Spec.RenewTime.Add(time.Duration(ptr.Deref(before.Spec.LeaseDurationSeconds, 0)) * time.Second); !after.Spec.RenewTime.Time.Before(expiry) {
		t.Errorf("the Lease was taken at %s, and had expired at %s", after.Spec.RenewTime, expiry)
	}

	expectEvent(t, c, ws, "RemovedOrphanLock")
	expectReady(t, c, ws)
	expectServedBy(t, b, ws)
	expectUnlocked(t, c, ws, ns, suffix)

	c.request(t, ready)
	expectServedBy(t, b, ready)
	expectReady(t, c, ready)
	expectDone(t, e, "created")
}

// expectTaken waits until another instance holds the Lease than before.
func expectTaken(t *testing.T, c *cluster, before *coordinationv1.Lease) *coordinationv1.Lease {
	t.Helper()

	l := newLease(before.GetNamespace(), before.GetName())

	eventually(t, func() error {
		c.get(t, l)

		if have := holder(l); have == "" || have == holder(before) {
			return errors.Errorf("the Lease is held by %q", have)
		}

		return nil
	})

	return l
}

// freeze stops the process at a moment when it has noted the version of its Lease. Between the write
// and the note there would be no proof. It reads the Lease.
func (i *instance) freeze(t *testing.T, c *cluster, l *coordinationv1.Lease) {
	t.Helper()

	// A write may have been on its way when the process was stopped.
	const enough = 3

	looks := 0

	eventually(t, func() error {
		i.signal(t, syscall.SIGSTOP)

		c.get(t, l)

		records, err := filepath.Glob(filepath.Join(incarnation.Dir, "*"+holder(l)))
		if err != nil || len(records) != 1 {
			t.Fatalf("records of %q: %q, %v", holder(l), records, err)
		}

		noted, err := os.ReadFile(records[0])
		if err != nil {
			t.Fatal(err)
		}

		if strings.Contains(string(noted), string(l.GetUID())+"/"+l.GetResourceVersion()) {
			if looks++; looks < enough {
				return errors.New("the process was stopped just now")
			}

			return nil
		}

		looks = 0

		i.signal(t, syscall.SIGCONT)

		return errors.Errorf("the process has noted %q, and not the version %s of its Lease", noted, l.GetResourceVersion())
	})
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

			l := newLease(leaseNamespace, leaseName+"-"+shard)
			who := expectLeaseHeld(t, c, l.GetNamespace(), l.GetName())
			a.freeze(t, c, l)
			tc.end(t, a)

			var reads atomic.Int32

			// The proxy must not read l, which the test reads again meanwhile.
			path := "/leases/" + l.GetName()

			p := startProxy(t, c, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, path) && strings.Contains(r.UserAgent(), "leader-election") {
					reads.Add(1)
				}

				next.ServeHTTP(w, r)
			})
			b := startInstance(t, c, withShard(shard), withLongLease(), withRoot(a.root), withKubeconfig(p.kubeconfig))

			eventually(t, func() error {
				if !isHolder(t, c, l.GetName(), who) {
					t.Fatalf("%s\nthe Lease was taken by another instance", tc.reason)
				}

				// Every read could have been followed by a write.
				if n := reads.Load(); n < 4 {
					return errors.Errorf("the next instance has read the Lease %d times", n)
				}

				return nil
			})

			c.get(t, l)
			tc.prove(t, a, e)
			expectTaken(t, c, l)
			expectReady(t, c, ws)
			expectServedBy(t, b, ws)
		})
	}
}
