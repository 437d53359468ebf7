// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package statusclient

import (
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// An objectKey names an object of any kind.
type objectKey struct {
	kind schema.GroupVersionKind
	key  client.ObjectKey
}

// versions are the resource versions of objects that a cache may not have yet. A
// reconcile that started from an older version, right after the last one has ended, would
// restore the old status: it would say, for example, that the Workspace has another
// state. It is safe for concurrent use.
type versions struct {
	mu sync.Mutex
	m  map[objectKey]string
}

// add the version that was just written.
func (v *versions) add(k objectKey, o client.Object) {
	v.mu.Lock()
	defer v.mu.Unlock()

	v.m[k] = o.GetResourceVersion()
}

// newer says whether a newer version of the object was written than the supplied one,
// which a cache has returned. A cache does not go back: a version that it has reached is
// forgotten.
func (v *versions) newer(k objectKey, o client.Object) bool {
	v.mu.Lock()
	defer v.mu.Unlock()

	written, ok := v.m[k]
	if !ok {
		return false
	}

	// A version that cannot be compared is read again.
	if c, err := resourceversion.CompareResourceVersion(o.GetResourceVersion(), written); err != nil || c < 0 {
		return true
	}

	delete(v.m, k)

	return false
}

func (v *versions) forget(k objectKey) {
	v.mu.Lock()
	defer v.mu.Unlock()

	delete(v.m, k)
}
