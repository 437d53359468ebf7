// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package examples tests the manifests under examples/ that are applied as they are: an API
// server accepts each of them with strict validation, and they fit together. Package deploy
// tests those that are rendered.
package examples

import (
	"cmp"
	"path/filepath"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/crossplane-contrib/provider-terraform/test/apiserver"
	"github.com/crossplane-contrib/provider-terraform/test/wait"
)

// The namespaces of installations of Crossplane and of Argo CD.
const (
	crossplaneNamespace = "crossplane-system"
	argoNamespace       = "argocd"
)

// TestApply creates every manifest in a dry run that refuses unknown fields, as `kubectl
// apply --dry-run=server --validate=strict` does. A Namespace is created first and for
// real, because the API server refuses objects in a missing namespace. Objects of Crossplane's
// own kinds only have the fields of their types.
func TestApply(t *testing.T) {
	repository := filepath.Join("..", "..")
	config := apiserver.Start(t, filepath.Join(repository, "package", "crds"), filepath.Join(repository, "internal", "module", "testdata", "flux"))
	kube := apiserver.Client(t, config)
	all := manifests(t)

	if len(all) == 0 {
		t.Fatal("no manifest found")
	}

	if _, err := envtest.InstallCRDs(config, envtest.CRDInstallOptions{CRDs: compositeCRDs(t, all), MaxTime: wait.Patience}); err != nil {
		t.Fatal(err)
	}

	// What Crossplane would create is as valid as what a user creates.
	all = append(all, composed(t, all, "team-a")...)

	for _, namespace := range []string{crossplaneNamespace, argoNamespace} {
		if err := kube.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}); err != nil {
			t.Fatal(err)
		}
	}

	slices.SortStableFunc(all, func(a, b manifest) int { return cmp.Compare(rank(a), rank(b)) })

	for _, m := range all {
		t.Run(m.file+"/"+m.object.GetKind()+"/"+m.object.GetName(), func(t *testing.T) {
			if asCrossplane(t, m.object) != nil {
				return
			}

			opts := []client.CreateOption{client.FieldValidation(metav1.FieldValidationStrict)}
			if m.object.GetKind() != "Namespace" {
				opts = append(opts, client.DryRunAll)
			}

			if err := kube.Create(t.Context(), m.object.DeepCopy(), opts...); err != nil {
				t.Errorf("the API server refuses it: %v", err)
			}
		})
	}
}

// rank of a manifest: Namespaces come before the objects in them.
func rank(m manifest) int {
	if m.object.GetKind() == "Namespace" {
		return 0
	}

	return 1
}
