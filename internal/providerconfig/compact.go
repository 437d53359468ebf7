// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package providerconfig

import (
	"maps"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
)

// CompactUsages returns a transform that makes usages smaller before the cache stores them: each
// instance caches the usages of all shards. It keeps the fields that the reconciler of
// ProviderConfigs and the trackers read. Usages of one ProviderConfig share their labels, which
// are half of the rest. The supplied transform is for all other objects.
func CompactUsages(others toolscache.TransformFunc) toolscache.TransformFunc {
	shared := sync.Map{} // The two labels, by their values.

	return func(o any) (any, error) {
		u, ok := o.(resource.ProviderConfigUsage)
		if !ok {
			return others(o)
		}

		// Objects that are already in the cache must not change. The API server always returns
		// managed fields, so an object without them comes from the cache.
		if u.GetManagedFields() == nil {
			return u, nil
		}

		u.SetManagedFields(nil)
		u.SetResourceReference(xpv2.TypedReference{})

		if c := metav1.GetControllerOfNoCopy(u); c != nil {
			u.SetOwnerReferences([]metav1.OwnerReference{{UID: c.UID, Controller: new(true)}})
		}

		l := u.GetLabels() // The object is new, so its map may be changed.
		maps.DeleteFunc(l, func(k, _ string) bool { return k != xpv2.LabelKeyProviderName && k != xpv2.LabelKeyProviderKind })

		if known, ok := shared.LoadOrStore([2]string{l[xpv2.LabelKeyProviderName], l[xpv2.LabelKeyProviderKind]}, l); ok {
			l, _ = known.(map[string]string)
		}

		u.SetLabels(l)

		return u, nil
	}
}
