// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"strconv"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	namespacedv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/namespaced/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// TestRollout starts an instance with 20 Workspaces that were Ready when its predecessor
// stopped. It runs the CLI for none of them before a poll is due.
func TestRollout(t *testing.T) {
	t.Parallel()

	const each = 10

	c := shared.sharded.started(t)
	ns, shard := c.namespace(t), unique("shard")
	first := startInstance(t, c, withShard(shard))
	models := map[workspace.Workspace]client.Object{}

	for _, s := range []scope{clusterScope, namespacedScope} {
		cfg := c.createConfig(t, s, ns, withBackend(ns, "rollout"))
		ws := c.createWorkspace(t, s, ns, inShard(shard), withConfig(cfg), withModule(moduleFile(t, "outputs.tf")))
		expectReady(t, c, ws)
		models[ws] = cfg
	}

	first.stop(t)

	for ws := range models {
		c.get(t, ws)
		c.createCopies(t, ws, each-1)
	}

	second := startInstance(t, c, withShard(shard), withRoot(first.root), withWorkers(100))

	expectServing(t, second, "/readyz")

	for _, s := range []scope{clusterScope, namespacedScope} {
		expectQueued(t, second, s, each)
		expectIdle(t, second, s)
	}

	for line := range strings.Lines(second.runs.dump()) {
		if !strings.HasSuffix(line, ": version\n") {
			t.Errorf("want no runs of the CLI, got %q", line)
		}
	}

	// It would run if there was a reason to.
	for ws := range models {
		c.request(t, ws)
		expectRuns(t, second, ws, "plan")
	}
}

// createCopies of a Workspace, status and name of the Terraform workspace included: each
// is as good as if it had been made Ready itself.
func (c *cluster) createCopies(t *testing.T, model workspace.Workspace, n int) {
	t.Helper()

	annotations := map[string]string{}
	for _, key := range []string{meta.AnnotationKeyExternalName, meta.AnnotationKeyExternalCreateSucceeded} {
		annotations[key] = model.GetAnnotations()[key]
	}

	for i := range n {
		om := metav1.ObjectMeta{
			Namespace:   model.GetNamespace(),
			Name:        model.GetName() + "-" + strconv.Itoa(i),
			Labels:      model.GetLabels(),
			Annotations: annotations,
			Finalizers:  model.GetFinalizers(),
		}

		switch model := model.(type) {
		case *clusterv1beta1.Workspace:
			ws := model.DeepCopy()
			ws.ObjectMeta = om
			c.create(t, ws)

			ws.Status = *model.Status.DeepCopy()
			c.updateStatus(t, ws)
		case *namespacedv1beta1.Workspace:
			ws := model.DeepCopy()
			ws.ObjectMeta = om
			c.create(t, ws)

			ws.Status = *model.Status.DeepCopy()
			c.updateStatus(t, ws)
		}
	}
}

func (c *cluster) updateStatus(t *testing.T, o client.Object) {
	t.Helper()

	if err := c.kube.Status().Update(t.Context(), o); err != nil {
		t.Fatalf("cannot update status of %T %q: %v", o, o.GetName(), err)
	}
}
