// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
)

// TestRights runs an instance with the rights that every deployment has, and its CLI with
// the extra rights in the namespace of its states only. They are enough for every feature
// of a Workspace.
func TestRights(t *testing.T) {
	t.Parallel()

	c := shared.sharded.started(t)
	ns, shard := c.namespace(t), unique("shard")
	startInstance(t, c, withShard(shard),
		withKubeconfig(c.exampleUser(t, ns)),
		withCLIKubeconfig(c.extraUser(t, ns)))

	source := newFluxUpstream(t, c, "OCIRepository", ns, tree{"main.tf": echo("public", "private")})

	eachConfig(t, func(t *testing.T, s scope, newConfig func(string, configSpec) client.Object) {
		t.Parallel()

		spec := withBackend(ns, "rights")
		spec.Credentials = []commonv1beta1.ProviderCredentials{secretCredentials("credentials.txt", c.secretKey(t, ns, "open sesame"))}
		cfg := newConfig(ns, spec)
		c.create(t, cfg)

		connection := unique("connection")
		ws := c.createReferring(t, s, ns, references{varFiles: []commonv1beta1.VarFile{
			configMapVars(c.configMapKey(t, ns, `public = "1"`), nil),
			secretVars(c.secretKey(t, ns, `private = "2"`), nil),
		}}, inShard(shard), withConfig(cfg), withSecret(connection), withUpstream(source))
		expectReady(t, c, ws)
		expectSecret(t, c, ns, connection, map[string]string{"public": "1", "private": "2"})
		expectUsers(t, c, cfg, 1)
		expectEvent(t, c, ws, "CreatedExternalResource")

		c.remove(t, ws)
		expectGone(t, c, ws)
		expectGone(t, c, stateSecret(ws, ns, "rights"))
		expectEventFrom(t, c, ws, map[scope]string{
			clusterScope:    "managed/workspace.tf.upbound.io",
			namespacedScope: "managed/workspace.tf.m.upbound.io",
		}[s], corev1.EventTypeNormal, "DeletedExternalResource")

		c.remove(t, cfg)
		collectGarbage(t, c, ws)
		expectGone(t, c, cfg)
	})
}

// exampleUser makes a user with the rights that every deployment gives an instance, and
// with the extra rights in the supplied namespaces.
func (c *cluster) exampleUser(t *testing.T, extra ...string) string {
	t.Helper()

	name, kubeconfig := c.newUser(t)
	c.grant(t, name, "", exampleRules(t, "provider-terraform"))
	c.grant(t, name, leaseNamespace, exampleRules(t, "provider-terraform-leader-election"))

	for _, ns := range extra {
		c.grant(t, name, ns, exampleRules(t, "provider-terraform-extra"))
	}

	return kubeconfig
}

// extraUser makes a user with nothing but the extra rights in the supplied namespace.
func (c *cluster) extraUser(t *testing.T, namespace string) string {
	t.Helper()

	name, kubeconfig := c.newUser(t)
	c.grant(t, name, namespace, exampleRules(t, "provider-terraform-extra"))

	return kubeconfig
}

// exampleRules returns the rules of the role of the supplied name in every deployment.
func exampleRules(t *testing.T, name string) []rbacv1.PolicyRule {
	t.Helper()

	found := map[string][]rbacv1.PolicyRule{}

	for _, o := range manifests(t, filepath.Join("cluster", "deploy", "common", "rbac*.yaml")) {
		if kind := o.GetKind(); kind != "ClusterRole" && kind != "Role" {
			continue
		}

		role := &rbacv1.ClusterRole{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, role); err != nil {
			t.Fatalf("cannot convert %s %q: %v", o.GetKind(), o.GetName(), err)
		}

		found[o.GetName()] = role.Rules
	}

	if len(found[name]) == 0 {
		t.Fatalf("the deployments have no role %q", name)
	}

	return found[name]
}
