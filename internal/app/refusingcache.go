// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"reflect"
	"sync"
	"time"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// checkRefusal is the interval of checks whether a read of the cache waits in vain.
const checkRefusal = 100 * time.Millisecond

// A refusingCache is a cache whose reads return the reason if the instance may not list or watch a
// kind. Otherwise such a read would wait until its deadline, which for a Workspace is --timeout, and
// no error would have the reason. It is safe for concurrent use.
type refusingCache struct {
	cache.Cache

	mu    sync.Mutex
	kinds []*cachedKind
}

type cachedKind struct {
	object   reflect.Type
	informer toolscache.SharedIndexInformer

	// refusal is the error of the last list or watch, if it was refused.
	refusal error
}

// observe records when the informer of the kind of the supplied object is refused.
func (c *refusingCache) observe(i toolscache.SharedIndexInformer, o runtime.Object) error {
	k := &cachedKind{object: reflect.TypeOf(o), informer: i}

	c.mu.Lock()
	defer c.mu.Unlock()

	c.kinds = append(c.kinds, k)

	return i.SetWatchErrorHandlerWithContext(func(ctx context.Context, r *toolscache.Reflector, err error) {
		// The missing right is in the log: see logMissingRights.
		if !kerrors.IsForbidden(err) {
			toolscache.DefaultWatchErrorHandler(ctx, r, err)

			err = nil
		}

		c.mu.Lock()
		defer c.mu.Unlock()

		k.refusal = err
	})
}

// refusals returns the errors because of which kinds are missing in the cache. The kind of o is the only
// one, unless o is nil.
func (c *refusingCache) refusals(o client.Object) []error {
	c.mu.Lock()
	defer c.mu.Unlock()

	var errs []error

	for _, k := range c.kinds {
		// A kind may have been filled since its refusal.
		if k.refusal != nil && !k.informer.HasSynced() && (o == nil || k.object == reflect.TypeOf(o)) {
			errs = append(errs, k.refusal)
		}
	}

	return errs
}

// missing returns an error if kinds are missing in the cache because they were refused.
func (c *refusingCache) missing() error {
	return errors.Wrap(errors.Join(c.refusals(nil)...), "a right is missing: "+rightsRemedy)
}

// Get reads from the cache. It waits until the kind is filled, but not if it is refused.
func (c *refusingCache) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	i, err := c.GetInformer(ctx, o, cache.BlockUntilSynced(false))
	if err != nil {
		return err
	}

	err = wait.PollUntilContextCancel(ctx, checkRefusal, true, func(context.Context) (bool, error) {
		if refusals := c.refusals(o); len(refusals) > 0 {
			return false, refusals[0]
		}

		return i.HasSynced(), nil
	})
	if kerrors.IsForbidden(err) {
		return err
	}

	return c.Cache.Get(ctx, key, o, opts...)
}
