// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	namespacedv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/namespaced/v1beta1"
)

// newCacheMapper returns a mapper that has the kinds of Workspace built in. The cache,
// which selects Workspaces by their shard, has to know their scope when the manager is
// made; with SafeStart their CRDs may come later. It is for the cache only: all other
// clients have to notice that a kind is missing.
func newCacheMapper(cfg *rest.Config) (meta.RESTMapper, error) {
	client, err := rest.HTTPClientFor(cfg)
	if err != nil {
		return nil, err
	}

	discovered, err := apiutil.NewDynamicRESTMapper(cfg, client)
	if err != nil {
		return nil, err
	}

	return withWorkspaces(discovered), nil
}

func withWorkspaces(m meta.RESTMapper) meta.RESTMapper {
	known := meta.NewDefaultRESTMapper(nil)
	known.Add(clusterv1beta1.WorkspaceGroupVersionKind, meta.RESTScopeRoot)
	known.Add(namespacedv1beta1.WorkspaceGroupVersionKind, meta.RESTScopeNamespace)

	return meta.FirstHitRESTMapper{MultiRESTMapper: meta.MultiRESTMapper{known, m}}
}
