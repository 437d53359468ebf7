// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"

	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// withRemovedKeys adds a nil value to details for every key of the connection Secret of ws that
// details lack. Details are published with a merge patch: it keeps keys that it does not name,
// and removes keys that are null.
func withRemovedKeys(ctx context.Context, kube client.Reader, ws workspace.Workspace, details managed.ConnectionDetails) (managed.ConnectionDetails, error) {
	key, ok := ws.GetConnectionSecretKey()
	if !ok {
		return details, nil
	}

	s := &corev1.Secret{}
	if err := kube.Get(ctx, key, s); err != nil {
		return details, errors.Wrap(resource.IgnoreNotFound(err), "cannot get connection Secret")
	}

	// The managed reconciler does not publish to a Secret that ws does not control.
	if !metav1.IsControlledBy(s, ws) {
		return details, nil
	}

	for k := range s.Data {
		if _, ok := details[k]; !ok {
			details[k] = nil
		}
	}

	return details, nil
}
