// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// working returns which of the supplied modules have begun.
func working(traces []evidence) []int {
	var begun []int

	for n, e := range traces {
		if len(e.lines()) > 0 {
			begun = append(begun, n)
		}
	}

	return begun
}

// TestMaxApplies has more applies to do than may be done at once. Polls go on beside
// them.
func TestMaxApplies(t *testing.T) {
	t.Parallel()

	const limit = 2

	c := shared.sharded.started(t)
	ns, shard := c.namespace(t), unique("shard")
	i := startInstance(t, c, withShard(shard), withWorkers(limit+1), withArgs("--max-applies="+strconv.Itoa(limit)))

	eachScope(t, func(t *testing.T, s scope) {
		cfg := c.createConfig(t, s, ns, withBackend(ns, "applies"))
		polled := newWorkspace(s, ns, inShard(shard), withConfig(cfg), withModule(moduleFile(t, "outputs.tf")))
		meta.AddAnnotations(polled, map[string]string{meta.AnnotationKeyPollInterval: pollOften.String()})
		c.create(t, polled)
		expectReady(t, c, polled)

		all := []workspace.Workspace{}
		traces := []evidence{}

		for range 5 {
			e := newEvidence(t)
			all = append(all, c.createWorkspace(t, s, ns, inShard(shard), withConfig(cfg), withEvidence(t, "gated.tf", e)))
			traces = append(traces, e)
		}

		opened := []int{}

		for len(opened) < len(all) {
			want := min(len(opened)+limit, len(all))

			eventually(t, func() error {
				if have := len(working(traces)); have != want {
					return errors.Errorf("want %d applies to have begun when %d may have ended, got %d", want, len(opened), have)
				}

				return nil
			})

			// There has been time to begin another one.
			for range 3 {
				expectAnotherRun(t, i, polled, "plan")
			}

			begun := working(traces)
			if len(begun) != want {
				t.Fatalf("want %d applies at once, got %d when %d may have ended", limit, len(begun), len(opened))
			}

			next := slices.IndexFunc(begun, func(n int) bool { return !slices.Contains(opened, n) })
			opened = append(opened, begun[next])
			traces[begun[next]].write(t, "gate", "")
		}

		for _, ws := range all {
			expectReady(t, c, ws)
		}
	})
}

// A busy instance has one worker, which is at work until its gate opens.
type busy struct {
	*instance

	gate evidence
}

func startBusy(t *testing.T, c *cluster, shard string, ready func(i *instance)) *busy {
	t.Helper()

	i := startInstance(t, c, withShard(shard), withWorkers(1))
	ready(i)

	ns := c.namespace(t)
	b := &busy{instance: i, gate: newEvidence(t)}
	cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, "busy"))
	c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withEvidence(t, "gated.tf", b.gate))
	expectDone(t, b.gate, "created")

	return b
}

// expectQueued waits until that many requests wait for the worker, besides one for the
// Workspace that it is at work on: to say that it is being created changes it.
func (b *busy) expectQueued(t *testing.T, n int) {
	t.Helper()
	eventually(t, func() error {
		_, body, err := b.get(t, b.metrics, "/metrics")
		if err != nil {
			return err
		}

		have := "nothing"

		for line := range strings.Lines(body) {
			if strings.HasPrefix(line, "workqueue_depth{") && strings.Contains(line, `controller="managed/workspace.tf.m.upbound.io"`) {
				have = strings.Fields(line)[1]
			}
		}

		if have != strconv.Itoa(n+1) {
			return errors.Errorf("want %d requests to wait, got %s", n, have)
		}

		return nil
	})
}

// open the gate. It returns which of the supplied Workspaces are worked on first from
// then on, as many as asked for.
func (b *busy) open(t *testing.T, many int, all ...workspace.Workspace) []string {
	t.Helper()

	before := strings.Count(b.runs.dump(), "\n")
	b.gate.write(t, "gate", "")

	var order []string

	eventually(t, func() error {
		order = nil

		for _, line := range strings.Split(b.runs.dump(), "\n")[before:] {
			for _, ws := range all {
				if strings.Contains(line, string(ws.GetUID())) && !slices.Contains(order, ws.GetName()) {
					order = append(order, ws.GetName())
				}
			}
		}

		if len(order) < many {
			return errors.Errorf("want runs for %d Workspaces, got %q", many, order)
		}

		return nil
	})

	return order[:many]
}

// TestOrder has Workspaces whose polls are due, and a new one that comes after them: it
// goes before all but one of them, which has its turn while the new one is claimed.
func TestOrder(t *testing.T) {
	t.Parallel()

	const polls = 3

	c := shared.sharded.started(t)
	ns, shard := c.namespace(t), unique("shard")
	cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, "order"))

	var all []workspace.Workspace

	b := startBusy(t, c, shard, func(*instance) {
		for range polls {
			ws := newWorkspace(namespacedScope, ns, inShard(shard), withConfig(cfg), withModule(moduleFile(t, "outputs.tf")))
			meta.AddAnnotations(ws, map[string]string{meta.AnnotationKeyPollInterval: pollOften.String()})
			c.create(t, ws)
			expectReady(t, c, ws)
			all = append(all, ws)
		}
	})

	// Nothing but a poll that is due brings one of them to the queue.
	b.expectQueued(t, polls)

	fresh := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withModule(moduleFile(t, "outputs.tf")))
	b.expectQueued(t, polls+1)

	if first := b.open(t, 2, append(all, fresh)...); !slices.Contains(first, fresh.GetName()) {
		t.Errorf("want the new Workspace %q to be one of the first two, got %q", fresh.GetName(), first)
	}
}

// TestTenants has one tenant with a long queue, and another one with a short one.
func TestTenants(t *testing.T) {
	t.Parallel()

	c := shared.sharded.started(t)
	many, few, shard := c.namespace(t), c.namespace(t), unique("shard")
	b := startBusy(t, c, shard, func(*instance) {})

	create := func(ns string, n int) []workspace.Workspace {
		cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, "tenants"))
		created := []workspace.Workspace{}

		for range n {
			created = append(created, c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withModule(moduleFile(t, "outputs.tf"))))
		}

		return created
	}

	all := create(many, 30)
	b.expectQueued(t, len(all))

	one := create(few, 1)
	b.expectQueued(t, len(all)+1)

	if first := b.open(t, 2, append(all, one...)...); !slices.Contains(first, one[0].GetName()) {
		t.Errorf("want %q to be one of the first two, got %q", one[0].GetName(), first)
	}
}
