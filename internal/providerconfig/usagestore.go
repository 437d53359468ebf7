// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package providerconfig

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// A usageStore is a cache.ReflectorStore: a watch of usages reports to it.
type usageStore struct{ usages *Usages }

// Add a usage.
func (s *usageStore) Add(o any) error { return s.put(o) }

// Update a usage.
func (s *usageStore) Update(o any) error { return s.put(o) }

// Delete a usage.
func (s *usageStore) Delete(o any) error {
	usage, err := meta.Accessor(o)
	if err != nil {
		return errors.Wrapf(err, "%T is not a usage", o)
	}

	s.usages.update(func() []Ref { return s.usages.index.remove(usage) })

	return nil
}

// Replace all usages.
func (s *usageStore) Replace(all []any, _ string) error {
	index := newUsageIndex()

	for _, o := range all {
		usage, err := meta.Accessor(o)
		if err != nil {
			return errors.Wrapf(err, "%T is not a usage", o)
		}

		index.insert(usage)
	}

	s.usages.update(func() []Ref {
		// ProviderConfigs without users are in the old index only.
		configs := maps.Clone(s.usages.index.configs)
		maps.Copy(configs, index.configs)

		s.usages.index = index

		return slices.Collect(maps.Keys(configs))
	})
	s.usages.syncOnce.Do(func() { close(s.usages.synced) })

	return nil
}

// Resync does nothing.
func (s *usageStore) Resync() error { return nil }

func (s *usageStore) put(o any) error {
	usage, err := meta.Accessor(o)
	if err != nil {
		return errors.Wrapf(err, "%T is not a usage", o)
	}

	s.usages.update(func() []Ref { return s.usages.index.put(usage) })

	return nil
}
