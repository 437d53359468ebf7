// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/prometheus/common/model"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
	"github.com/crossplane-contrib/provider-terraform/test/monitoring"
	"github.com/crossplane-contrib/provider-terraform/test/program"
)

// A monitored pair of shards does the same kinds of work before each of two scrapes.
type monitored struct {
	c         *cluster
	ns        string
	shards    [2]string
	instances []*instance

	// configs of the two kinds of Workspaces.
	configs map[scope]client.Object

	// drifting is a Workspace that follows the file world of the evidence.
	drifting workspace.Workspace
	evidence evidence

	// all Workspaces.
	all []workspace.Workspace
}

// newMonitored starts two shards.
func newMonitored(t *testing.T, c *cluster) *monitored {
	t.Helper()

	ns := c.namespace(t)
	m := &monitored{c: c, ns: ns, shards: [2]string{unique("shard"), unique("shard")}, configs: map[scope]client.Object{}, evidence: newEvidence(t)}

	for _, shard := range m.shards {
		m.instances = append(m.instances, startInstance(t, c, withShard(shard), withArgs("--poll-state-metric=1s")))
	}

	for _, s := range []scope{clusterScope, namespacedScope} {
		m.configs[s] = c.createConfig(t, s, ns, withBackend(ns, "monitoring"))
	}

	m.evidence.write(t, "world", unique("world"))
	m.drifting = m.create(t, clusterScope, 0, withEvidence(t, "drift.tf", m.evidence))
	expectReady(t, c, m.drifting)

	return m
}

// create creates a Workspace of one of the shards.
func (m *monitored) create(t *testing.T, s scope, shard int, opts ...workspaceOption) workspace.Workspace {
	t.Helper()

	ws := m.c.createWorkspace(t, s, m.ns, append(opts, inShard(m.shards[shard]), withConfig(m.configs[s]))...)
	m.all = append(m.all, ws)

	return ws
}

// work creates the supplied number of Workspaces in both shards, and one that fails. It moves one of
// the others, deletes one, and changes the infrastructure of one.
func (m *monitored) work(t *testing.T, n int) {
	t.Helper()

	var created []workspace.Workspace

	for i := range n {
		created = append(created, m.create(t, []scope{clusterScope, namespacedScope}[i%2], i/2%2, withModule(moduleFile(t, "outputs.tf"))))
	}

	failed := m.create(t, clusterScope, 1, withModule(moduleFile(t, "invalid.tf")))

	for _, ws := range created {
		expectReady(t, m.c, ws)
	}

	expectCondition(t, m.c, failed, xpv2.TypeSynced, corev1.ConditionFalse)

	m.c.relabel(t, created[0], m.shards[1])
	expectClaimed(t, m.c, created[0], leaseName+"-"+m.shards[1])

	m.c.remove(t, created[1])
	expectGone(t, m.c, created[1])

	world := unique("world")
	m.evidence.write(t, "world", world)
	m.c.request(t, m.drifting)
	expectOutputs(t, m.c, m.drifting, map[string]string{"world": strconv.Quote(world)})
}

// scrape returns the samples of each instance.
func (m *monitored) scrape(t *testing.T) []model.Vector {
	t.Helper()

	var scrapes []model.Vector

	for _, i := range m.instances {
		_, body, err := i.get(t, i.metrics, "/metrics")
		if err != nil {
			t.Fatalf("cannot read metrics: %v", err)
		}

		samples, err := monitoring.Parse(body)
		if err != nil {
			t.Fatal(err)
		}

		scrapes = append(scrapes, samples)
	}

	return scrapes
}

// expectBounded fails the test if a label has a value for each Workspace: if one of the values names
// a Workspace, or if both shards together have one new value for every two new Workspaces. Other
// values are new as well, such as the code of a conflict.
func (m *monitored) expectBounded(t *testing.T, before, after model.Vector, workspaces int) {
	t.Helper()

	old, added := labelValues(before), map[string]int{}

	for value := range labelValues(after) {
		if !old[value] {
			added[value.metric+"{"+value.label+"}"]++
		}

		for _, ws := range m.all {
			for _, part := range []string{ws.GetName(), m.ns, string(ws.GetUID())} {
				if strings.Contains(value.value, part) {
					t.Errorf("%s has the label %s=%q, which names the Workspace %q", value.metric, value.label, value.value, ws.GetName())
				}
			}
		}
	}

	for label, n := range added {
		if 2*n >= workspaces {
			t.Errorf("%s has got %d values with %d new Workspaces", label, n, workspaces)
		}
	}
}

// A labelValue is a value of a label of a metric.
type labelValue struct{ metric, label, value string }

func labelValues(samples model.Vector) map[labelValue]bool {
	values := map[labelValue]bool{}

	for _, s := range samples {
		for label, value := range s.Metric {
			if label != model.MetricNameLabel {
				values[labelValue{metric: string(s.Metric[model.MetricNameLabel]), label: string(label), value: string(value)}] = true
			}
		}
	}

	return values
}

// TestMonitoring runs two shards, and scrapes their metrics before and after more Workspaces are
// created. It evaluates the queries of the dashboard and the metrics of the alerts on these scrapes,
// if promtool is there.
func TestMonitoring(t *testing.T) {
	t.Parallel()

	const few, more = 4, 10

	m := newMonitored(t, shared.sharded.started(t))
	m.work(t, few)

	first := m.scrape(t)

	m.work(t, more)

	t.Run("Labels", func(t *testing.T) {
		m.expectBounded(t, slices.Concat(first...), slices.Concat(m.scrape(t)...), more)
	})

	t.Run("Queries", func(t *testing.T) {
		if os.Getenv(monitoring.EnvPromtool) == "" {
			t.Skipf("needs %s: run make check-monitoring", monitoring.EnvPromtool)
		}

		promtool, err := program.Find(monitoring.EnvPromtool, "check-monitoring")
		if err != nil {
			t.Fatal(err)
		}

		queries := monitoringQueries(t)

		// Some metrics change shortly after the Workspaces.
		eventually(t, func() error {
			db := &monitoring.Database{}
			for n, second := range m.scrape(t) {
				db.Add(m.instances[n].metrics, first[n], second)
			}

			return db.Evaluate(t.Context(), promtool, queries)
		})
	})
}

// monitoringQueries returns the queries of the dashboard, and a query for each metric of the alerts,
// with the labels but without their values: they are those of a fault. It leaves out the queries whose metrics
// come from kube-state-metrics or the kubelet.
func monitoringQueries(t *testing.T) []string {
	t.Helper()

	d, err := monitoring.ReadDashboard(shared.source)
	if err != nil {
		t.Fatal(err)
	}

	alerts, err := monitoring.Alerts(shared.source)
	if err != nil {
		t.Fatal(err)
	}

	queries := d.Queries()

	for _, a := range alerts {
		for _, s := range monitoring.Selectors(a.Expr) {
			queries = append(queries, monitoring.AnyValue(s))
		}
	}

	return slices.DeleteFunc(queries, monitoring.IsElsewhere)
}
