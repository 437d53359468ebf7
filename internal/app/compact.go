// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"

	xpmeta "github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"

	"github.com/crossplane-contrib/provider-terraform/internal/shard"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// compact returns a transform that makes objects smaller before the cache keeps them. It
// removes the managed fields, which this provider does not read. All objects share one
// copy of the keys, the finalizer and the claim of this instance that most of them have:
// in a small Workspace these are a good part of its memory.
func compact(id shard.ID, leaseNamespace, identity string) toolscache.TransformFunc {
	t := texts{}
	t.add(
		id.Name(),
		managed.FinalizerName,
		shard.LabelKey,
		leaseNamespace,
		id.LeaseName(),
		identity,
		xpmeta.AnnotationKeyExternalName,
		xpmeta.AnnotationKeyExternalCreatePending,
		xpmeta.AnnotationKeyExternalCreateSucceeded,
	)

	return func(o any) (any, error) {
		m, ok := o.(metav1.Object)

		// Objects that are already in the cache must not be written to. The API server
		// always returns managed fields.
		if !ok || m.GetManagedFields() == nil {
			return o, nil
		}

		m.SetManagedFields(nil)
		m.SetAnnotations(t.replace(m.GetAnnotations()))
		m.SetLabels(t.replace(m.GetLabels()))

		for i, f := range m.GetFinalizers() {
			m.GetFinalizers()[i] = t.one(f)
		}

		if ws, ok := o.(workspace.Workspace); ok {
			t.claim(ws)
		}

		return o, nil
	}
}

// texts that many objects have, each of which is in memory once.
type texts map[string]string

func (t texts) add(all ...string) {
	for _, s := range all {
		t[s] = s
	}
}

// one returns the text that is in memory, if s is one of them.
func (t texts) one(s string) string {
	if known, ok := t[s]; ok {
		return known
	}

	return s
}

// claim replaces the texts in the claim on a Workspace.
func (t texts) claim(ws workspace.Workspace) {
	o := ws.GetOwnership()
	if o.Claim == nil {
		return
	}

	o.Claim.Namespace, o.Claim.Lease, o.Claim.Holder = t.one(o.Claim.Namespace), t.one(o.Claim.Lease), t.one(o.Claim.Holder)
	ws.SetOwnership(o)
}

// replace the texts in labels or annotations.
func (t texts) replace(m map[string]string) map[string]string {
	if m == nil {
		return nil
	}

	c := make(map[string]string, len(m))
	for k, v := range m {
		c[t.one(k)] = t.one(v)
	}

	return c
}
