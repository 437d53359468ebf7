// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"bytes"
	"io"
	"math"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// withInterruptibleLease leaves a run that is interrupted ten seconds to end by itself, which is enough on a
// busy machine. The renew deadline is early.
func withInterruptibleLease() instanceOption {
	return withArgs("--lease-duration=24s", "--lease-renew-deadline=4s", "--lease-retry-period=500ms")
}

// withSteadyLease gives the instance a Lease that an outage of some seconds does not end.
func withSteadyLease() instanceOption {
	return withArgs("--lease-duration=40s", "--lease-renew-deadline=30s", "--lease-retry-period=500ms")
}

// applying is an instance in the middle of an apply, behind a proxy.
type applying struct {
	*instance

	c         *cluster
	proxy     *proxy
	shard     string
	namespace string
	suffix    string
	ws        workspace.Workspace
	e         evidence

	// session that the instance has opened.
	session *coordinationv1.Lease
}

func startApplying(t *testing.T, lease instanceOption, opts ...instanceOption) *applying {
	t.Helper()

	c := shared.sharded.started(t)
	a := &applying{c: c, proxy: startProxy(t, c, transparent), shard: unique("shard"), namespace: c.namespace(t), suffix: "lease"}
	a.instance = startInstance(t, c, append(opts, withShard(a.shard), lease, withKubeconfig(a.proxy.kubeconfig))...)

	cfg := c.createConfig(t, namespacedScope, a.namespace, withBackend(a.namespace, a.suffix))
	a.ws, a.e = c.createGated(t, namespacedScope, a.namespace, inShard(a.shard), withConfig(cfg))
	a.session = c.sessionOf(t, a.ws)

	return a
}

// expectGivenUp waits until the instance has ended because its session is over: by itself, with a message.
func (a *applying) expectGivenUp(t *testing.T, texts ...string) {
	t.Helper()

	if !eventuallyEnded(a.instance) {
		t.Fatalf("instance did not end within %s", patience)
	}

	if how := a.How(); how != "exit status 1" {
		t.Errorf("instance ended with %s, want exit status 1", how)
	}

	lines := strings.Split(strings.TrimSpace(a.output.String()), "\n")
	if last := lines[len(lines)-1]; !containsAll(last, texts) {
		t.Errorf("last line of the instance: want %q, got %q", texts, last)
	}
}

// TestHangingAPIServer delays all requests of an instance without limit in the middle of an apply. At the
// renew deadline the CLI is interrupted, saves its state and releases its lock. The instance goes on with
// the same session when the API server answers.
func TestHangingAPIServer(t *testing.T) {
	t.Parallel()

	a := startApplying(t, withInterruptibleLease())
	ends := make(chan struct{})
	a.proxy.become(hang(ends))
	// That is what the CLI does last.
	eventually(t, func() error {
		l := newLease(a.namespace, lockOf(a.ws, a.suffix))
		if a.c.get(t, l); holder(l) != "" {
			return errors.Errorf("the state is locked by %q", holder(l))
		}

		return nil
	})
	expectEndedProcess(t, a.e)
	expectExists(t, a.c, stateSecret(a.ws, a.namespace, a.suffix))

	a.proxy.become(transparent)
	close(ends)
	a.e.write(t, "gate", "")
	expectReady(t, a.c, a.ws)

	if after := a.c.sessionOf(t, a.ws); after.GetName() != a.session.GetName() || !a.Running() {
		t.Errorf("want the instance to go on with session %q, got %q", a.session.GetName(), after.GetName())
	}
}

// TestOutageEndsBeforeRun delays requests until an instance, which drains, has begun to interrupt
// an apply that does not end. Then they arrive. The session ends after the apply has ended.
func TestOutageEndsBeforeRun(t *testing.T) {
	t.Parallel()

	a := startApplying(t, withInterruptibleLease(), withCLI(newStubborn(t)), withArgs("--shutdown-grace=1m"))
	a.terminate(t)

	ends := make(chan struct{})
	a.proxy.become(late(ends))

	eventually(t, func() error {
		a.c.get(t, a.session)

		// A second after the renew deadline.
		if since := time.Since(a.session.Spec.RenewTime.Time); since < 5*time.Second {
			return errors.Errorf("the session was renewed %s ago", since)
		}

		return nil
	})
	close(ends)

	eventually(t, func() error {
		a.c.get(t, a.session)

		if have := holder(a.session); have != "" {
			return errors.Errorf("the session is held by %q", have)
		}

		return nil
	})
	expectEndedProcess(t, a.e)
}

// TestDisturbedSession disturbs the session of an instance in the middle of an apply, which does not
// reach the API server for a moment. Another instance takes the Workspace only when the first one has no run.
func TestDisturbedSession(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason  string
		disturb func(t *testing.T, a *applying)
		over    bool
	}{
		"Deleted": {
			reason: "A Lease that is gone does not say that its process is. That one learns that its session is over.",
			disturb: func(t *testing.T, a *applying) {
				t.Helper()
				a.c.remove(t, newLease(a.session.GetNamespace(), a.session.GetName()))
			},
			over: true,
		},
		"Emptied": {
			reason: "It was not its process that ended it.",
			disturb: func(t *testing.T, a *applying) {
				t.Helper()
				a.c.patch(t, newLease(a.session.GetNamespace(), a.session.GetName()), map[string]any{"spec": map[string]any{"holderIdentity": ""}})
			},
		},
		"Older": {
			reason: "It is not the Lease that its process has renewed.",
			disturb: func(t *testing.T, a *applying) {
				t.Helper()
				a.c.patch(t, newLease(a.session.GetNamespace(), a.session.GetName()), map[string]any{"spec": map[string]any{"leaseTransitions": 0}})
			},
			over: true,
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			a := startApplying(t, withSteadyLease())
			other := unique("shard")
			b := startInstance(t, a.c, withShard(other), withSteadyLease())

			a.c.relabel(t, a.ws, other)
			expectEvent(t, a.c, a.ws, "WaitingForOwner", "shard "+a.shard)
			a.proxy.become(refuseAll)
			tc.disturb(t, a)
			a.proxy.become(transparent)

			if tc.over {
				a.expectGivenUp(t, a.session.GetName(), "deleted or put back")
				expectEndedProcess(t, a.e)
			} else {
				expectNotServedBy(t, b, a.ws)
				expectLeaseHeld(t, a.c, a.session.GetNamespace(), a.session.GetName())
				expectRenewals(t, a.c, a.session.GetName(), 3)
			}

			a.e.write(t, "gate", "")
			a.c.request(t, a.ws)
			expectServedBy(t, b, a.ws)
			expectReady(t, a.c, a.ws)
		})
	}
}

// TestRestoredLease puts back the Lease of the leader election. The instance sees that another one is elected,
// and ends as after SIGTERM.
func TestRestoredLease(t *testing.T) {
	t.Parallel()

	a := startApplying(t, withInterruptibleLease(), withArgs("--shutdown-grace=1s"))
	lease := leaseName + "-" + a.shard
	a.c.patch(t, newLease(leaseNamespace, lease), map[string]any{"spec": map[string]any{"holderIdentity": "old_one"}})
	a.expectGivenUp(t, lease, "old_one")
	expectEndedProcess(t, a.e)
	expectUnlocked(t, a.c, a.ws, a.namespace, a.suffix)

	if a.c.get(t, a.session); holder(a.session) != "" {
		t.Errorf("want the session to have ended, but it is held by %q", holder(a.session))
	}
}

// hang never answers, and breaks the connections when the outage ends. It reads the body first: only then
// does the server notice that the client has closed the connection.
func hang(ends <-chan struct{}) middleware {
	return func(_ http.ResponseWriter, r *http.Request, _ http.Handler) {
		_, _ = io.Copy(io.Discard, r.Body)

		select {
		case <-ends:
			panic(http.ErrAbortHandler)
		case <-r.Context().Done():
		}
	}
}

// late passes requests on when the outage ends.
func late(ends <-chan struct{}) middleware {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))

		select {
		case <-ends:
			next.ServeHTTP(w, r)
		case <-r.Context().Done():
		}
	}
}

// refuseAll answers as an API server does that has lost its database.
func refuseAll(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
	refuse(w, http.StatusInternalServerError, metav1.StatusReasonInternalError)
}

// TestOtherLeaseNamespace starts an instance with another namespace for its Leases. It takes
// over from the one before when that is dead.
func TestOtherLeaseNamespace(t *testing.T) {
	t.Parallel()

	c := shared.sharded.started(t)
	ns, shard := c.namespace(t), unique("shard")
	a := startInstance(t, c, withShard(shard), withNamespace(c.namespace(t)), withShortLease())

	cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, "moved"))
	ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withModule(moduleFile(t, "outputs.tf")))
	expectReady(t, c, ws)
	a.kill(t)

	b := startInstance(t, c, withShard(shard), withShortLease())
	c.request(t, ws)
	expectServedBy(t, b, ws)
	expectClaimed(t, c, ws, leaseName+"-"+shard)
}

// TestGoneLeaseNamespace deletes the namespace in which an instance that has ended had its Leases. No process can write
// there that its session has ended. The API server says that the namespace is missing, or, to an instance with the rights of
// the manifests, that it is forbidden.
func TestGoneLeaseNamespace(t *testing.T) {
	t.Parallel()

	c := shared.sharded.started(t)

	for name, forbidden := range map[string]bool{"Missing": false, "Forbidden": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			ns, shard := c.namespace(t), unique("shard")
			gone := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: unique("gone")}}
			c.create(t, gone)

			a := startInstance(t, c, withShard(shard), withNamespace(gone.GetName()), withShortLease())
			cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, "gone"))
			ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withModule(moduleFile(t, "outputs.tf")))
			expectReady(t, c, ws)
			a.stop(t)
			c.removeNamespace(t, gone)

			rights := withArgs()
			if forbidden {
				rights = withKubeconfig(c.exampleUser(t, ns))
			}

			b := startInstance(t, c, withShard(shard), withShortLease(), rights)
			c.request(t, ws)
			expectServedBy(t, b, ws)
			expectReady(t, c, ws)
		})
	}
}

// removeNamespace removes a namespace that has only Leases, as the controller of namespaces does.
func (c *cluster) removeNamespace(t *testing.T, ns *corev1.Namespace) {
	t.Helper()

	if err := c.kube.DeleteAllOf(t.Context(), &coordinationv1.Lease{}, client.InNamespace(ns.GetName())); err != nil {
		t.Fatal(err)
	}

	c.remove(t, ns)
	c.get(t, ns)

	ns.Spec.Finalizers = nil
	if err := c.kube.SubResource("finalize").Update(t.Context(), ns); err != nil {
		t.Fatal(err)
	}

	expectGone(t, c, ns)
}

// testUnshardedOutage takes the API server away from an unsharded instance in the middle of an
// apply, for longer than its Lease lasts at other times.
func testUnshardedOutage(t *testing.T, c *cluster) {
	t.Helper()

	ns := c.namespace(t)
	p := startProxy(t, c, transparent)
	i := startInstance(t, c, withNamespace(ns), withShortLease(), withArgs("--lease-apply-duration=60s"), withKubeconfig(p.kubeconfig))
	cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, "outage"))
	ws, e := c.createGated(t, namespacedScope, ns, withConfig(cfg))

	l := c.sessionOf(t, ws)

	eventually(t, func() error {
		c.get(t, l)

		if have := ptr.Deref(l.Spec.LeaseDurationSeconds, 0); have != 60 {
			return errors.Errorf("duration of the session during an apply: want 60 seconds, got %d", have)
		}

		return nil
	})

	// Its Lease of the leader election expires after 8 seconds, and a standby would take it.
	standby := startInstance(t, c, withNamespace(ns), withShortLease(), withArgs("--lease-apply-duration=60s"))

	elected := expectLeaseHeld(t, c, ns, leaseName)

	p.become(refuseAll)
	eventually(t, func() error {
		c.get(t, l)

		if since := time.Since(l.Spec.RenewTime.Time); since < 14*time.Second {
			return errors.Errorf("the session was renewed %s ago", since)
		}

		return nil
	})
	p.become(transparent)

	if have := expectLeaseHeld(t, c, ns, leaseName); have != elected {
		t.Fatalf("want %q to be elected as before, got %q", elected, have)
	}

	e.write(t, "gate", "")
	expectReady(t, c, ws)
	expectDone(t, e, "created")
	expectNotServedBy(t, standby, ws)
	standby.stop(t)

	// It is idle now, and does not end.
	expectIdle(t, i, namespacedScope)
	c.get(t, l)
	p.become(refuseAll)
	eventually(t, func() error {
		if since := time.Since(l.Spec.RenewTime.Time); since < 6*time.Second {
			return errors.Errorf("the session was renewed %s ago", since)
		}

		return nil
	})
	p.become(transparent)
	c.request(t, ws)
	expectReady(t, c, ws)

	if after := c.sessionOf(t, ws); after.GetName() != l.GetName() {
		t.Errorf("want the instance to go on with session %q, got %q", l.GetName(), after.GetName())
	}

	i.stop(t)
}

// TestRefusedSession has an API server that refuses the Lease of the session, as a quota does. The instance says so, and is not
// ready before it works.
func TestRefusedSession(t *testing.T) {
	t.Parallel()

	var leases, full atomic.Int32

	full.Store(1)

	c := shared.sharded.started(t)
	p := startProxy(t, c, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		// The first one is that of the election.
		if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/leases") && leases.Add(1) > full.Load() {
			refuseWith(w, http.StatusForbidden, metav1.StatusReasonForbidden, "exceeded quota: leases")

			return
		}

		next.ServeHTTP(w, r)
	})
	i := launchInstance(t, c, withShard(unique("shard")), withNamespace(c.namespace(t)), withKubeconfig(p.kubeconfig))

	eventually(t, func() error {
		code, body, err := i.get(t, i.probes, "/readyz/lease")
		if err == nil && (code == http.StatusOK || !strings.Contains(body, "cannot open a session")) {
			err = errors.Errorf("readyz/lease: %d %s", code, body)
		}

		return err
	})

	full.Store(math.MaxInt32)
	expectServing(t, i, "/readyz")
}
