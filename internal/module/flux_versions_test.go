// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package module

import (
	"context"
	"os"
	"testing"

	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/provider-terraform/test/wait"
)

// TestFluxVersions ensures that the version in the cluster is used, even if it changes while the
// provider runs.
func TestFluxVersions(t *testing.T) {
	kube := flux.start(t)
	s := newFileServer(t)
	a := newArtifact(t, s, "oci", files{"main.tf": "oci"})

	data, err := os.ReadFile("testdata/flux/source.toolkit.fluxcd.io_ocirepositories.yaml")
	if err != nil {
		t.Fatal(err)
	}

	crd := &extv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal(data, crd); err != nil {
		t.Fatal(err)
	}

	// An old Flux has this kind as v1beta2 only.
	current := crd.Spec.Versions[0]
	old := *current.DeepCopy()
	old.Name = "v1beta2"
	crd.Spec.Versions = []extv1.CustomResourceDefinitionVersion{old}

	if err := kube.Create(t.Context(), crd); err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { _ = kube.Delete(context.WithoutCancel(t.Context()), crd) })
	newSource(t, "v1beta2", "OCIRepository", "oci", a)

	p := newFluxPlace(t, "ocirepository::default/oci", Options{})
	p.ensure(t)
	p.expect(t, files{"main.tf": "oci"})

	// A newer Flux also has v1, and the newest has only v1.
	old.Storage = false

	updateCRD(t, crd, func() { crd.Spec.Versions = []extv1.CustomResourceDefinitionVersion{current, old} }, kube.Update)

	// An update of Flux migrates every object.
	migrated := &unstructured.Unstructured{}
	migrated.SetGroupVersionKind(schema.GroupVersionKind{Group: fluxGroup, Version: "v1", Kind: "OCIRepository"})

	key := client.ObjectKey{Namespace: "default", Name: "oci"}

	if err := wait.Until(t.Context(), wait.Patience, func() error {
		if err := flux.kube.Get(t.Context(), key, migrated); err != nil {
			return err
		}

		migrated.SetLabels(map[string]string{"stored": "anew"})

		return flux.kube.Update(t.Context(), migrated)
	}); err != nil {
		t.Fatalf("the new version cannot be used: %v", err)
	}

	updateCRD(t, crd, func() { crd.Status.StoredVersions = []string{"v1"} }, func(ctx context.Context, o client.Object, _ ...client.UpdateOption) error {
		return kube.Status().Update(ctx, o)
	})
	updateCRD(t, crd, func() { crd.Spec.Versions = []extv1.CustomResourceDefinitionVersion{current} }, kube.Update)

	gone := &unstructured.Unstructured{}
	gone.SetGroupVersionKind(schema.GroupVersionKind{Group: fluxGroup, Version: "v1beta2", Kind: "OCIRepository"})

	if err := wait.UntilTrue(t.Context(), "the old version has gone", func() bool {
		return kerrors.IsNotFound(p.fetcher.live.Get(t.Context(), key, gone))
	}); err != nil {
		t.Fatal(err)
	}

	p.ensure(t)
}

// updateCRD changes the latest version of the object: the API server changes it, too.
func updateCRD(t *testing.T, crd *extv1.CustomResourceDefinition, change func(), update func(context.Context, client.Object, ...client.UpdateOption) error) {
	t.Helper()

	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		if err := flux.kube.Get(t.Context(), client.ObjectKeyFromObject(crd), crd); err != nil {
			return err
		}

		change()

		return update(t.Context(), crd)
	})
	if err != nil {
		t.Fatal(err)
	}
}
