// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"
)

// TestBindings checks that each binding is of a role and for the ServiceAccount that there are,
// also the binding of the example for one more namespace. The API server does not check that.
func TestBindings(t *testing.T) {
	t.Parallel()

	i := render(t, common)
	account := only[corev1.ServiceAccount](t, i, "ServiceAccount")
	want := []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: account.GetNamespace(), Name: account.GetName()}}

	roles := map[rbacv1.RoleRef]bool{}
	for _, r := range each[rbacv1.ClusterRole](t, i, "ClusterRole") {
		roles[rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: r.GetName()}] = false
	}

	for _, r := range each[rbacv1.Role](t, i, "Role") {
		roles[rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: r.GetName()}] = false
	}

	check := func(name string, ref rbacv1.RoleRef, subjects []rbacv1.Subject) {
		if _, ok := roles[ref]; !ok {
			t.Errorf("%s: there is no %s %q", name, ref.Kind, ref.Name)
		}

		roles[ref] = true

		if diff := cmp.Diff(want, subjects); diff != "" {
			t.Errorf("%s: subjects: -want, +got:\n%s", name, diff)
		}
	}

	for _, b := range each[rbacv1.ClusterRoleBinding](t, i, "ClusterRoleBinding") {
		check("ClusterRoleBinding "+b.GetName(), b.RoleRef, b.Subjects)
	}

	for _, b := range each[rbacv1.RoleBinding](t, i, "RoleBinding") {
		check("RoleBinding "+b.GetName(), b.RoleRef, b.Subjects)
	}

	for ref, bound := range roles {
		if !bound {
			t.Errorf("%s %q is not bound", ref.Kind, ref.Name)
		}
	}

	file := filepath.Join(root, "examples", "namespaced", "rbac.yaml")

	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}

	b := &rbacv1.RoleBinding{}
	if err := yaml.UnmarshalStrict(data, b); err != nil {
		t.Fatalf("%s: %v", file, err)
	}

	check(file, b.RoleRef, b.Subjects)
}
