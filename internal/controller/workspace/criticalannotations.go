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

// annotationUpdater is a managed.CriticalAnnotationUpdater that writes only the annotations that
// record the result of a creation. The updater of crossplane-runtime writes all annotations that
// the object had when the reconcile began, which restores those that a person removed during an
// apply. It also reads the object from the cache to repeat a write, which is not necessary here.
type annotationUpdater struct {
	kube client.Writer
}

// UpdateCriticalAnnotations writes these annotations. Afterwards o is the object that the API
// server returned.
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

	// The UID makes the API server refuse the patch for another object of the same name.
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": o.GetUID(), "annotations": annotations}})
	if err != nil {
		return errors.Wrap(err, "cannot make patch of annotations")
	}

	return errors.Wrap(retry.OnError(retry.DefaultRetry, mayPass, func() error {
		return u.kube.Patch(ctx, o, client.RawPatch(types.MergePatchType, patch))
	}), "cannot update critical annotations")
}

// mayPass says whether a failed request may succeed when it is repeated.
func mayPass(err error) bool {
	return !errors.Is(err, context.Canceled) && !kerrors.IsNotFound(err) && !kerrors.IsInvalid(err)
}
