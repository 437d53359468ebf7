// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"path/filepath"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/rand"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/shard"
	"github.com/crossplane-contrib/provider-terraform/test/program"
	"github.com/crossplane-contrib/provider-terraform/test/wait"
)

// TestInstall applies each installation to an API server, which also has to admit its pods with
// the Pod Security Standard "restricted". For each example it then starts a process of the
// provider for each pod, with the arguments, the environment and the rights of that pod, until
// each of them has created what a Workspace wants.
func TestInstall(t *testing.T) {
	c := newCluster(t)
	all := installations(t)

	provider := filepath.Join(t.TempDir(), "crossplane-terraform-provider")
	if err := program.DependOn(root); err != nil {
		t.Fatal(err)
	}

	if err := program.BuildProvider(t.Context(), root, provider, "-race"); err != nil {
		t.Fatal(err)
	}

	createConfig(t, c)

	for _, i := range all {
		t.Run(i.dir, func(t *testing.T) {
			// A shard alone has no rights.
			if !i.has("ServiceAccount") {
				c.install(t, render(t, common))
			}

			c.install(t, i)

			var started []*instance

			for _, w := range workloads(t, i) {
				for _, pod := range w.pods() {
					c.admit(t, pod.DeepCopy())

					if i.isExample() && !t.Failed() {
						started = append(started, start(t, c, provider, pod))
					}
				}
			}

			for _, s := range started {
				s.expectReady(t)
			}

			expectServed(t, c, started)

			for _, s := range started {
				s.stop(t)
			}
		})
	}
}

// has says whether the installation has an object of the supplied kind.
func (i installation) has(kind string) bool {
	return slices.ContainsFunc(i.objects, func(o *unstructured.Unstructured) bool { return o.GetKind() == kind })
}

// expectServed creates a Workspace for each of the supplied instances, and waits until it is
// Ready. An instance that should serve it must have run the CLI for it. The Workspaces of
// elastic shards have no label: the instances write it.
func expectServed(t *testing.T, c cluster, instances []*instance) {
	t.Helper()

	var all []*clusterv1beta1.Workspace

	for _, i := range instances {
		// Nothing collects the connection Secrets of the Workspaces before it.
		ws := newWorkspace("ws-" + rand.String(8))
		if name := i.options.Shard.Name(); name != "" && !i.options.AssignShards {
			ws.SetLabels(map[string]string{shard.LabelKey: name})
		}

		c.create(t, ws)
		all = append(all, ws)
	}

	for _, ws := range all {
		c.expectWorkspace(t, ws)

		if !slices.ContainsFunc(instances, func(i *instance) bool { return i.mayServe(ws) && i.ran(ws) }) {
			t.Errorf("no instance that should serve Workspace %q with the labels %v has run the CLI for it", ws.GetName(), ws.GetLabels())
		}
	}

	for _, ws := range all {
		c.remove(t, ws)
	}
}

// newWorkspace returns a Workspace that needs the rights on states, Secrets and Events.
func newWorkspace(name string) *clusterv1beta1.Workspace {
	ws := &clusterv1beta1.Workspace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	ws.Spec.ForProvider.Source = commonv1beta1.ModuleSourceInline
	ws.Spec.ForProvider.Module = `
resource "terraform_data" "a" {}

output "id" {
  value = terraform_data.a.id
}
`
	ws.Spec.WriteConnectionSecretToReference = &xpv2.SecretReference{Namespace: system, Name: name}

	return ws
}

// createConfig creates the ProviderConfig of the Workspaces, with the backend of the example.
// Only in a pod has the backend credentials without a kubeconfig.
func createConfig(t *testing.T, c cluster) {
	t.Helper()

	cfg := &clusterv1beta1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	cfg.Spec.Configuration = new(`
terraform {
  backend "kubernetes" {
    namespace     = "` + system + `"
    secret_suffix = "cluster"
  }
}
`)
	c.create(t, cfg)
}

// expectWorkspace waits until the Workspace is Ready.
func (c cluster) expectWorkspace(t *testing.T, ws *clusterv1beta1.Workspace) {
	t.Helper()

	if err := wait.Until(t.Context(), wait.Patience, func() error {
		if err := c.Kube.Get(t.Context(), client.ObjectKeyFromObject(ws), ws); err != nil {
			return err
		}

		if ready := ws.GetCondition(xpv2.TypeReady); ready.Status != corev1.ConditionTrue {
			return errors.Errorf("Workspace %q is not Ready: %s; Synced: %s", ws.GetName(), ready.Message, ws.GetCondition(xpv2.TypeSynced).Message)
		}

		return nil
	}); err != nil {
		t.Error(err)
	}
}
