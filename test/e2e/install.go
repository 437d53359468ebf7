// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/google/go-containerregistry/pkg/v1/tarball"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	pkgv1 "github.com/crossplane/crossplane/apis/v2/pkg/v1"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/hack/image"
	"github.com/crossplane-contrib/provider-terraform/test/e2e/crossplane"
	"github.com/crossplane-contrib/provider-terraform/test/manifest"
	"github.com/crossplane-contrib/provider-terraform/test/wait"
)

// The image of Crossplane in the registry of the node.
const (
	crossplaneRepository = "crossplane/crossplane"
	crossplaneTag        = "e2e"
)

// chart returns the objects of Crossplane's Helm chart, with the image in the registry of the node.
func (e *env) chart() ([]*unstructured.Unstructured, error) {
	values := map[string]any{"image": map[string]any{"repository": e.Registry + "/" + crossplaneRepository, "tag": crossplaneTag}}

	// Only a node has addresses of Services, and only in a pod is the namespace of the Lease known.
	if e.options.level == levelProcesses {
		values["webhooks"] = map[string]any{"enabled": false}
		values["leaderElection"] = false
		values["rbacManager"] = map[string]any{"leaderElection": false}
	}

	return crossplane.Render(filepath.Join(e.options.tools.crossplane, "chart"), values)
}

// installCrossplane installs Crossplane as `helm install --create-namespace --wait` does.
func installCrossplane(ctx context.Context, e *env) error {
	img, err := crossplane.Image(e.options.tools.crossplane, filepath.Join(e.options.out, "cache", "crossplane.tar.gz"))
	if err != nil {
		return err
	}

	if _, err := e.Push(ctx, crossplaneRepository+":"+crossplaneTag, img); err != nil {
		return err
	}

	objects, err := e.chart()
	if err != nil {
		return err
	}

	if err := e.Client.Create(ctx, newNamespace()); err != nil {
		return err
	}

	if err := e.apply(ctx, objects...); err != nil {
		return err
	}

	for _, o := range objects {
		if o.GetKind() != "Deployment" {
			continue
		}

		if err := e.expectRollout(ctx, &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: o.GetNamespace(), Name: o.GetName()}}); err != nil {
			return err
		}
	}

	return nil
}

func newNamespace() *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: crossplane.Namespace}}
}

// expectRollout waits until all pods of a Deployment are available, and no others are left.
func (e *env) expectRollout(ctx context.Context, d *appsv1.Deployment) error {
	return e.expect(ctx, d, func() error {
		s := d.Status
		if s.ObservedGeneration < d.GetGeneration() || s.Replicas != *d.Spec.Replicas || s.UpdatedReplicas != s.Replicas || s.AvailableReplicas != s.Replicas {
			return errors.Errorf("%s has %d replicas, want %d; %d updated, %d available", nameOf(d), s.Replicas, *d.Spec.Replicas, s.UpdatedReplicas, s.AvailableReplicas)
		}

		return nil
	})
}

// publish builds the package with the image of the provider, and pushes it with a tag. An installation
// without a package can use it as its image. A package of make release is pushed as it is.
func (e *env) publish(ctx context.Context, version string) error {
	if e.options.xpkg != "" {
		index, err := image.OpenLayout(e.options.xpkg)
		if err != nil {
			return err
		}

		return e.PushIndex(ctx, repository+":"+version, index)
	}

	runtime, err := tarball.ImageFromPath(e.options.runtime(), nil)
	if err != nil {
		return err
	}

	dir, err := e.scratch()
	if err != nil {
		return err
	}

	return e.cli.Publish(ctx, runtime, e.Registry+"/"+repository+":"+version, dir)
}

// applyFile applies the objects in a file of the repository.
func (e *env) applyFile(ctx context.Context, path string) error {
	objects, err := manifest.Read(filepath.Join(e.root, path))
	if err != nil {
		return err
	}

	if e.options.level == levelProcesses {
		for _, o := range objects {
			if err := manifest.OutsideOfCluster(o); err != nil {
				return err
			}
		}
	}

	return e.apply(ctx, objects...)
}

// installPackage applies a directory of examples/deploy that has a package, and waits until it is healthy.
func (e *env) installPackage(ctx context.Context, dir, version string) error {
	objects, err := e.render(dir, version)
	if err != nil {
		return err
	}

	if err := e.apply(ctx, objects...); err != nil {
		return err
	}

	return e.expectPackage(ctx, version)
}

// expectPackage waits until the supplied version of the package is installed, and its pods are ready.
func (e *env) expectPackage(ctx context.Context, version string) error {
	p := &pkgv1.Provider{ObjectMeta: metav1.ObjectMeta{Name: "provider-terraform"}}

	if err := e.expect(ctx, p, func() error {
		if want := e.Registry + "/" + repository + ":" + version; p.Status.CurrentIdentifier != want {
			return errors.Errorf("%s has package %q, want %q", nameOf(p), p.Status.CurrentIdentifier, want)
		}

		for _, kind := range []xpv2.ConditionType{pkgv1.TypeInstalled, pkgv1.TypeHealthy} {
			if c := p.GetCondition(kind); c.Status != corev1.ConditionTrue {
				return errors.Errorf("%s of %s is %s: %s", kind, nameOf(p), c.Status, c.Message)
			}
		}

		return nil
	}); err != nil {
		return err
	}

	return e.expectRollout(ctx, &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: crossplane.Namespace, Name: p.Status.CurrentRevision}})
}

// uninstallPackage deletes what installPackage has applied, and waits until the CRDs of the package are gone. The
// instances need their rights to release their Leases.
func (e *env) uninstallPackage(ctx context.Context, dir string) error {
	objects, err := e.render(dir, version)
	if err != nil {
		return err
	}

	if err := e.delete(ctx, &pkgv1.Provider{ObjectMeta: metav1.ObjectMeta{Name: "provider-terraform"}}); err != nil {
		return err
	}

	if err := e.expectNoPods(ctx, client.MatchingLabels{"app.kubernetes.io/name": "provider-terraform"}); err != nil {
		return err
	}

	if err := e.deleteAll(ctx, objects); err != nil {
		return err
	}

	// The garbage collector deletes them.
	files, err := filepath.Glob(filepath.Join(e.root, "package", "crds", "*.yaml"))
	if err != nil {
		return err
	}

	for _, file := range files {
		crds, err := manifest.Read(file)
		if err != nil {
			return err
		}

		for _, crd := range crds {
			if err := e.expectGone(ctx, crd); err != nil {
				return err
			}
		}
	}

	return nil
}

// expectNoPods waits until no pod of Crossplane's namespace has the supplied labels.
func (e *env) expectNoPods(ctx context.Context, labels client.MatchingLabels) error {
	return wait.Until(ctx, wait.Patience, func() error {
		pods, err := e.pods(ctx, crossplane.Namespace, labels)
		if err != nil || len(pods) == 0 {
			return err
		}

		return errors.Errorf("%s still exists", nameOf(&pods[0]))
	})
}

// uninstallCrossplane deletes what the Helm chart has created, and the CRDs, which stay.
func uninstallCrossplane(ctx context.Context, e *env) error {
	objects, err := e.chart()
	if err != nil {
		return err
	}

	for _, o := range slices.Backward(objects) {
		// The controller that aggregates ClusterRoles may write one again that was deleted: it applies what
		// it has in memory.
		if err := wait.Until(ctx, wait.Patience, func() error {
			err := e.Client.Delete(ctx, o)
			if kerrors.IsNotFound(err) {
				return nil
			}

			return errors.Join(err, errors.Errorf("%s still exists", nameOf(o)))
		}); err != nil {
			return err
		}
	}

	return e.delete(ctx, newNamespace())
}
