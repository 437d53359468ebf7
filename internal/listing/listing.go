// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package listing lists all objects of a kind from the API server, in pages. The list includes the
// objects that other instances serve, and is never in memory as a whole.
package listing

import (
	"context"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// The numbers of objects in one request. Other tenants write them, and how large they are: annotations have up to
// 256 KiB, and a Workspace up to 1.5 MiB. An answer takes about four times its length in memory until it is collected.
const (
	metadataPage = 100
	objectPage   = 5
)

// Each calls fn with the metadata of every object of a kind. It returns false if the kind does
// not exist. An error of fn or of the API server ends the list: fn has then seen only some of the
// objects.
//
// live must read from the API server. A cache may have only some of the objects, and its answer
// does not show that.
func Each(ctx context.Context, live client.Reader, gvk schema.GroupVersionKind, fn func(*metav1.PartialObjectMetadata) error, opts ...client.ListOption) (bool, error) {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(gvk.GroupVersion().WithKind(gvk.Kind + "List"))

	return each(ctx, live, gvk, list, metadataPage, func(m *metav1.PartialObjectMetadata) error {
		m.SetGroupVersionKind(gvk)

		return fn(m)
	}, opts)
}

// EachObject is Each for whole objects, which are of type T. list is an empty list of the kind.
func EachObject[T client.Object](ctx context.Context, live client.Reader, gvk schema.GroupVersionKind, list client.ObjectList, fn func(T) error, opts ...client.ListOption) (bool, error) {
	return each(ctx, live, gvk, list, objectPage, fn, opts)
}

func each[T client.Object](ctx context.Context, live client.Reader, gvk schema.GroupVersionKind, list client.ObjectList, limit client.Limit, fn func(T) error, opts []client.ListOption) (bool, error) {
	token := ""

	for {
		page, ok := list.DeepCopyObject().(client.ObjectList)
		if !ok {
			return false, errors.Errorf("%T is not a list", list)
		}

		// Without a resource version the API server reads the current objects from etcd. The token
		// of a page makes the next page come from the same snapshot, or fail.
		err := live.List(ctx, page, append([]client.ListOption{limit, client.Continue(token)}, opts...)...)

		// A kind that is removed between two pages is an error.
		if token == "" && isGone(ctx, live, gvk, err) {
			return false, nil
		}

		if err != nil {
			return false, err
		}

		err = meta.EachListItem(page, func(item runtime.Object) error {
			o, ok := item.(T)
			if !ok {
				return errors.Errorf("an object of %s has the type %T", gvk, item)
			}

			return fn(o)
		})
		if err != nil {
			return false, err
		}

		if token = page.GetContinue(); token == "" {
			return true, nil
		}
	}
}

// isGone says whether a list of all objects of a kind failed because the kind does not exist.
//
// A client gets NoMatch for a kind that it does not know, and NotFound for one that it has used
// before. That alone proves nothing: both happen while a definition is not served, and its objects
// exist. The API server removes a CustomResourceDefinition after all objects of it. Without the
// right to list definitions, a kind is never gone.
func isGone(ctx context.Context, live client.Reader, gvk schema.GroupVersionKind, err error) bool {
	if !meta.IsNoMatchError(err) && !kerrors.IsNotFound(err) {
		return false
	}

	resource, _ := meta.UnsafeGuessKindToResource(gvk)
	definitions := &metav1.PartialObjectMetadataList{}
	definitions.SetGroupVersionKind(schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinitionList"})

	// An instance may list definitions, and not get them.
	return live.List(ctx, definitions, client.MatchingFields{metav1.ObjectNameField: resource.GroupResource().String()}) == nil && len(definitions.Items) == 0
}
