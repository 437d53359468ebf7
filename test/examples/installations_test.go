// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package examples

import (
	"io/fs"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	pkgv1beta1 "github.com/crossplane/crossplane/apis/v2/pkg/v1beta1"

	"github.com/crossplane-contrib/provider-terraform/test/kustomize"
)

// TestInstallations renders each kustomization beside those of package deploy. Each of them installs the provider with an
// identity of a cloud: its pods run as the ServiceAccount of the installation, and that has an annotation.
func TestInstallations(t *testing.T) {
	t.Parallel()

	var dirs []string

	if err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path == filepath.Join(root, "deploy"):
			return fs.SkipDir
		case d.Name() == "kustomization.yaml":
			dirs = append(dirs, filepath.Dir(path))
		}

		return nil
	}); err != nil {
		t.Fatal(err)
	}

	if len(dirs) == 0 {
		t.Fatal("no kustomization found")
	}

	for _, dir := range dirs {
		t.Run(filepath.ToSlash(dir[len(root)+1:]), func(t *testing.T) {
			t.Parallel()

			objects, err := kustomize.Render(dir)
			if err != nil {
				t.Fatal(err)
			}

			var account *corev1.ServiceAccount

			var pods *corev1.PodTemplateSpec

			for _, o := range objects {
				if o.GetKind() == "ServiceAccount" {
					account = &corev1.ServiceAccount{}
					if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(o.Object, account, true); err != nil {
						t.Fatal(err)
					}
				}

				if c, isConfig := asCrossplane(t, o).(*pkgv1beta1.DeploymentRuntimeConfig); isConfig {
					pods = &c.Spec.DeploymentTemplate.Spec.Template
				}
			}

			if account == nil || pods == nil {
				t.Fatalf("want a ServiceAccount and a DeploymentRuntimeConfig, got %s", kinds(objects))
			}

			if account.GetNamespace() != crossplaneNamespace || account.GetName() != pods.Spec.ServiceAccountName {
				t.Errorf("the pods have ServiceAccount %q, and the installation %s/%s", pods.Spec.ServiceAccountName, account.GetNamespace(), account.GetName())
			}

			if len(account.GetAnnotations()) == 0 {
				t.Error("the ServiceAccount has no annotation")
			}

			if pods.GetLabels()["app.kubernetes.io/name"] != "provider-terraform" {
				t.Errorf("a patch has replaced the labels of the pods: %v", pods.GetLabels())
			}
		})
	}
}

func kinds(objects []*unstructured.Unstructured) []string {
	all := make([]string, len(objects))
	for i, o := range objects {
		all[i] = o.GetKind()
	}

	return all
}
