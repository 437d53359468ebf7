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

	"github.com/crossplane-contrib/provider-terraform/test/apiserver"
)

// crossplaneNamespace is the namespace of an installation of Crossplane.
const crossplaneNamespace = "crossplane-system"

// TestApply creates every manifest in a dry run that refuses unknown fields, as `kubectl
// apply --dry-run=server --validate=strict` does. A Namespace is created first and for
// real, because the API server refuses objects in a missing namespace.
func TestApply(t *testing.T) {
	repository := filepath.Join("..", "..")
	kube := apiserver.Client(t, apiserver.Start(t, filepath.Join(repository, "package", "crds"), filepath.Join(repository, "internal", "module", "testdata", "flux")))
	all := manifests(t)

	if len(all) == 0 {
		t.Fatal("no manifest found")
	}

	if err := kube.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: crossplaneNamespace}}); err != nil {
		t.Fatal(err)
	}

	slices.SortStableFunc(all, func(a, b manifest) int { return cmp.Compare(rank(a), rank(b)) })

	for _, m := range all {
		t.Run(m.file+"/"+m.object.GetKind()+"/"+m.object.GetName(), func(t *testing.T) {
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
