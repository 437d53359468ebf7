// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package examples

import (
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	pkgv1beta1 "github.com/crossplane/crossplane/apis/v2/pkg/v1beta1"

	"github.com/crossplane-contrib/provider-terraform/test/kustomize"
)

// TestInstallations renders each kustomization beside those of package deploy. Each of them installs the provider with an
// identity of a cloud: its pods run as the ServiceAccount of the installation, and that has an annotation.
func TestInstallations(t *testing.T) {
	t.Parallel()

	dirs, err := filepath.Glob(filepath.Join(root, "*", "install"))
	if err != nil || len(dirs) == 0 {
		t.Fatalf("no installation found: %v", err)
	}

	for _, dir := range dirs {
		t.Run(filepath.ToSlash(dir[len(root)+1:]), func(t *testing.T) {
			t.Parallel()

			account, config := parts(t, dir)
			pods := config.Spec.DeploymentTemplate.Spec.Template

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

// parts returns the objects of an installation that have to do with the identity of its pods.
func parts(t *testing.T, dir string) (*corev1.ServiceAccount, *pkgv1beta1.DeploymentRuntimeConfig) {
	t.Helper()

	objects, err := kustomize.Render(dir)
	if err != nil {
		t.Fatal(err)
	}

	account, config := &corev1.ServiceAccount{}, &pkgv1beta1.DeploymentRuntimeConfig{}

	for _, o := range objects {
		if o.GetKind() == "ServiceAccount" {
			if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(o.Object, account, true); err != nil {
				t.Fatal(err)
			}
		}

		if c, isConfig := asCrossplane(t, o).(*pkgv1beta1.DeploymentRuntimeConfig); isConfig {
			config = c
		}
	}

	if account.GetName() == "" || config.Spec.DeploymentTemplate == nil {
		t.Fatal("want a ServiceAccount and a DeploymentRuntimeConfig")
	}

	return account, config
}
