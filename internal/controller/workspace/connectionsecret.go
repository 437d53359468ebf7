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

// withRemovedKeys adds a nil value to details for every key of the connection Secret
// of ws that is not among them. Details are published with a merge patch, which
// leaves keys alone that it does not name, and removes those that are null.
func withRemovedKeys(ctx context.Context, kube client.Reader, ws workspace.Workspace, details managed.ConnectionDetails) (managed.ConnectionDetails, error) {
	key, ok := ws.GetConnectionSecretKey()
	if !ok {
		return details, nil
	}

	s := &corev1.Secret{}
	if err := kube.Get(ctx, key, s); err != nil {
		return details, errors.Wrap(resource.IgnoreNotFound(err), "cannot get connection Secret")
	}

	// A Secret of somebody else is not published to.
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
