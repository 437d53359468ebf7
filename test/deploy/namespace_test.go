// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"os"
	"path/filepath"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
)

// TestNamespace checks that the field namespace of an overlay moves everything to another
// namespace, also the subjects of bindings: without that, the instances would have no rights.
func TestNamespace(t *testing.T) {
	t.Parallel()

	const other = "terraform"

	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}

	base, err := filepath.Abs(filepath.Join(root, examples, "static"))
	if err != nil {
		t.Fatal(err)
	}

	// kustomize takes relative directories only.
	if base, err = filepath.Rel(dir, base); err != nil {
		t.Fatal(err)
	}

	if err := os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte("namespace: "+other+"\nresources: ["+base+"]\n"), 0o600); err != nil {
		t.Fatal(err)
	}

	i := renderAt(t, dir)

	for _, o := range i.objects {
		if clusterScoped := o.GetKind() == "ClusterRole" || o.GetKind() == "ClusterRoleBinding"; !clusterScoped && o.GetNamespace() != other {
			t.Errorf("%s %q is in namespace %q", o.GetKind(), o.GetName(), o.GetNamespace())
		}
	}

	var subjects []rbacv1.Subject
	for _, b := range each[rbacv1.ClusterRoleBinding](t, i, "ClusterRoleBinding") {
		subjects = append(subjects, b.Subjects...)
	}

	for _, b := range each[rbacv1.RoleBinding](t, i, "RoleBinding") {
		subjects = append(subjects, b.Subjects...)
	}

	if len(subjects) != 3 {
		t.Errorf("%d subjects, want those of three bindings", len(subjects))
	}

	for _, s := range subjects {
		if s.Namespace != other {
			t.Errorf("a binding is for ServiceAccount %q of namespace %q", s.Name, s.Namespace)
		}
	}
}
