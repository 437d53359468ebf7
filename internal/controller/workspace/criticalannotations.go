// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"
	"encoding/json"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
)

// annotationUpdater is a managed.CriticalAnnotationUpdater that writes the annotations that
// record what became of a creation, and no others. The one of crossplane-runtime writes all that the object had
// when the reconcile began: what a person removed during an apply would be there again.
// It also reads the object from the cache to repeat a write, which this one need not do.
type annotationUpdater struct {
	kube client.Writer
}

// UpdateCriticalAnnotations of an object, which is as the API server has it afterwards.
func (u *annotationUpdater) UpdateCriticalAnnotations(ctx context.Context, o client.Object) error {
	annotations := map[string]string{}

	for _, key := range []string{
		meta.AnnotationKeyExternalName,
		meta.AnnotationKeyExternalCreatePending,
		meta.AnnotationKeyExternalCreateSucceeded,
		meta.AnnotationKeyExternalCreateFailed,
	} {
		if value, ok := o.GetAnnotations()[key]; ok {
			annotations[key] = value
		}
	}

	// Another object of the same name has another UID, and refuses this one.
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": o.GetUID(), "annotations": annotations}})
	if err != nil {
		return errors.Wrap(err, "cannot make patch of annotations")
	}

	return errors.Wrap(retry.OnError(retry.DefaultRetry, mayPass, func() error {
		return u.kube.Patch(ctx, o, client.RawPatch(types.MergePatchType, patch))
	}), "cannot update critical annotations")
}

// mayPass says whether a request that failed may succeed when it is repeated.
func mayPass(err error) bool {
	return !errors.Is(err, context.Canceled) && !kerrors.IsNotFound(err) && !kerrors.IsInvalid(err)
}
