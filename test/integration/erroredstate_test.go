// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// An outage is a backend that refuses some of the writes of a CLI, from a moment on
// and until another one.
type outage struct {
	*proxy

	// of says which writes are refused, by their path.
	of string

	refused atomic.Int32
}

// newOutage returns one that has not begun.
func newOutage(t *testing.T, c *cluster, of string) *outage {
	t.Helper()

	return &outage{proxy: startProxy(t, c, transparent), of: of}
}

func (o *outage) begin() {
	o.become(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.Method == http.MethodGet || !strings.Contains(r.URL.Path, o.of) {
			next.ServeHTTP(w, r)

			return
		}

		o.refused.Add(1)
		refuse(w, http.StatusInternalServerError, metav1.StatusReasonInternalError)
	})
}

func (o *outage) end() { o.become(transparent) }

// expectFelt waits until a write was refused.
func (o *outage) expectFelt(t *testing.T) {
	t.Helper()
	eventually(t, func() error {
		if o.refused.Load() == 0 {
			return errors.Errorf("nobody has tried to write %s", o.of)
		}

		return nil
	})
}

// expectErroredState waits until a state of the Workspace that could not be saved is
// on the disk of the instance, or is not any more.
func expectErroredState(t *testing.T, i *instance, ws workspace.Workspace, want bool) {
	t.Helper()
	expectErroredStateIn(t, i, ws, ".", want)
}

// expectErroredStateIn is expectErroredState for a Workspace with an entrypoint.
func expectErroredStateIn(t *testing.T, i *instance, ws workspace.Workspace, entrypoint string, want bool) {
	t.Helper()
	eventually(t, func() error {
		_, err := os.Stat(filepath.Join(i.workdir(string(ws.GetUID())), entrypoint, "errored.tfstate"))
		if err != nil && !os.IsNotExist(err) {
			return err
		}

		if (err == nil) != want {
			return errors.Errorf("errored.tfstate: want it to be there: %t", want)
		}

		return nil
	})
}

// TestErroredState takes the backend away when an apply wants to save what it has
// created. It is saved later, whoever is to serve the Workspace by then.
func TestErroredState(t *testing.T) {
	t.Parallel()
	eachCLI(t, func(t *testing.T, cli string) {
		const suffix = "errored"

		c := shared.sharded.started(t)
		ns, one, two := c.namespace(t), unique("shard"), unique("shard")
		b := startInstance(t, c, withShard(two), withCLI(cli))

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
				reason: "Nobody else has it: the claim is kept until it is saved.",
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
		a := startInstance(t, c, withShard(one), withCLI(cli), withCLIKubeconfig(o.kubeconfig))

		for _, name := range []string{"Stays", "Moves"} {
			tc := cases[name]

			e := newEvidence(t)
			cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, suffix))
			ws := c.createWorkspace(t, namespacedScope, ns, inShard(one), withConfig(cfg), withEvidence(t, "gated.tf", e))
			expectDone(t, e, "created")
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
	})
}

// TestStopWithoutBackend stops an instance that waits for its backend to come back.
// The next one saves what it could not save.
func TestStopWithoutBackend(t *testing.T) {
	t.Parallel()

	c := shared.sharded.started(t)
	ns, shard := c.namespace(t), unique("shard")
	o := newOutage(t, c, "/secrets")
	i := startInstance(t, c, withShard(shard), withCLIKubeconfig(o.kubeconfig), withArgs("--shutdown-grace=1s"))

	e := newEvidence(t)
	cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, "away"))
	ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withEvidence(t, "gated.tf", e))
	expectDone(t, e, "created")
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

// TestOwnLock takes the backend away when an apply wants to give its lock back. The
// instance knows that nobody holds the lock, and removes it.
func TestOwnLock(t *testing.T) {
	t.Parallel()
	eachCLI(t, func(t *testing.T, cli string) {
		const suffix = "own-lock"

		c := shared.sharded.started(t)
		ns, shard := c.namespace(t), unique("shard")
		o := newOutage(t, c, "/leases/lock-tfstate-")
		startInstance(t, c, withShard(shard), withCLI(cli), withCLIKubeconfig(o.kubeconfig))

		e := newEvidence(t)
		cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, suffix))
		ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withEvidence(t, "gated.tf", e))
		expectDone(t, e, "created")
		o.begin()
		e.write(t, "gate", "")
		o.expectFelt(t)
		o.end()

		// The next plan takes a lock although it needs none, and finds the old one.
		expectReady(t, c, ws)
		expectEvent(t, c, ws, "RemovedOrphanLock")
		expectUnlocked(t, c, ws, ns, suffix)

		c.changeModule(t, ws, moduleFile(t, "gated.tf")+`output "more" { value = 1 }`)
		expectOutputs(t, c, ws, map[string]string{"greeting": `"hello"`, "more": "1"})
		expectReady(t, c, ws)
		expectDone(t, e, "created")
	})
}

// TestLeftLock gives a Workspace to another instance, and takes the backend away when the
// apply of the first one wants to give its lock back. The other one is told that nobody
// holds the lock.
func TestLeftLock(t *testing.T) {
	t.Parallel()

	const suffix = "left-lock"

	c := shared.sharded.started(t)
	ns, one, two := c.namespace(t), unique("shard"), unique("shard")
	o := newOutage(t, c, "/leases/lock-tfstate-")
	startInstance(t, c, withShard(one), withCLIKubeconfig(o.kubeconfig))
	b := startInstance(t, c, withShard(two))

	e := newEvidence(t)
	cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, suffix))
	ws := c.createWorkspace(t, namespacedScope, ns, inShard(one), withConfig(cfg), withEvidence(t, "gated.tf", e))
	expectDone(t, e, "created")
	c.relabel(t, ws, two)
	expectEvent(t, c, ws, "WaitingForOwner", "shard "+one)
	o.begin()
	e.write(t, "gate", "")
	expectEvent(t, c, ws, "RemovedOrphanLock")
	expectServedBy(t, b, ws)
	expectReady(t, c, ws)
	expectUnlocked(t, c, ws, ns, suffix)
	expectDone(t, e, "created")
}

// TestSupersededState lets an instance die with a state that it could not save, and
// another one, with another disk, create everything again. When the Workspace comes
// back to the first disk, the state there must not replace what the other one made.
func TestSupersededState(t *testing.T) {
	t.Parallel()

	c := shared.sharded.started(t)
	ns, one, two := c.namespace(t), unique("shard"), unique("shard")
	o := newOutage(t, c, "/secrets")
	a := startInstance(t, c, withShard(one), withShortLease(), withCLIKubeconfig(o.kubeconfig))
	b := startInstance(t, c, withShard(two), withShortLease())

	e := newEvidence(t)
	cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, "superseded"))
	ws := c.createWorkspace(t, namespacedScope, ns, inShard(one), withConfig(cfg), withEvidence(t, "gated.tf", e))
	expectDone(t, e, "created")
	o.begin()
	e.write(t, "gate", "")
	expectErroredState(t, a, ws, true)
	a.kill(t)
	o.end()

	c.relabel(t, ws, two)
	expectServedBy(t, b, ws)
	expectReady(t, c, ws)
	expectDone(t, e, "created", "created")
	c.annotate(t, ws, requestedAt, "now")
	lineage := expectRemembered(t, c, ws)

	again := startInstance(t, c, withShard(one), withShortLease(), withRoot(a.root))
	c.relabel(t, ws, one)
	expectEvent(t, c, ws, "UnsavedState", "errored.tfstate.superseded-", "by hand")
	expectServedBy(t, again, ws)
	expectErroredState(t, again, ws, false)
	expectReady(t, c, ws)
	expectDone(t, e, "created", "created")

	if s := ws.GetObservation().State; s.Lineage != lineage {
		t.Errorf("want the state with lineage %s, have %+v", lineage, s)
	}
}

// TestStaleState lets an instance go on that could not save a state, and another one,
// with another disk, work on the Workspace meanwhile. When the Workspace comes back to
// the first one, it must not trust what it remembers of itself: the state that it has is
// the one with the higher serial, and not the one to keep.
func TestStaleState(t *testing.T) {
	t.Parallel()

	c := shared.sharded.started(t)
	ns, one, two := c.namespace(t), unique("shard"), unique("shard")
	o := newOutage(t, c, "/secrets")
	// The timeout ends the time in which it holds on to the Workspace.
	a := startInstance(t, c, withShard(one), withCLIKubeconfig(o.kubeconfig), withArgs("--timeout=40s"))
	b := startInstance(t, c, withShard(two))

	e := newEvidence(t)
	cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, "stale"))
	ws := c.createWorkspace(t, namespacedScope, ns, inShard(one), withConfig(cfg), withEvidence(t, "evidence.tf", e))
	expectReady(t, c, ws)

	again := newEvidence(t)
	c.patch(t, ws, map[string]any{"spec": map[string]any{"forProvider": map[string]any{
		"module": moduleFile(t, "gated.tf"),
		"vars":   []map[string]any{{"key": "dir", "value": string(again)}},
	}}})
	expectDone(t, again, "created")
	o.begin()
	again.write(t, "gate", "")
	expectErroredState(t, a, ws, true)
	raiseSerial(t, a, ws)

	c.relabel(t, ws, two)
	expectServedBy(t, b, ws)
	expectReady(t, c, ws)
	expectDone(t, again, "created", "created")
	o.end()

	c.relabel(t, ws, one)
	expectEvent(t, c, ws, "UnsavedState", "errored.tfstate.superseded-", "by hand")
	expectErroredState(t, a, ws, false)
	expectReady(t, c, ws)
	expectDone(t, again, "created", "created")
}

// TestErroredStateElsewhere changes the entrypoint of a Workspace whose state could not be
// saved. The state is found where the CLI has left it.
func TestErroredStateElsewhere(t *testing.T) {
	t.Parallel()

	c := shared.sharded.started(t)
	ns, shard := c.namespace(t), unique("shard")
	o := newOutage(t, c, "/secrets")
	// The timeout ends the time in which the first apply goes on trying.
	i := startInstance(t, c, withShard(shard), withCLIKubeconfig(o.kubeconfig), withArgs("--timeout=40s"))

	e := newEvidence(t)
	cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, "elsewhere"))
	ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withEvidence(t, "gated.tf", e), withEntrypoint("one"))
	expectDone(t, e, "created")
	o.begin()
	e.write(t, "gate", "")
	expectErroredStateIn(t, i, ws, "one", true)
	c.patch(t, ws, map[string]any{"spec": map[string]any{"forProvider": map[string]any{"entrypoint": "two"}}})
	expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse)
	o.end()

	expectEvent(t, c, ws, "SavedState")
	expectErroredStateIn(t, i, ws, "one", false)
	expectReady(t, c, ws)
	expectDone(t, e, "created")
}

// raiseSerial makes the serial of a state that the instance could not save what it is
// after many tries of the CLI to save it.
func raiseSerial(t *testing.T, i *instance, ws workspace.Workspace) {
	t.Helper()

	path := filepath.Join(i.workdir(string(ws.GetUID())), "errored.tfstate")

	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("cannot read state: %v", err)
	}

	state := map[string]any{}
	if err := json.Unmarshal(data, &state); err != nil {
		t.Fatalf("cannot parse state: %v", err)
	}

	state["serial"] = 50

	if data, err = json.Marshal(state); err != nil {
		t.Fatalf("cannot encode state: %v", err)
	}

	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatalf("cannot write state: %v", err)
	}
}
