// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package providerconfig

import (
	"crypto/sha256"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	namespacedv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/namespaced/v1beta1"
)

// A Ref names a ProviderConfig of one API group.
type Ref struct {
	types.NamespacedName

	Kind string
}

// newRef returns the Ref of what a usage or a managed resource in a namespace refers
// to. The cluster scoped group has one kind, which its usages do not mention.
func newRef(namespace, kind, name string) Ref {
	switch kind {
	case "":
		return Ref{Kind: clusterv1beta1.ProviderConfigKind, NamespacedName: types.NamespacedName{Name: name}}
	case namespacedv1beta1.ClusterProviderConfigKind:
		return Ref{Kind: kind, NamespacedName: types.NamespacedName{Name: name}}
	default:
		return Ref{Kind: kind, NamespacedName: types.NamespacedName{Namespace: namespace, Name: name}}
	}
}

// refOf returns the ProviderConfig that a usage is of, going by its labels.
func refOf(usage metav1.Object) Ref {
	l := usage.GetLabels()

	return newRef(usage.GetNamespace(), l[xpv2.LabelKeyProviderKind], l[xpv2.LabelKeyProviderName])
}

// A usageKey stands for the namespace and the name of a usage. Every instance has one
// for every usage there is, whichever shard that is of: this is why it is short.
type usageKey [16]byte

func keyOf(namespace, name string) usageKey {
	sum := sha256.Sum256([]byte(namespace + "/" + name))

	return usageKey(sum[:])
}

// users of one ProviderConfig.
type users struct {
	ref   Ref
	count int64

	// stale usages have no controller: they do not count, and are to be deleted.
	stale map[usageKey]*metav1.PartialObjectMetadata
}

// A usageIndex knows which ProviderConfig each usage is of, and how many usages
// there are of each.
type usageIndex struct {
	usages  map[usageKey]*users
	configs map[Ref]*users
}

func newUsageIndex(size int) *usageIndex {
	return &usageIndex{usages: make(map[usageKey]*users, size), configs: map[Ref]*users{}}
}

// put a usage that is new or has changed. It returns the ProviderConfigs whose users
// are others now.
func (i *usageIndex) put(usage metav1.Object) []Ref {
	k, ref, controlled := keyOf(usage.GetNamespace(), usage.GetName()), refOf(usage), metav1.GetControllerOfNoCopy(usage) != nil

	if controlled && i.has(k, ref) {
		return nil
	}

	changed := i.remove(k)

	c, ok := i.configs[ref]
	if !ok {
		c = &users{ref: ref}
		i.configs[ref] = c
	}

	i.usages[k] = c

	if controlled {
		c.count++

		return append(changed, ref)
	}

	if c.stale == nil {
		c.stale = map[usageKey]*metav1.PartialObjectMetadata{}
	}

	c.stale[k] = &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		Namespace:       usage.GetNamespace(),
		Name:            usage.GetName(),
		UID:             usage.GetUID(),
		ResourceVersion: usage.GetResourceVersion(),
	}}

	return append(changed, ref)
}

// remove a usage that is gone. It returns the ProviderConfigs whose users are others
// now.
func (i *usageIndex) remove(k usageKey) []Ref {
	c, ok := i.usages[k]
	if !ok {
		return nil
	}

	delete(i.usages, k)

	if _, stale := c.stale[k]; stale {
		delete(c.stale, k)
	} else {
		c.count--
	}

	if c.count == 0 && len(c.stale) == 0 {
		delete(i.configs, c.ref)
	}

	return []Ref{c.ref}
}

// has says whether there is such a usage, of that ProviderConfig, that counts.
func (i *usageIndex) has(k usageKey, ref Ref) bool {
	c, ok := i.usages[k]
	if !ok || c.ref != ref {
		return false
	}

	_, stale := c.stale[k]

	return !stale
}
