// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// withInterruptibleLease leaves a run that is interrupted at the renew deadline two
// seconds to end by itself, and the instance one more.
func withInterruptibleLease() instanceOption {
	return withArgs("--lease-duration=8s", "--lease-renew-deadline=4s", "--lease-retry-period=500ms")
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
	lease     string
	namespace string
	suffix    string
	ws        workspace.Workspace
	e         evidence
}

func startApplying(t *testing.T, lease instanceOption, opts ...instanceOption) *applying {
	t.Helper()

	c := shared.sharded.started(t)
	shard := unique("shard")
	a := &applying{c: c, proxy: startProxy(t, c, transparent), lease: leaseName + "-" + shard, namespace: c.namespace(t), suffix: "lease"}
	a.instance = startInstance(t, c, append(opts, withShard(shard), lease, withKubeconfig(a.proxy.kubeconfig))...)

	cfg := c.createConfig(t, namespacedScope, a.namespace, withBackend(a.namespace, a.suffix))
	a.ws, a.e = c.createGated(t, namespacedScope, a.namespace, inShard(shard), withConfig(cfg))

	return a
}

// expectGivenUp waits until the instance has ended because it lost its Lease: by itself,
// with a message.
func (a *applying) expectGivenUp(t *testing.T, text string) {
	t.Helper()

	if !eventuallyEnded(a.instance) {
		t.Fatalf("instance did not end within %s", patience)
	}

	if how := a.How(); how != "exit status 1" {
		t.Errorf("instance ended with %s, want exit status 1", how)
	}

	lines := strings.Split(strings.TrimSpace(a.output.String()), "\n")
	if last := lines[len(lines)-1]; !strings.Contains(last, a.lease) || !strings.Contains(last, text) {
		t.Errorf("last line of the instance: want the name of its Lease and %q, got %q", text, last)
	}
}

// expectNoRun fails the test if the apply is still in progress.
func (a *applying) expectNoRun(t *testing.T) {
	t.Helper()

	pid, err := os.ReadFile(filepath.Join(string(a.e), "pid"))
	if err != nil {
		t.Fatalf("cannot read evidence: %v", err)
	}

	if !isEnded(strings.TrimSpace(string(pid))) {
		t.Error("the apply is still in progress")
	}
}

// TestHangingAPIServer delays all requests of an instance without limit in the middle of
// an apply. At the renew deadline the CLI is interrupted, saves its state and releases its
// lock.
func TestHangingAPIServer(t *testing.T) {
	t.Parallel()

	a := startApplying(t, withInterruptibleLease())
	a.proxy.become(hang)
	a.expectGivenUp(t, "could not be renewed")
	a.expectNoRun(t)
	expectUnlocked(t, a.c, a.ws, a.namespace, a.suffix)
	expectExists(t, a.c, stateSecret(a.ws, a.namespace, a.suffix))
}

// TestOutageEndsBeforeRun delays requests until an instance, which drains, has begun to interrupt
// an apply that does not end. Then they arrive. The Lease is released after the apply has
// ended.
func TestOutageEndsBeforeRun(t *testing.T) {
	t.Parallel()

	a := startApplying(t, withInterruptibleLease(), withCLI(newStubborn(t)), withArgs("--shutdown-grace=1m"))
	a.terminate(t)

	ends := make(chan struct{})
	a.proxy.become(late(ends))

	l := newLease(leaseNamespace, a.lease)

	eventually(t, func() error {
		a.c.get(t, l)

		// A second after the renew deadline.
		if since := time.Since(l.Spec.RenewTime.Time); since < 5*time.Second {
			return errors.Errorf("the Lease was renewed %s ago", since)
		}

		return nil
	})
	close(ends)

	eventually(t, func() error {
		a.c.get(t, l)

		if have := holder(l); have != "" {
			return errors.Errorf("the Lease is held by %q", have)
		}

		return nil
	})
	a.expectNoRun(t)
	a.expectGivenUp(t, "could not be renewed")
}

// TestDisturbedLease disturbs the Lease of an instance that does not reach the API server
// for a moment, in one way after the other. A standby takes it only when the instance is dead.
func TestDisturbedLease(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason  string
		disturb func(t *testing.T, c *cluster, name string)
	}{
		"Deleted": {
			reason:  "A Lease that is gone does not say that its holder is.",
			disturb: func(t *testing.T, c *cluster, name string) { t.Helper(); c.remove(t, newLease(leaseNamespace, name)) },
		},
		"Emptied": {
			reason: "It was not its holder that released it.",
			disturb: func(t *testing.T, c *cluster, name string) {
				t.Helper()
				c.patch(t, newLease(leaseNamespace, name), map[string]any{"spec": map[string]any{"holderIdentity": ""}})
			},
		},
		"Restored": {
			reason: "Another instance had released the Lease of the backup.",
			disturb: func(t *testing.T, c *cluster, name string) {
				t.Helper()
				c.patch(t, newLease(leaseNamespace, name), map[string]any{
					"metadata": map[string]any{"annotations": map[string]any{
						"terraform.crossplane.io/holders":     "old_one",
						"terraform.crossplane.io/released-by": "old_one",
					}},
					"spec": map[string]any{"holderIdentity": "", "leaseTransitions": 0},
				})
			},
		},
	}

	a := startApplying(t, withSteadyLease())
	who := expectLeaseHeld(t, a.c, leaseNamespace, a.lease)

	var reads atomic.Int32

	p := startProxy(t, a.c, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/leases/"+a.lease) && strings.Contains(r.UserAgent(), "leader-election") {
			reads.Add(1)
		}

		next.ServeHTTP(w, r)
	})
	startInstance(t, a.c, withShard(strings.TrimPrefix(a.lease, leaseName+"-")), withSteadyLease(), withKubeconfig(p.kubeconfig))

	for name, tc := range cases {
		expectMore := func(n int32) {
			t.Helper()

			from := reads.Load()

			eventually(t, func() error {
				if !isHolder(t, a.c, a.lease, who, "") {
					t.Fatalf("%s: %s\nthe Lease was taken by another instance", name, tc.reason)
				}

				if reads.Load() < from+n {
					return errors.New("the standby has not read the Lease")
				}

				return nil
			})
		}

		expectMore(1)
		a.proxy.become(refuseAll)
		tc.disturb(t, a.c, a.lease)
		expectMore(2)
		a.proxy.become(transparent)
		eventually(t, func() error {
			if !isHolder(t, a.c, a.lease, who, "") {
				t.Fatalf("%s: %s\nthe Lease was taken by another instance", name, tc.reason)
			}

			if !isHolder(t, a.c, a.lease, who) {
				return errors.New("the Lease has no holder")
			}

			return nil
		})
		expectRenewals(t, a.c, a.lease, 3)

		if !a.Running() {
			t.Fatalf("%s: %s\nthe instance has ended", name, tc.reason)
		}
	}

	a.e.write(t, "gate", "")
	expectReady(t, a.c, a.ws)
}

// TestRestoredLease puts back the Lease of an earlier incarnation. The instance sees that
// it does not hold its Lease, and ends.
func TestRestoredLease(t *testing.T) {
	t.Parallel()

	a := startApplying(t, withInterruptibleLease())
	a.c.patch(t, newLease(leaseNamespace, a.lease), map[string]any{"spec": map[string]any{"holderIdentity": "old_one"}})
	a.expectGivenUp(t, "old_one")
	a.expectNoRun(t)
	expectUnlocked(t, a.c, a.ws, a.namespace, a.suffix)

	l := newLease(leaseNamespace, a.lease)
	a.c.get(t, l)

	if have := holder(l); have != "old_one" {
		t.Errorf("holder of the Lease: want it to be left alone, got %q", have)
	}
}

// isHolder says whether one of the supplied instances holds the Lease. The empty identity
// stands for a missing Lease and for one without a holder.
func isHolder(t *testing.T, c *cluster, name string, identities ...string) bool {
	t.Helper()

	l := newLease(leaseNamespace, name)
	if err := c.kube.Get(t.Context(), client.ObjectKeyFromObject(l), l); client.IgnoreNotFound(err) != nil {
		t.Fatalf("cannot get Lease %q: %v", name, err)
	}

	return slices.Contains(identities, holder(l))
}

// hang never answers. It reads the body first: only then does the server notice that the
// client has closed the connection.
func hang(_ http.ResponseWriter, r *http.Request, _ http.Handler) {
	_, _ = io.Copy(io.Discard, r.Body)
	<-r.Context().Done()
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

// TestOtherLeaseNamespace starts an instance with another namespace for its Lease. It takes
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

// testUnshardedOutage takes the API server away from an unsharded instance in the middle of an
// apply, for longer than its Lease lasts at other times.
func testUnshardedOutage(t *testing.T, c *cluster) {
	t.Helper()

	ns := c.namespace(t)
	p := startProxy(t, c, transparent)
	i := startInstance(t, c, withNamespace(ns), withShortLease(), withArgs("--lease-apply-duration=60s"), withKubeconfig(p.kubeconfig))
	cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, "outage"))
	ws, e := c.createGated(t, namespacedScope, ns, withConfig(cfg))

	l := newLease(ns, leaseName)

	eventually(t, func() error {
		c.get(t, l)

		if have := ptr.Deref(l.Spec.LeaseDurationSeconds, 0); have != 60 {
			return errors.Errorf("duration of the Lease during an apply: want 60 seconds, got %d", have)
		}

		return nil
	})

	p.become(refuseAll)
	eventually(t, func() error {
		if since := time.Since(l.Spec.RenewTime.Time); since < 6*time.Second {
			return errors.Errorf("the Lease was renewed %s ago", since)
		}

		return nil
	})
	p.become(transparent)
	e.write(t, "gate", "")
	expectReady(t, c, ws)
	expectDone(t, e, "created")

	// It is idle now, and does not end.
	expectIdle(t, i, namespacedScope)
	p.become(refuseAll)
	eventually(t, func() error {
		if !strings.Contains(i.output.String(), "Pausing until") {
			return errors.New("the instance does not pause")
		}

		return nil
	})
	p.become(transparent)
	c.request(t, ws)
	i.stop(t)
}
