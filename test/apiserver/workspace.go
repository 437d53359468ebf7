// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane-contrib/provider-terraform/internal/shard"
)

// Workspace returns one to create, of the supplied kind and in the supplied shard, none
// if that is empty. The API server gives it a name.
func Workspace(gvk schema.GroupVersionKind, shardName string) *unstructured.Unstructured {
	ws := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"forProvider": map[string]any{"source": "Inline", "module": ""},
	}}}
	ws.SetGroupVersionKind(gvk)
	ws.SetGenerateName("ws-")

	if shardName != "" {
		ws.SetLabels(map[string]string{shard.LabelKey: shardName})
	}

	if strings.Contains(gvk.Group, ".m.") {
		ws.SetNamespace(corev1.NamespaceDefault)
	}

	return ws
}
