// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// clusterKey is the ConfigMap whose UID identifies the cluster. Every API server makes it at its
// first start. Unlike the namespace kube-system, a provider that Crossplane has installed may
// read it.
func clusterKey() types.NamespacedName {
	return types.NamespacedName{Namespace: metav1.NamespaceSystem, Name: "extension-apiserver-authentication"}
}

// bindRoot ensures that no other cluster uses the root: each of the two would delete the
// directories of the other's Workspaces as garbage.
func (i *instance) bindRoot(ctx context.Context) error {
	cluster := &metav1.PartialObjectMetadata{}
	cluster.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMap"))

	err := i.kube.Get(ctx, clusterKey(), cluster)
	if kerrors.IsForbidden(err) || kerrors.IsNotFound(err) {
		i.log.Info("Cannot find out which cluster this is: make sure that no other cluster uses the same directory", "root", i.root.Path(), "error", err)

		return nil
	}

	if err != nil {
		return errors.Wrap(err, "cannot find out which cluster this is")
	}

	return errors.Wrap(i.root.Bind(string(cluster.GetUID())), "XP_TF_DIR")
}
