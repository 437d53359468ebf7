// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package providerconfig

import (
	"context"
	"fmt"
	"slices"
	"strings"

	kmeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// maxNamed is the largest number of names in a message.
const maxNamed = 5

// explainMissing describes a ProviderConfig that is missing, and those that a Workspace in the
// supplied namespace could refer to instead. It reads from the cache that did not have the ProviderConfig.
func (r *Resolver) explainMissing(ctx context.Context, k Kind, ref Ref, namespace string) string {
	text := fmt.Sprintf("no %s %q", ref.Kind, ref.Name)
	if ref.Namespace != "" {
		text += " in namespace " + ref.Namespace
	}

	// A user who has omitted the reference knows neither its kind nor its name.
	if ref.Namespace == "" && ref.Name == "default" {
		text += ", the default of spec.providerConfigRef"
	}

	var exist []string

	for _, other := range Kinds() {
		if other.Config.Group != k.Config.Group {
			continue
		}

		names := r.names(ctx, other, namespace)
		if other.Config.Kind != k.Config.Kind && slices.Contains(names, ref.Name) {
			return fmt.Sprintf("%s; there is a %s of this name: set spec.providerConfigRef.kind", text, other.Config.Kind)
		}

		if len(names) > 0 {
			exist = append(exist, other.Config.Kind+"s "+Enumerate(names))
		}
	}

	if len(exist) == 0 {
		return text + "; there is none of the API group " + k.Config.Group
	}

	return text + "; there are " + strings.Join(exist, "; ")
}

// names returns the names of the ProviderConfigs of a kind that Workspaces in a namespace may refer to.
func (r *Resolver) names(ctx context.Context, k Kind, namespace string) []string {
	o, err := r.client.Scheme().New(k.Config.GroupVersion().WithKind(k.Config.Kind + "List"))

	list, ok := o.(client.ObjectList)
	if err != nil || !ok || r.client.List(ctx, list) != nil {
		return nil
	}

	var names []string

	_ = kmeta.EachListItem(list, func(o runtime.Object) error {
		if pc, ok := o.(client.Object); ok && (pc.GetNamespace() == "" || pc.GetNamespace() == namespace) {
			names = append(names, pc.GetName())
		}

		return nil
	})

	return names
}

// Enumerate returns the first of the supplied names in their order, and the number of the others.
func Enumerate(names []string) string {
	names = slices.Sorted(slices.Values(names))
	if len(names) <= maxNamed {
		return strings.Join(names, ", ")
	}

	return fmt.Sprintf("%s, ... and %d more", strings.Join(names[:maxNamed], ", "), len(names)-maxNamed)
}

// NameOf returns the name of an object, with its namespace if it has one.
func NameOf(namespace, name string) string {
	return strings.TrimPrefix(types.NamespacedName{Namespace: namespace, Name: name}.String(), "/")
}
