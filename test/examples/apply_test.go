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
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/crossplane-contrib/provider-terraform/test/program"
)

// crossplaneNamespace is the namespace of an installation of Crossplane.
const crossplaneNamespace = "crossplane-system"

// TestApply creates every manifest in a dry run that refuses unknown fields, as `kubectl
// apply --dry-run=server --validate=strict` does. A Namespace is created first and for
// real, because the API server refuses objects in a missing namespace.
func TestApply(t *testing.T) {
	kube := newControlPlane(t)
	all := manifests(t)

	if len(all) == 0 {
		t.Fatal("no manifest found")
	}

	createNamespace(t, kube, crossplaneNamespace)

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

// newControlPlane starts an API server with our CRDs and Flux's, for the duration of the
// test, and returns a client of it.
func newControlPlane(t *testing.T) client.Client {
	t.Helper()

	assets := program.Need(t, "KUBEBUILDER_ASSETS")

	ctrllog.SetLogger(logr.Discard())

	env := &envtest.Environment{
		BinaryAssetsDirectory: assets,
		CRDDirectoryPaths: []string{
			filepath.Join("..", "..", "package", "crds"),
			filepath.Join("..", "..", "internal", "module", "testdata", "flux"),
		},
		ErrorIfCRDPathMissing:    true,
		ControlPlaneStartTimeout: 2 * time.Minute,
		ControlPlaneStopTimeout:  time.Minute,
	}

	t.Cleanup(func() {
		if err := env.Stop(); err != nil {
			t.Errorf("cannot stop the control plane: %v", err)
		}
	})

	cfg, err := env.Start()
	if err != nil {
		t.Fatalf("cannot start the control plane: %v", err)
	}

	kube, err := client.New(cfg, client.Options{})
	if err != nil {
		t.Fatalf("cannot create a client: %v", err)
	}

	return kube
}

// createNamespace creates a namespace that no manifest makes.
func createNamespace(t *testing.T, kube client.Client, name string) {
	t.Helper()

	if err := kube.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil {
		t.Fatalf("cannot create namespace %q: %v", name, err)
	}
}
