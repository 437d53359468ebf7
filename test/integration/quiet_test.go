// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// testQuiet changes ProviderConfigs and nothing else, and has the cache compared all the
// time. Every reconcile of a Workspace that uses one of them would have to plan again from
// then on: without a run there was no reconcile. The instance is unsharded, because claims
// cause reconciles of their own.
func testQuiet(t *testing.T, c *cluster) {
	t.Helper()

	ns, leases := c.namespace(t), withNamespace(c.namespace(t))
	origin := func(text string) *string { return new("locals {\n  origin = \"" + text + "\"\n}\n") }

	spec := configSpec{Configuration: origin("old")}
	users := []struct {
		scope  scope
		config client.Object
		ws     workspace.Workspace
	}{
		{scope: clusterScope, config: newConfig(clusterScope, ns, spec)},
		{scope: namespacedScope, config: newConfig(namespacedScope, ns, spec)},
		{scope: namespacedScope, config: newClusterConfig(spec)},
	}
	module := withModule(`output "origin" { value = local.origin }`)

	first := startInstance(t, c, leases)

	for n, u := range users {
		c.create(t, u.config)
		users[n].ws = c.createWorkspace(t, u.scope, ns, withConfig(u.config), module)
		expectReady(t, c, users[n].ws)
	}

	// A new Workspace is reconciled once more a second after its creation, but not by the
	// next instance.
	first.stop(t)
	i := startInstance(t, c, leases, withRoot(first.root), withArgs("--sync=1s"))

	for _, u := range users {
		c.request(t, u.ws)
		expectIdle(t, i, u.scope)

		before := i.runs.of(string(u.ws.GetUID()))

		c.patch(t, u.config, map[string]any{"spec": map[string]any{"configuration": origin("new")}})

		// The instance has seen the change by now.
		other := c.createWorkspace(t, u.scope, ns, withConfig(u.config), module)
		expectReady(t, c, other)
		expectOutputs(t, c, other, map[string]string{"origin": `"new"`})
		expectComparisons(t, i, u.config)
		expectIdle(t, i, u.scope)

		if diff := cmp.Diff(before, i.runs.of(string(u.ws.GetUID()))); diff != "" {
			t.Errorf("runs of the CLI for a Workspace after a change of its %T: -want, +got:\n%s", u.config, diff)
		}

		c.request(t, u.ws)
		expectOutputs(t, c, u.ws, map[string]string{"origin": `"new"`})
	}
}

// expectQueued waits until at least n Workspaces of the kind were put into the queue of the instance.
func expectQueued(t *testing.T, i *instance, s scope, n int) {
	t.Helper()

	controller := controllerOf(s)
	metric := `workqueue_adds_total{controller="` + controller + `",name="` + controller + `"} `

	eventually(t, func() error {
		_, body, err := i.get(t, i.metrics, "/metrics")
		if err != nil {
			return err
		}

		for line := range strings.Lines(body) {
			value, ok := strings.CutPrefix(strings.TrimSpace(line), metric)
			if have, _ := strconv.Atoi(value); ok && have >= n {
				return nil
			}
		}

		return errors.Errorf("not %d Workspaces of the %s kind were queued", n, s)
	})
}

// expectIdle waits until the instance has nothing to do for Workspaces of the kind.
func expectIdle(t *testing.T, i *instance, s scope) {
	t.Helper()

	controller := controllerOf(s)

	expectMetric(t, i, `workqueue_depth{controller="`+controller+`",name="`+controller+`",priority=""} 0`)
	expectMetric(t, i, `controller_runtime_active_workers{controller="`+controller+`"} 0`)
}

// expectComparisons waits until the cache was compared several times. The controller of
// the unchanged ProviderConfig reconciles it every time.
func expectComparisons(t *testing.T, i *instance, cfg client.Object) {
	t.Helper()

	count := func() int {
		n := 0

		for line := range strings.Lines(i.output.String()) {
			if strings.Contains(line, "Reconciling") && strings.Contains(line, cfg.GetName()) {
				n++
			}
		}

		return n
	}

	before := count()

	eventually(t, func() error {
		if now := count(); now < before+3 {
			return errors.Errorf("%q was reconciled %d times, and then %d times", cfg.GetName(), before, now)
		}

		return nil
	})
}
