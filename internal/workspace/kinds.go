// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"

	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	namespacedv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/namespaced/v1beta1"
)

// A Kind is one kind of Workspace. Code that depends on the kind (controllers, cache selectors,
// garbage collection) loops over [Kinds].
type Kind struct {
	GroupVersionKind schema.GroupVersionKind
	Object           client.Object        // empty
	List             resource.ManagedList // empty
}

// GroupKind returns the group and kind as Crossplane names its controllers.
func (k Kind) GroupKind() string { return k.GroupVersionKind.GroupKind().String() }

// Kinds returns every kind of Workspace that this provider serves.
func Kinds() []Kind {
	return []Kind{
		{
			GroupVersionKind: clusterv1beta1.WorkspaceGroupVersionKind,
			Object:           &clusterv1beta1.Workspace{},
			List:             &clusterv1beta1.WorkspaceList{},
		},
		{
			GroupVersionKind: namespacedv1beta1.WorkspaceGroupVersionKind,
			Object:           &namespacedv1beta1.Workspace{},
			List:             &namespacedv1beta1.WorkspaceList{},
		},
	}
}

// KindOf returns the kind of a Workspace.
func KindOf(ws Workspace) Kind {
	kinds := Kinds()
	if ws.GetNamespace() == "" {
		return kinds[0]
	}

	return kinds[1]
}

// ResourceOf returns the resource of a Workspace, as it is named in a command of kubectl.
func ResourceOf(ws Workspace) string { return "workspaces." + KindOf(ws).GroupVersionKind.Group }

// GroupVersionKinds returns the GroupVersionKind of every kind of Workspace.
func GroupVersionKinds() []schema.GroupVersionKind {
	kinds := Kinds()
	gvks := make([]schema.GroupVersionKind, len(kinds))

	for i, k := range kinds {
		gvks[i] = k.GroupVersionKind
	}

	return gvks
}
