// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package statusclient lets a reconciler finish its work on an object that has left its
// cache.
//
// The cache of a shard holds the objects with the label of the shard. An object that
// loses the label leaves the cache at once, even in the middle of a run that takes
// minutes. The reconciler must still be able to read and record everything about that
// object. crossplane-runtime, for one, reads the object again before it retries to record
// that creation succeeded, and would lose that annotation with a NotFound from the cache.
package statusclient

import (
	"context"

	"k8s.io/apimachinery/pkg/api/equality"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// NewManager returns a manager that behaves like m except for its client. The client
// falls back to the API server for objects of the supplied kinds that the cache does not
// hold, and records their status even when they were changed meanwhile.
func NewManager(m manager.Manager, kinds ...schema.GroupVersionKind) *Manager {
	return &Manager{Manager: m, client: NewClient(m.GetClient(), m.GetAPIReader(), m.GetScheme(), kinds...)}
}

// A Manager is a manager with a Client.
type Manager struct {
	manager.Manager

	client *Client
}

// GetClient returns the Client.
func (m *Manager) GetClient() client.Client { return m.client }

// Forget is that of the Client.
func (m *Manager) Forget(o client.Object) { m.client.Forget(o) }

// NewClient returns a client that behaves like c except in two ways, for objects of the
// supplied kinds.
//
// Get reads from the API server when c does not find the object, or when the object that
// c returns is older than the last status that this client recorded.
//
// A status update that conflicts is repeated on the latest version of the object. No
// other instance writes the status of an object in flight, and the version that was read
// has the last status, so the conflict comes from another change, for example of a label.
// The part of the status that names the owner of the object stays as it is in the latest
// version. If the owner is another instance by now, nothing is written.
func NewClient(c client.Client, live client.Reader, s *runtime.Scheme, kinds ...schema.GroupVersionKind) *Client {
	set := make(map[schema.GroupVersionKind]bool, len(kinds))
	for _, k := range kinds {
		set[k] = true
	}

	return &Client{Client: c, live: live, scheme: s, kinds: set, recorded: &versions{m: map[objectKey]string{}}}
}

// A Client also works on objects that have left its cache: see NewClient.
type Client struct {
	client.Client

	live   client.Reader
	scheme *runtime.Scheme
	kinds  map[schema.GroupVersionKind]bool

	// recorded are the versions in which this client has recorded a status.
	recorded *versions
}

func (c *Client) covers(o client.Object) (schema.GroupVersionKind, bool) {
	gvk, err := apiutil.GVKForObject(o, c.scheme)

	return gvk, err == nil && c.kinds[gvk]
}

// Forget the recorded version of an object that has left the cache and is no longer
// reconciled.
func (c *Client) Forget(o client.Object) {
	if gvk, ok := c.covers(o); ok {
		c.recorded.forget(objectKey{kind: gvk, key: client.ObjectKeyFromObject(o)})
	}
}

// Get an object, see NewClient.
func (c *Client) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	gvk, ok := c.covers(o)
	if !ok {
		return c.Client.Get(ctx, key, o, opts...)
	}

	k := objectKey{kind: gvk, key: key}

	err := c.Client.Get(ctx, key, o, opts...)
	if err == nil && !c.recorded.newer(k, o) {
		return nil
	}

	if err != nil && !kerrors.IsNotFound(err) {
		return err
	}

	if err := c.live.Get(ctx, key, o, opts...); err != nil {
		if kerrors.IsNotFound(err) {
			c.recorded.forget(k)
		}

		return err
	}

	// The cache sets the kind of the objects that it returns, and reconcilers rely on it,
	// to make owner references for example. A live read may leave it empty.
	o.GetObjectKind().SetGroupVersionKind(gvk)

	return nil
}

// unchanged says whether an object equals its version in the cache, and the cache is not
// known to be old. The update would not change anything then.
func (c *Client) unchanged(ctx context.Context, gvk schema.GroupVersionKind, o client.Object) bool {
	empty, err := c.scheme.New(gvk)
	if err != nil {
		return false
	}

	cached, ok := empty.(client.Object)
	if !ok {
		return false
	}

	key := client.ObjectKeyFromObject(o)
	if err := c.Client.Get(ctx, key, cached); err != nil || c.recorded.newer(objectKey{kind: gvk, key: key}, cached) {
		return false
	}

	return equality.Semantic.DeepEqual(cached, o)
}

// Status returns a writer of statuses, see NewClient.
func (c *Client) Status() client.SubResourceWriter {
	return &statusWriter{SubResourceWriter: c.Client.Status(), c: c}
}

type statusWriter struct {
	client.SubResourceWriter

	c *Client
}

func (w *statusWriter) Update(ctx context.Context, o client.Object, opts ...client.SubResourceUpdateOption) error {
	gvk, ok := w.c.covers(o)
	if !ok {
		return w.SubResourceWriter.Update(ctx, o, opts...)
	}

	if w.c.unchanged(ctx, gvk, o) {
		return nil
	}

	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		err := w.SubResourceWriter.Update(ctx, o, opts...)
		if err == nil {
			w.c.recorded.add(objectKey{kind: gvk, key: client.ObjectKeyFromObject(o)}, o)
		}

		if !kerrors.IsConflict(err) {
			return err
		}

		latest, ok := o.DeepCopyObject().(client.Object)
		if !ok {
			return err
		}

		if getErr := w.c.live.Get(ctx, client.ObjectKeyFromObject(o), latest); getErr != nil || latest.GetUID() != o.GetUID() {
			return err
		}

		if !carry(latest, o) {
			return errors.Wrap(err, "another instance has claimed it")
		}

		o.SetResourceVersion(latest.GetResourceVersion())

		return err
	})
}
