// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package statusclient has a client whose status writes succeed even if other fields of the object
// have changed since it was read. A reconcile of a Workspace takes minutes. Meanwhile people label the
// Workspace, and claims are written to its status. The report of the reconcile must not be lost then, and
// must not revert these changes.
package statusclient

import (
	"context"

	"k8s.io/apimachinery/pkg/api/equality"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
)

var errTaken = errors.New("another instance has claimed it")

// A Claimable object names the instance that may work on it in its status: status.ownership.claim.
type Claimable interface {
	client.Object
	GetOwnership() commonv1beta1.Ownership
	SetOwnership(o commonv1beta1.Ownership)
}

// NewClient returns a client that behaves like c except for Claimable objects, which c must read
// from the API server.
//
// An update writes annotations and finalizers only. An update or a patch does not change the status of the supplied object, apart from the claim with
// the hosts of earlier instances. Otherwise the stored status would replace one that was not written yet.
// If another instance has claimed the object, the API server refuses an update, which has the old
// resource version. A patch without one is written, and then reported as a conflict, so that the
// reconcile ends.
//
// An update of the status that conflicts is repeated on the latest version of the object, with the claim
// of that version. No other instance writes the rest of the status of an object that is reconciled. If
// another instance has claimed the object, nothing is written. An update that changes
// nothing is no request, if the cache or the object of WithLatest shows that.
func NewClient(c client.Client, cache client.Reader) client.Client {
	return &statusClient{Client: c, cache: cache}
}

type statusClient struct {
	client.Client

	cache client.Reader
}

// Get an object, with its kind, which reconcilers need for owner references. A read from the API server
// leaves it empty. See WithObject for an object that was replaced.
func (c *statusClient) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	if !getLatest(ctx, key, o) {
		if err := c.Client.Get(ctx, key, o, opts...); err != nil {
			return err
		}
	}

	if _, ok := o.(Claimable); !ok {
		return nil
	}

	if hasReplaced(ctx, o) {
		return kerrors.NewNotFound(schema.GroupResource{Resource: "workspaces"}, key.Name)
	}

	gvk, err := c.GroupVersionKindFor(o)
	if err != nil {
		return err
	}

	o.GetObjectKind().SetGroupVersionKind(gvk)

	return nil
}

func (c *statusClient) Update(ctx context.Context, o client.Object, opts ...client.UpdateOption) error {
	return write(ctx, o, func(o client.Object) error {
		if _, ok := o.(Claimable); !ok {
			return c.Client.Update(ctx, o, opts...)
		}

		return updateMetadata(ctx, c.Client, o, opts...)
	})
}

func (c *statusClient) Patch(ctx context.Context, o client.Object, p client.Patch, opts ...client.PatchOption) error {
	return write(ctx, o, func(o client.Object) error { return c.Client.Patch(ctx, o, p, opts...) })
}

// write writes an object, and takes over only its metadata and its claim from the response. The
// generation stays that of the specification that was read.
func write(ctx context.Context, o client.Object, fn func(o client.Object) error) error {
	claimable, ok := o.(Claimable)
	if !ok {
		return fn(o)
	}

	// The version in the context is not the latest one any more, and need not have the claim of it.
	keepLatest(ctx, claimable, false)

	latest := copyOf(claimable)

	if err := fn(latest); err != nil {
		return err
	}

	// The object keeps its version, so that the next update of the status is refused, too.
	if !carryClaim(latest, claimable) {
		return kerrors.NewConflict(schema.GroupResource{Resource: "workspaces"}, o.GetName(), errTaken)
	}

	// A patch may find that the specification was changed. See Update of a status.
	if latest.GetGeneration() == o.GetGeneration() {
		o.SetResourceVersion(latest.GetResourceVersion())
	}

	o.SetLabels(latest.GetLabels())
	o.SetAnnotations(latest.GetAnnotations())
	o.SetFinalizers(latest.GetFinalizers())
	o.SetDeletionTimestamp(latest.GetDeletionTimestamp())

	return nil
}

// Status returns a writer of statuses, see NewClient.
func (c *statusClient) Status() client.SubResourceWriter {
	return &statusWriter{SubResourceWriter: c.Client.Status(), c: c}
}

type statusWriter struct {
	client.SubResourceWriter

	c *statusClient
}

func (w *statusWriter) Update(ctx context.Context, o client.Object, opts ...client.SubResourceUpdateOption) error {
	claimable, ok := o.(Claimable)
	if !ok {
		return w.SubResourceWriter.Update(ctx, o, opts...)
	}

	if w.c.unchanged(ctx, claimable) {
		keepLatest(ctx, claimable, true)

		return nil
	}

	version, taken := o.GetResourceVersion(), false

	// A conflict with another instance that has claimed the object would come again.
	mayPass := func(err error) bool { return kerrors.IsConflict(err) && !taken }

	return retry.OnError(retry.DefaultRetry, mayPass, func() error {
		written, latest := copyOf(claimable), copyOf(claimable)
		written.SetResourceVersion(version)

		err := w.SubResourceWriter.Update(ctx, written, opts...)

		// The object keeps the specification that was read: the API server may return another one
		// than the one that was reconciled. After a conflict it also keeps its version: an update
		// of the whole object would revert the other change, and is refused.
		first := version == o.GetResourceVersion()
		if err == nil && first {
			o.SetResourceVersion(written.GetResourceVersion())
		}

		keepLatest(ctx, claimable, err == nil && first)

		if !kerrors.IsConflict(err) {
			return err
		}

		if getErr := w.c.Get(ctx, client.ObjectKeyFromObject(o), latest); getErr != nil || latest.GetUID() != o.GetUID() {
			return err
		}

		if taken = !carryClaim(latest, claimable); taken {
			return errors.Wrap(err, errTaken.Error())
		}

		version = latest.GetResourceVersion()

		return err
	})
}

// Patch takes over only the metadata and the claim from the response, like that of the client.
func (w *statusWriter) Patch(ctx context.Context, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
	return write(ctx, o, func(o client.Object) error { return w.SubResourceWriter.Patch(ctx, o, p, opts...) })
}

func copyOf(o Claimable) Claimable {
	c, _ := o.DeepCopyObject().(Claimable)

	return c
}

// unchanged says whether an object equals its version in the context or in the cache, which must
// be the version that was read.
func (c *statusClient) unchanged(ctx context.Context, o Claimable) bool {
	cached := copyOf(o)

	if !isLatest(ctx, o, cached) {
		if err := c.cache.Get(ctx, client.ObjectKeyFromObject(o), cached); err != nil || cached.GetResourceVersion() != o.GetResourceVersion() {
			return false
		}
	}

	// A cache need not hold these.
	cached.GetObjectKind().SetGroupVersionKind(o.GetObjectKind().GroupVersionKind())
	cached.SetManagedFields(o.GetManagedFields())

	return equality.Semantic.DeepEqual(cached, o)
}

// carryClaim copies the claim, and the hosts of earlier instances, from the latest version of an object.
// They are written independently of the rest of the status. It returns false if another instance has
// claimed the object in the meantime.
func carryClaim(latest, o Claimable) bool {
	now, own := latest.GetOwnership(), o.GetOwnership()
	if own.TakenBy(now) {
		return false
	}

	own.Claim, own.ClaimedAt, own.PreviousHosts = now.Claim, now.ClaimedAt, now.PreviousHosts
	o.SetOwnership(own)

	return true
}
