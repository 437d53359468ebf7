// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package kustomize renders manifests as `kubectl kustomize` does.
package kustomize

import (
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// mu is held while the library renders: its schema is a global variable that it sets when it first needs it, without a
// lock.
var mu sync.Mutex //nolint:gochecknoglobals // So is what it guards.

// Render returns the objects of the kustomization in the supplied directory.
func Render(dir string) ([]*unstructured.Unstructured, error) {
	mu.Lock()
	defer mu.Unlock()

	rendered, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		return nil, errors.Wrapf(err, "cannot render %s", dir)
	}

	objects := make([]*unstructured.Unstructured, 0, rendered.Size())

	for _, r := range rendered.Resources() {
		data, err := r.MarshalJSON()
		if err != nil {
			return nil, errors.Wrapf(err, "cannot marshal an object of %s", dir)
		}

		o := &unstructured.Unstructured{}
		if err := o.UnmarshalJSON(data); err != nil {
			return nil, errors.Wrapf(err, "%s has something that is no Kubernetes object", dir)
		}

		objects = append(objects, o)
	}

	return objects, nil
}
