// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"

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

// TestMaxApplies has more applies than may run at the same time. Polls continue, because they
// have a worker of their own.
func TestMaxApplies(t *testing.T) {
	t.Parallel()

	const limit = 2

	c := shared.sharded.started(t)
	ns, shard := c.namespace(t), unique("shard")
	i := startInstance(t, c, withShard(shard), withTerraform(), withWorkers(limit))

	cfg := c.createConfig(t, clusterScope, ns, withBackend(ns, "applies"))
	polled := newWorkspace(clusterScope, ns, inShard(shard), withConfig(cfg), withModule(moduleFile(t, "outputs.tf")))
	meta.AddAnnotations(polled, map[string]string{meta.AnnotationKeyPollInterval: pollOften.String()})
	c.create(t, polled)
	expectReady(t, c, polled)

	all := []workspace.Workspace{}
	traces := []evidence{}

	for range 4 {
		e := newEvidence(t)
		all = append(all, c.createWorkspace(t, clusterScope, ns, inShard(shard), withConfig(cfg), withEvidence(t, "gated.tf", e)))
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
}

// TestOrphanNeedsNoSlot deletes a Workspace whose infrastructure is to stay, while another one has the
// only slot.
func TestOrphanNeedsNoSlot(t *testing.T) {
	t.Parallel()

	c := shared.sharded.started(t)
	ns, shard := c.namespace(t), unique("shard")
	startInstance(t, c, withShard(shard), withWorkers(1))

	cfg := c.createConfig(t, clusterScope, ns, withBackend(ns, "orphan"))
	orphan := newWorkspace(clusterScope, ns, inShard(shard), withConfig(cfg), withModule(moduleFile(t, "outputs.tf")))

	if o, ok := orphan.(resource.Orphanable); ok {
		o.SetDeletionPolicy(xpv2.DeletionOrphan)
	}

	c.create(t, orphan)
	expectReady(t, c, orphan)

	slow, e := c.createGated(t, clusterScope, ns, inShard(shard), withConfig(cfg))
	c.remove(t, orphan)
	expectGone(t, c, orphan)

	e.write(t, "gate", "")
	expectReady(t, c, slow)
}

// A busy instance has one worker for the applies of a kind, and one for its polls. The first one
// is at work until its gate opens, the other one until the end of the test.
type busy struct {
	*instance

	scope scope
	gate  evidence
}

func startBusy(t *testing.T, c *cluster, s scope, shard string, ready func(i *instance)) *busy {
	t.Helper()

	cli, plans := newGatedPlans(t)
	i := startInstance(t, c, withShard(shard), withWorkers(1), withCLI(cli))
	ready(i)

	ns := c.namespace(t)
	cfg := c.createConfig(t, s, ns, withBackend(ns, "busy"))

	polled := c.createWorkspace(t, s, ns, inShard(shard), withConfig(cfg), withModule(moduleFile(t, "outputs.tf")))
	expectReady(t, c, polled)
	plans.write(t, string(polled.GetUID()), "")
	t.Cleanup(func() { plans.write(t, "gate", "") })
	c.annotate(t, polled, meta.AnnotationKeyReconcileRequestedAt, unique("request"))
	expectDone(t, plans, "planned")

	b := &busy{instance: i, scope: s, gate: newEvidence(t)}
	created := c.createWorkspace(t, s, ns, inShard(shard), withConfig(cfg), withEvidence(t, "gated.tf", b.gate))
	expectDone(t, b.gate, "created")

	// Both wait in the queue from now on. Without this, a late event could add them at any time.
	for _, ws := range []workspace.Workspace{polled, created} {
		c.annotate(t, ws, "example.org/again", "")
	}

	return b
}

// newGatedPlans returns the path of a CLI, and a directory. A plan of a Workspace whose UID is the
// name of a file there waits for the file "gate".
func newGatedPlans(t *testing.T) (string, evidence) {
	t.Helper()

	e := newEvidence(t)
	path := filepath.Join(t.TempDir(), "tofu")
	script := fmt.Sprintf(`#!/bin/sh
dir='%s'
if [ "$1" = plan ] && [ -e "$dir/$(basename "$PWD")" ]; then
	echo planned >> "$dir/done"
	until [ -e "$dir/gate" ] || ! [ -d "$dir" ]; do sleep 0.1; done
fi
exec '%s' "$@"
`, e, shared.tofu())

	if err := os.WriteFile(path, []byte(script), 0o700); err != nil {
		t.Fatalf("cannot write script: %v", err)
	}

	return path, e
}

// expectQueued waits until that many requests wait for a worker, besides those for the
// Workspaces that are being planned and created: both have changed since.
func (b *busy) expectQueued(t *testing.T, n int) {
	t.Helper()
	eventually(t, func() error {
		_, body, err := b.get(t, b.metrics, "/metrics")
		if err != nil {
			return err
		}

		have := "nothing"

		for line := range strings.Lines(body) {
			if strings.HasPrefix(line, "workqueue_depth{") && strings.Contains(line, `controller="`+controllerOf(b.scope)+`"`) {
				have = strings.Fields(line)[1]
			}
		}

		if have != strconv.Itoa(n+2) {
			return errors.Errorf("want %d requests to wait, got %s", n+2, have)
		}

		return nil
	})
}

// open the gate. It returns the supplied number of Workspaces that are worked on first
// from then on.
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

// TestOrder has Workspaces whose polls are due, and then one that is changed, one that is
// deleted and a new one. These go before the polls.
func TestOrder(t *testing.T) {
	t.Parallel()

	const polls = 4

	c := shared.sharded.started(t)

	ns, shard := c.namespace(t), unique("shard")
	cfg := c.createConfig(t, clusterScope, ns, withBackend(ns, "order"))
	create := func(o ...workspaceOption) workspace.Workspace {
		return c.createWorkspace(t, clusterScope, ns, append(o, inShard(shard), withConfig(cfg), withModule(moduleFile(t, "outputs.tf")))...)
	}

	var (
		all              []workspace.Workspace
		changed, deleted workspace.Workspace
	)

	b := startBusy(t, c, clusterScope, shard, func(*instance) {
		// One after the other: a Workspace that has to wait for a slot comes to the queue once more
		// after ticketTimeout.
		changed = create()
		expectReady(t, c, changed)

		deleted = create()
		expectReady(t, c, deleted)

		for range polls {
			ws := create(polledOften)
			expectReady(t, c, ws)
			all = append(all, ws)
		}
	})

	// Nothing but a poll that is due brings one of them to the queue.
	b.expectQueued(t, polls)

	c.changeModule(t, changed, `output "changed" { value = "changed" }`)
	c.remove(t, deleted)
	b.expectQueued(t, polls+2)

	fresh := create()

	b.expectQueued(t, polls+3)

	// One poll may come before them: it has a turn after many urgent requests, and some precede this test.
	first := b.open(t, 4, append(all, changed, deleted, fresh)...)

	for _, ws := range []workspace.Workspace{changed, deleted, fresh} {
		if !slices.Contains(first, ws.GetName()) {
			t.Errorf("want %q to be one of the first 4, before most polls, got %q", ws.GetName(), first)
		}
	}
}

// TestTenants has one tenant with a long queue, and another one with a short one. A tenant
// is a namespace here.
func TestTenants(t *testing.T) {
	t.Parallel()

	c := shared.sharded.started(t)

	many, few, shard := c.namespace(t), c.namespace(t), unique("shard")
	b := startBusy(t, c, namespacedScope, shard, func(*instance) {})

	create := func(ns string, n int) []workspace.Workspace {
		cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, "tenants"))
		created := []workspace.Workspace{}

		for range n {
			created = append(created, c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withModule(moduleFile(t, "outputs.tf"))))
		}

		return created
	}

	all := create(many, 10)
	b.expectQueued(t, len(all))

	one := create(few, 1)

	b.expectQueued(t, len(all)+1)

	if first := b.open(t, 2, append(all, one...)...); !slices.Contains(first, one[0].GetName()) {
		t.Errorf("want %q to be one of the first two, got %q", one[0].GetName(), first)
	}
}
