// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// TestMetrics reads the endpoints of an instance.
func TestMetrics(t *testing.T) {
	t.Parallel()

	c := shared.sharded.started(t)
	ns, shard := c.namespace(t), unique("shard")
	i := startInstance(t, c, withShard(shard), withTerraform(), withArgs("--poll-state-metric=1s"))

	for _, probe := range []string{"/healthz", "/readyz", "/readyz/caches", "/readyz/lease"} {
		expectServing(t, i, probe)
	}

	if code, _, err := i.get(t, i.metrics, "/debug/pprof/"); err == nil && code == http.StatusOK {
		t.Errorf("profiles are readable without authorization")
	}

	expectMetric(t, i, `provider_terraform_shard_info{mode="shard",shard="`+shard+`"} 1`)

	gvks := map[scope]string{
		clusterScope:    "tf.upbound.io/v1beta1, Kind=Workspace",
		namespacedScope: "tf.m.upbound.io/v1beta1, Kind=Workspace",
	}

	eachScope(t, func(t *testing.T, s scope) {
		cfg := c.createConfig(t, s, ns, withBackend(ns, "metrics"))
		good := c.createWorkspace(t, s, ns, inShard(shard), withConfig(cfg), withModule(moduleFile(t, "outputs.tf")))
		bad := c.createWorkspace(t, s, ns, inShard(shard), withConfig(cfg), withModule(moduleFile(t, "invalid.tf")))
		// Another shard counts its own Workspaces.
		c.createWorkspace(t, s, ns, inShard(unique("shard")), withConfig(cfg), withModule(moduleFile(t, "outputs.tf")))
		expectReady(t, c, good)
		expectCondition(t, c, bad, xpv2.TypeSynced, corev1.ConditionFalse)

		for name, value := range map[string]string{"exists": "2", "ready": "1", "synced": "1"} {
			expectMetric(t, i, `crossplane_managed_resource_`+name+`{gvk="`+gvks[s]+`"} `+value)
		}
	})

	expectMetric(t, i, `provider_terraform_cli_runs_total{command="apply",result="success"} 2`)
	expectMetric(t, i, `provider_terraform_cli_run_duration_seconds_count{command="apply",result="success"} 2`)
	expectSeries(t, i, `provider_terraform_cli_runs_total{command="init",result="success"}`)
	expectSeries(t, i, `provider_terraform_cli_runs_total{command="plan",result="success"}`)
	expectSeries(t, i, `provider_terraform_cli_runs_total{command="plan",result="error"}`)
	expectSeries(t, i, `crossplane_managed_resource_first_time_to_reconcile_seconds_count{gvk="`+gvks[clusterScope]+`"}`)
	expectSeries(t, i, `crossplane_managed_resource_first_time_to_readiness_seconds_count{gvk="`+gvks[clusterScope]+`"}`)

	// Metrics that all controllers have.
	for _, s := range []scope{clusterScope, namespacedScope} {
		expectSeries(t, i, `controller_runtime_reconcile_total{controller="`+controllerOf(s)+`"`)
		expectSeries(t, i, `workqueue_depth{controller="`+controllerOf(s)+`"`)
	}

	for _, name := range []string{`rest_client_requests_total{`, `certwatcher_read_certificate_total `, `go_goroutines `, `process_cpu_seconds_total `} {
		expectSeries(t, i, name)
	}

	// Metrics of later phases in the life of a Workspace.
	e := newEvidence(t)
	e.write(t, "world", "old")

	cfg := c.createConfig(t, clusterScope, ns, withBackend(ns, "metrics"))
	ws := c.createWorkspace(t, clusterScope, ns, inShard(shard), withConfig(cfg), withEvidence(t, "drift.tf", e))
	expectReady(t, c, ws)
	e.write(t, "world", "new")
	c.request(t, ws)
	expectOutputs(t, c, ws, map[string]string{"world": `"new"`})
	expectSeries(t, i, `crossplane_managed_resource_drift_seconds_count{gvk="`+gvks[clusterScope]+`"}`)

	c.remove(t, ws)
	expectGone(t, c, ws)
	expectSeries(t, i, `crossplane_managed_resource_deletion_seconds_count{gvk="`+gvks[clusterScope]+`"}`)
}

// expectSeries waits until the metrics of the instance have a line that starts with
// the supplied text.
func expectSeries(t *testing.T, i *instance, prefix string) {
	t.Helper()
	eventually(t, func() error {
		_, body, err := i.get(t, i.metrics, "/metrics")
		if err != nil {
			return err
		}

		if !strings.Contains(body, "\n"+prefix) {
			return errors.Errorf("no metric %s", prefix)
		}

		return nil
	})
}
