// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"maps"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// TestRequests counts the requests of an instance for a new Workspace, and for its deletion. It is
// Ready with the status write that ends its creation: there is no other one. The finalizer is removed
// in the same reconcile: the Workspace is not read again, and no status is written that no reader could
// read.
func TestRequests(t *testing.T) {
	t.Parallel()

	c := shared.sharded.started(t)
	ns, shard := c.namespace(t), unique("shard")
	n := &requestCounter{namespace: ns, counts: map[string]int{}}
	p := startProxy(t, c, n.count)
	i := startInstance(t, c, withShard(shard), withKubeconfig(p.kubeconfig), withCLIKubeconfig(p.kubeconfig))

	cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, "requests"))
	ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withModule(`resource "terraform_data" "it" {}`))
	expectReady(t, c, ws)

	want := map[string]int{
		"PATCH workspaces/status":   1, // The claim. Its answer is what is reconciled.
		"POST providerconfigusages": 1,
		"POST events":               1, // What was created.
		"PATCH workspaces":          2, // External name, finalizer, and that creation begins; that it has succeeded.
		"PUT workspaces/status":     2, // That creation begins, and its result.
	}

	eventually(t, func() error {
		if diff := cmp.Diff(want, n.all()); diff != "" {
			return errors.Errorf("requests: -want, +got:\n%s", diff)
		}

		return nil
	})

	// The reconciler has observed what it created, and has requested nothing for that.
	expectSeries(t, i, `crossplane_managed_resource_first_time_to_readiness_seconds_count{gvk="tf.m.upbound.io/v1beta1, Kind=Workspace"}`)

	if diff := cmp.Diff(want, n.all()); diff != "" {
		t.Errorf("requests: -want, +got:\n%s", diff)
	}

	// Another Workspace keeps the state of the default Terraform workspace.
	other := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withModule(`resource "terraform_data" "it" {}`))
	expectReady(t, c, other)
	// Events are sent later than the status.
	expectEvent(t, c, other, "CreatedExternalResource")
	n.reset()
	c.remove(t, ws)
	expectGone(t, c, ws)

	want = map[string]int{
		"GET secrets":           2, // The state, before and after destroy.
		"PUT workspaces/status": 2, // That the deletion begins, and that nothing is left in the state.
		"GET leases":            2, // The lock on the state, and whether it is the last one of the backend.
		"DELETE leases":         1,
		"DELETE secrets":        1,
		"POST events":           1, // What was destroyed.
		"PATCH workspaces":      1, // Without the finalizer.
	}

	eventually(t, func() error {
		got := n.all()
		// Each reconcile asks whether there is a claim to release. Watch Events that arrive between two of them
		// cause another one.
		asked := got["GET workspaces"]
		delete(got, "GET workspaces")

		if diff := cmp.Diff(want, got); diff != "" || asked < 1 || asked > 3 {
			return errors.Errorf("%d GET workspaces, want 1 to 3; other requests: -want, +got:\n%s", asked, diff)
		}

		return nil
	})
}

// A requestCounter counts the requests of a provider about objects of a namespace, without those
// of watches and about ProviderConfigs, by verb and resource.
type requestCounter struct {
	namespace string

	mu     sync.Mutex
	counts map[string]int
}

func (c *requestCounter) count(w http.ResponseWriter, r *http.Request, next http.Handler) {
	if _, rest, ok := strings.Cut(r.URL.Path, "/namespaces/"+c.namespace+"/"); ok {
		// RESOURCE[/NAME[/SUBRESOURCE]]
		parts := strings.Split(rest, "/")
		if len(parts) == 3 {
			parts[0] += "/" + parts[2]
		}

		if !strings.HasPrefix(parts[0], "providerconfigs") && !isCLI(r) {
			c.mu.Lock()
			c.counts[r.Method+" "+parts[0]]++
			c.mu.Unlock()
		}
	}

	next.ServeHTTP(w, r)
}

// isCLI says whether a request comes from the kubernetes backend of the CLI.
func isCLI(r *http.Request) bool {
	return strings.Contains(r.UserAgent(), "OpenTofu") || strings.Contains(r.UserAgent(), "HashiCorp")
}

func (c *requestCounter) reset() {
	c.mu.Lock()
	defer c.mu.Unlock()

	clear(c.counts)
}

func (c *requestCounter) all() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()

	return maps.Clone(c.counts)
}
