// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// testSafeStart starts an instance before the CRDs exist. It begins to serve the CRDs of
// each group when they are created, independently of the other group. For that it needs
// only the rights of the example for an installation by hand. Without the other group it removes the Lease of
// an earlier session, too, and stays ready. Another instance starts when a CRD is being deleted.
func testSafeStart(t *testing.T, c *cluster) {
	t.Helper()

	ns, shard := c.namespace(t), unique("shard")
	i := startInstance(t, c, withShard(shard), withKubeconfig(c.exampleUser(t)))

	groups := map[scope]string{clusterScope: "tf.upbound.io", namespacedScope: "tf.m.upbound.io"}

	eachScope(t, func(t *testing.T, s scope) {
		crds, err := filepath.Glob(filepath.Join(shared.source, "package", "crds", groups[s]+"_*.yaml"))
		if err != nil || len(crds) == 0 {
			t.Fatalf("cannot find CRDs of %s: %v", groups[s], err)
		}

		if _, err := envtest.InstallCRDs(c.config, envtest.CRDInstallOptions{Paths: crds}); err != nil {
			t.Fatalf("cannot install CRDs: %v", err)
		}

		cfg := c.createConfig(t, s, ns, withBackend(ns, "late"))
		ws := c.createWorkspace(t, s, ns, inShard(shard), withConfig(cfg), withModule(moduleFile(t, "outputs.tf")))
		expectReady(t, c, ws)
		expectUsers(t, c, cfg, 1)

		earlier := newLease(leaseNamespace, unique("earlier"))
		earlier.SetLabels(c.sessionOf(t, ws).GetLabels())
		earlier.SetAnnotations(map[string]string{"terraform.crossplane.io/released-by": "host_earlier"})
		earlier.Spec.HolderIdentity = new("")
		earlier.Spec.RenewTime = new(metav1.NewMicroTime(time.Now().Add(-2 * time.Hour)))
		c.create(t, earlier)
		expectGone(t, c, earlier)
		expectServing(t, i, "/readyz")
	})

	// The CRD was deleted while no instance was there, for example with the package. It stays until its last object is gone.
	cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, "last"))
	ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withModule(moduleFile(t, "outputs.tf")))
	expectReady(t, c, ws)
	i.stop(t)

	crd := &unstructured.Unstructured{}
	crd.SetName("workspaces." + groups[namespacedScope])
	crd.SetGroupVersionKind(schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"})
	c.remove(t, crd)

	startInstance(t, c, withShard(shard), withKubeconfig(c.exampleUser(t)))
	expectGone(t, c, crd)
}

// user makes a user with the supplied rules, and returns the path of the user's
// kubeconfig.
func (c *cluster) user(t *testing.T, rules ...rbacv1.PolicyRule) string {
	t.Helper()

	name, kubeconfig := c.newUser(t)
	c.grant(t, name, "", rules)

	return kubeconfig
}

// newUser makes a user without any rights, and returns the user's name and the path of the
// user's kubeconfig.
func (c *cluster) newUser(t *testing.T) (name, kubeconfig string) {
	t.Helper()

	name = unique("user")

	c.users.Lock()
	defer c.users.Unlock()

	u, err := c.env.AddUser(envtest.User{Name: name}, nil)
	if err != nil {
		t.Fatalf("cannot add user: %v", err)
	}

	config, err := u.KubeConfig()
	if err != nil {
		t.Fatalf("cannot make kubeconfig: %v", err)
	}

	kubeconfig = filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(kubeconfig, config, 0o600); err != nil {
		t.Fatalf("cannot write kubeconfig: %v", err)
	}

	return name, kubeconfig
}

// grant a user the supplied rules, in one namespace or, if that is empty, in all of them. It
// returns the role.
func (c *cluster) grant(t *testing.T, user, namespace string, rules []rbacv1.PolicyRule) client.Object {
	t.Helper()

	o := metav1.ObjectMeta{Namespace: namespace, Name: unique("role")}
	subjects := []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}}

	if namespace == "" {
		role := &rbacv1.ClusterRole{ObjectMeta: o, Rules: rules}
		c.create(t, role)
		c.create(t, &rbacv1.ClusterRoleBinding{ObjectMeta: o, Subjects: subjects, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: o.Name}})

		return role
	}

	role := &rbacv1.Role{ObjectMeta: o, Rules: rules}
	c.create(t, role)
	c.create(t, &rbacv1.RoleBinding{ObjectMeta: o, Subjects: subjects, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: o.Name}})

	return role
}
