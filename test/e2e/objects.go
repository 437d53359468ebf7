// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"path/filepath"
	"strings"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/test/kustomize"
	"github.com/crossplane-contrib/provider-terraform/test/manifest"
	"github.com/crossplane-contrib/provider-terraform/test/wait"
)

const (
	// repository of the provider, below the registry of the node.
	repository = "crossplane-contrib/provider-terraform"

	// placeholder is the package, and the image, in the examples.
	placeholder = "registry.example.org/crossplane-contrib/provider-terraform"
)

// apply applies objects in order, as `kubectl apply --server-side` does.
func (e *env) apply(ctx context.Context, objects ...*unstructured.Unstructured) error {
	for _, o := range objects {
		if err := e.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(o.DeepCopy()), client.FieldOwner("kubectl"), client.ForceOwnership); err != nil {
			return errors.Wrapf(err, "cannot apply %s %s", o.GetKind(), o.GetName())
		}
	}

	return nil
}

// applyText applies the objects in a YAML text.
func (e *env) applyText(ctx context.Context, text string) error {
	objects, err := manifest.Parse([]byte(text))
	if err != nil {
		return err
	}

	return e.apply(ctx, objects...)
}

// delete deletes objects in order, and then waits until all of them are gone, as kubectl does.
func (e *env) delete(ctx context.Context, objects ...client.Object) error {
	for _, o := range objects {
		if err := e.Client.Delete(ctx, o); client.IgnoreNotFound(err) != nil && !meta.IsNoMatchError(err) {
			return errors.Wrapf(err, "cannot delete %s", nameOf(o))
		}
	}

	for _, o := range objects {
		if err := e.expectGone(ctx, o); err != nil {
			return err
		}
	}

	return nil
}

// deleteAll deletes the objects of manifests like delete.
func (e *env) deleteAll(ctx context.Context, objects []*unstructured.Unstructured) error {
	all := make([]client.Object, 0, len(objects))
	for _, o := range objects {
		all = append(all, o)
	}

	return e.delete(ctx, all...)
}

// expectGone waits until an object does not exist.
func (e *env) expectGone(ctx context.Context, o client.Object) error {
	key := client.ObjectKeyFromObject(o)

	return e.explained(ctx, o, wait.Until(ctx, wait.Patience, func() error {
		err := e.Client.Get(ctx, key, o)
		if kerrors.IsNotFound(err) || meta.IsNoMatchError(err) {
			return nil
		}

		return errors.Join(err, errors.Errorf("%s still exists", nameOf(o)))
	}))
}

// render returns the objects of a directory in examples/deploy, with the registry of the node and the
// supplied version.
func (e *env) render(dir, version string) ([]*unstructured.Unstructured, error) {
	objects, err := kustomize.Render(filepath.Join(e.root, "examples", "deploy", dir))
	if err != nil {
		return nil, err
	}

	for _, o := range objects {
		if err := replaceImage(o, e.Registry+"/"+repository+":"+version); err != nil {
			return nil, err
		}
	}

	return objects, nil
}

// replaceImage replaces the image, or the package, in a manifest.
func replaceImage(o *unstructured.Unstructured, image string) error {
	data, err := o.MarshalJSON()
	if err != nil {
		return err
	}

	return o.UnmarshalJSON([]byte(strings.ReplaceAll(string(data), placeholder+":v0.1.0", image)))
}

// expect reads an object until check returns nil.
func (e *env) expect(ctx context.Context, o client.Object, check func() error) error {
	key := client.ObjectKeyFromObject(o)

	return e.explained(ctx, o, wait.Until(ctx, wait.Patience, func() error {
		if err := e.Client.Get(ctx, key, o); err != nil {
			return errors.Wrapf(err, "cannot read %s", nameOf(o))
		}

		return check()
	}))
}

// expectCondition waits until an object has the supplied condition, as "Ready" with the status "True", for
// its latest generation if the condition names one.
func (e *env) expectCondition(ctx context.Context, o client.Object, kind, status string) error {
	return e.expect(ctx, o, func() error {
		all, err := conditions(o)
		if err != nil {
			return err
		}

		for _, c := range all {
			if c.Type != kind {
				continue
			}

			if string(c.Status) != status || c.ObservedGeneration != 0 && c.ObservedGeneration < o.GetGeneration() {
				return errors.Errorf("%s of %s is %s, want %s: %s %s", kind, nameOf(o), c.Status, status, c.Reason, c.Message)
			}

			return nil
		}

		return errors.Errorf("%s has no condition %s", nameOf(o), kind)
	})
}
