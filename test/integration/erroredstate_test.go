// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// expectErroredState waits until a state of the Workspace that could not be saved is
// on the disk of the instance, or is not any more.
func expectErroredState(t *testing.T, i *instance, ws workspace.Workspace, want bool) {
	t.Helper()
	eventually(t, func() error {
		_, err := os.Stat(filepath.Join(i.workdir(string(ws.GetUID())), "errored.tfstate"))
		if err != nil && !os.IsNotExist(err) {
			return err
		}

		if (err == nil) != want {
			return errors.Errorf("errored.tfstate: want it to be there: %t", want)
		}

		return nil
	})
}

// TestErroredFirstState has a backend in which there is no state before the first apply, and which refuses what that apply saves. The CLIs
// give a state another lineage if they push it to a place without one.
func TestErroredFirstState(t *testing.T) {
	t.Parallel()
	eachCLI(t, func(t *testing.T, cli string) {
		t.Helper()

		c, ns, shard, _ := useCommon(t, cli)

		var refuses atomic.Bool

		refuses.Store(true)

		states := &stateServer{}

		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost && refuses.Load() {
				w.WriteHeader(http.StatusForbidden)

				return
			}

			states.ServeHTTP(w, r)
		}))
		defer server.Close()

		e := newEvidence(t)
		ws := newWorkspace(namespacedScope, ns, inShard(shard), withConfig(c.createConfig(t, namespacedScope, ns, withHTTPBackend(server.URL))), withEvidence(t, "evidence.tf", e))
		meta.SetExternalName(ws, "default")
		c.create(t, ws)
		expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, "HTTP error: 403")

		refuses.Store(false)
		c.request(t, ws)
		expectReady(t, c, ws)
		expectEvent(t, c, ws, "SavedState")
		expectDone(t, e, "created")
		states.expectResources(t, 1)

		// It is known to have created that.
		c.remove(t, ws)
		expectGone(t, c, ws)
		expectDone(t, e, "created", "destroyed")
	})
}

// TestErroredState disconnects the backend when an apply is about to save its resources.
// The instance that then serves the Workspace saves the state later.
func TestErroredState(t *testing.T) {
	t.Parallel()

	const suffix = "errored"

	c := shared.sharded.started(t)
	ns, one, two := c.namespace(t), unique("shard"), unique("shard")
	b := startInstance(t, c, withShard(two), withTerraform())

	cases := map[string]struct {
		reason    string
		meanwhile func(t *testing.T, ws workspace.Workspace)
		after     func(t *testing.T, ws workspace.Workspace)
	}{
		"Stays": {
			reason:    "The instance that has it saves it.",
			meanwhile: func(*testing.T, workspace.Workspace) {},
			after:     func(*testing.T, workspace.Workspace) {},
		},
		"Moves": {
			reason: "No other instance has the state: the claim is kept until it is saved.",
			meanwhile: func(t *testing.T, ws workspace.Workspace) {
				t.Helper()
				c.relabel(t, ws, two)
				expectEvent(t, c, ws, "WaitingForOwner", "shard "+one)
				expectNotServedBy(t, b, ws)
			},
			after: func(t *testing.T, ws workspace.Workspace) {
				t.Helper()
				expectClaimed(t, c, ws, leaseName+"-"+two)
				expectServedBy(t, b, ws)
			},
		},
	}

	o := newOutage(t, c, "/secrets")
	a := startInstance(t, c, withShard(one), withTerraform(), withCLIKubeconfig(o.kubeconfig))

	for _, name := range []string{"Stays", "Moves"} {
		tc := cases[name]

		cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, suffix))
		ws, e := c.createGated(t, namespacedScope, ns, inShard(one), withConfig(cfg))

		o.begin()
		e.write(t, "gate", "")
		expectErroredState(t, a, ws, true)
		tc.meanwhile(t, ws)
		expectClaimed(t, c, ws, leaseName+"-"+one)

		o.end()
		expectEvent(t, c, ws, "SavedState")
		expectErroredState(t, a, ws, false)
		tc.after(t, ws)
		expectReady(t, c, ws)
		expectOutputs(t, c, ws, map[string]string{"greeting": `"hello"`})
		expectDone(t, e, "created")

		c.remove(t, ws)
		expectGone(t, c, ws)

		if t.Failed() {
			t.Log(tc.reason)
		}

		expectDone(t, e, "created", "destroyed")
	}
}

// TestEncryptedErroredState has an encrypted state that could not be saved. The CLI does not read such a file, so that
// the state would never be saved.
func TestEncryptedErroredState(t *testing.T) {
	t.Parallel()

	const suffix = "errored-encrypted"

	c := shared.sharded.started(t)
	ns, shard := c.namespace(t), unique("shard")
	o := newOutage(t, c, "/secrets")
	i := startInstance(t, c, withShard(shard), withCLIKubeconfig(o.kubeconfig))

	spec := withBackend(ns, suffix)
	*spec.Configuration += encryption
	cfg := c.createConfig(t, namespacedScope, ns, spec)
	ws, e := c.createGated(t, namespacedScope, ns, inShard(shard), withConfig(cfg))

	o.begin()
	e.write(t, "gate", "")
	expectErroredState(t, i, ws, true)
	o.end()

	expectEvent(t, c, ws, "SavedState")
	expectErroredState(t, i, ws, false)
	expectReady(t, c, ws)
	expectDone(t, e, "created")

	c.remove(t, ws)
	expectGone(t, c, ws)
	expectDone(t, e, "created", "destroyed")
}

// TestHeldState disconnects the backend when an apply is about to save its resources, which cannot write them to the
// disk, either. The CLI prints the state: nothing else has it.
func TestHeldState(t *testing.T) {
	t.Parallel()

	for name, opts := range map[string][]instanceOption{"OpenTofu": nil, "Terraform": {withTerraform()}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			c := shared.sharded.started(t)
			ns, shard := c.namespace(t), unique("shard")
			o := newOutage(t, c, "/secrets")
			i := startInstance(t, c, append(opts, withShard(shard), withCLIKubeconfig(o.kubeconfig))...)

			ws, e := c.createGated(t, namespacedScope, ns, inShard(shard), withConfig(c.createConfig(t, namespacedScope, ns, withBackend(ns, "no-room"))),
				withParameters(func(p *commonv1beta1.ModuleParameters) { p.EnableTerraformCLILogging = true }))

			inTheWay := filepath.Join(i.workdir(string(ws.GetUID())), "errored.tfstate")
			if err := os.Mkdir(inTheWay, 0o700); err != nil {
				t.Fatal(err)
			}

			o.begin()
			e.write(t, "gate", "")
			eventually(t, func() error {
				if !strings.Contains(i.output.String(), "Emergency state dump") {
					return errors.New("want the CLI to print the state")
				}

				return nil
			})
			o.end()

			if err := os.Remove(inTheWay); err != nil {
				t.Fatal(err)
			}

			expectEvent(t, c, ws, "SavedState")
			expectErroredState(t, i, ws, false)
			expectReady(t, c, ws)
			c.remove(t, ws)
			expectGone(t, c, ws)
			expectDone(t, e, "created", "destroyed")
		})
	}
}

// TestStopWithoutBackend stops an instance that waits for its backend to come back. The
// next one saves the state.
func TestStopWithoutBackend(t *testing.T) {
	t.Parallel()

	c := shared.sharded.started(t)
	ns, shard := c.namespace(t), unique("shard")
	o := newOutage(t, c, "/secrets")
	i := startInstance(t, c, withShard(shard), withCLIKubeconfig(o.kubeconfig), withArgs("--shutdown-grace=1s"))

	cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, "away"))
	ws, e := c.createGated(t, namespacedScope, ns, inShard(shard), withConfig(cfg))

	o.begin()
	e.write(t, "gate", "")
	expectErroredState(t, i, ws, true)
	i.stop(t)

	o.end()

	again := startInstance(t, c, withShard(shard), withCLIKubeconfig(o.kubeconfig), withRoot(i.root))
	expectEvent(t, c, ws, "SavedState")
	expectReady(t, c, ws)
	expectErroredState(t, again, ws, false)
	expectDone(t, e, "created")
}
