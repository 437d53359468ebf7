// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package providerconfig

import (
	"encoding/binary"
	"hash/maphash"

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

// newRef returns the Ref of the ProviderConfig that a usage or a managed resource in a
// namespace refers to. The cluster scoped group has one kind, which its usages do not
// mention.
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

// A usageKey stands for the namespace and the name of a usage. Every instance has one for
// every usage, regardless of its shard: this is why it is short. The seed is random, so
// that a user cannot choose names that share a key, and a collision is improbable even
// among millions of usages. As a number, which is aligned, it would take twice as much
// memory in a map without values.
type usageKey [8]byte

// users of one ProviderConfig.
type users struct {
	counted map[usageKey]struct{}

	// stale usages have no controller: they do not count, and are to be deleted.
	stale map[usageKey]*metav1.PartialObjectMetadata
}

func (u *users) empty() bool { return len(u.counted) == 0 && len(u.stale) == 0 }

// remove a usage, and say whether it was there.
func (u *users) remove(k usageKey) bool {
	before := len(u.counted) + len(u.stale)

	delete(u.counted, k)
	delete(u.stale, k)

	return len(u.counted)+len(u.stale) < before
}

// A usageIndex knows the usages of every ProviderConfig.
type usageIndex struct {
	seed    maphash.Seed
	configs map[Ref]*users
}

func newUsageIndex() *usageIndex {
	return &usageIndex{seed: maphash.MakeSeed(), configs: map[Ref]*users{}}
}

func (i *usageIndex) key(namespace, name string) usageKey {
	k := usageKey{}
	binary.LittleEndian.PutUint64(k[:], maphash.Comparable(i.seed, types.NamespacedName{Namespace: namespace, Name: name}))

	return k
}

// put a usage that is new or has changed. It returns the ProviderConfigs whose set of
// users has changed.
func (i *usageIndex) put(usage metav1.Object) []Ref {
	ref, controlled := refOf(usage), metav1.GetControllerOfNoCopy(usage) != nil

	if controlled && i.has(ref, usage.GetNamespace(), usage.GetName()) {
		return nil
	}

	changed := i.remove(usage)
	i.insert(usage)

	return append(changed, ref)
}

// insert a usage that is not there.
func (i *usageIndex) insert(usage metav1.Object) {
	ref, k := refOf(usage), i.key(usage.GetNamespace(), usage.GetName())

	c, ok := i.configs[ref]
	if !ok {
		c = &users{counted: map[usageKey]struct{}{}, stale: map[usageKey]*metav1.PartialObjectMetadata{}}
		i.configs[ref] = c
	}

	if metav1.GetControllerOfNoCopy(usage) != nil {
		c.counted[k] = struct{}{}

		return
	}

	c.stale[k] = &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		Namespace:       usage.GetNamespace(),
		Name:            usage.GetName(),
		UID:             usage.GetUID(),
		ResourceVersion: usage.GetResourceVersion(),
	}}
}

// remove a usage that is gone, or that refers to another ProviderConfig now. It returns
// the ProviderConfigs whose set of users has changed.
func (i *usageIndex) remove(usage metav1.Object) []Ref {
	k := i.key(usage.GetNamespace(), usage.GetName())

	for ref, c := range i.configs {
		if !c.remove(k) {
			continue
		}

		if c.empty() {
			delete(i.configs, ref)
		}

		return []Ref{ref}
	}

	return nil
}

// count the users of a ProviderConfig.
func (i *usageIndex) count(ref Ref) int64 {
	if c, ok := i.configs[ref]; ok {
		return int64(len(c.counted))
	}

	return 0
}

// has says whether there is such a usage, of that ProviderConfig, that counts.
func (i *usageIndex) has(ref Ref, namespace, name string) bool {
	c, ok := i.configs[ref]
	if !ok {
		return false
	}

	_, ok = c.counted[i.key(namespace, name)]

	return ok
}
