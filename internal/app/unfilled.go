// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// checkRefusal is the interval of checks whether a read of the cache waits in vain.
const checkRefusal = 100 * time.Millisecond

// unfilled has the kinds that the cache cannot hold because the instance may not list or watch
// them. Without it, a read of such a kind would wait until its deadline, which for a Workspace is
// --timeout, and nobody would see the reason. It is safe for concurrent use.
type unfilled struct {
	mu    sync.Mutex
	kinds map[reflect.Type]unfilledKind
}

// An unfilledKind is a kind whose last list or watch was refused.
type unfilledKind struct {
	informer toolscache.SharedIndexInformer
	err      error
}

func newUnfilled() *unfilled { return &unfilled{kinds: map[reflect.Type]unfilledKind{}} }

// observe records when the informer of the kind of the supplied object is refused.
func (u *unfilled) observe(i toolscache.SharedIndexInformer, o runtime.Object) error {
	kind := reflect.TypeOf(o)

	return i.SetWatchErrorHandlerWithContext(func(ctx context.Context, r *toolscache.Reflector, err error) {
		u.mu.Lock()
		defer u.mu.Unlock()

		if kerrors.IsForbidden(err) {
			// The missing right is in the log: see rightsLog.
			u.kinds[kind] = unfilledKind{informer: i, err: err}

			return
		}

		delete(u.kinds, kind)
		toolscache.DefaultWatchErrorHandler(ctx, r, err)
	})
}

// refusal returns the error because of which the kind of an object is missing in the cache, or nil.
func (u *unfilled) refusal(o client.Object) error {
	u.mu.Lock()
	defer u.mu.Unlock()

	// It may have been filled since.
	if k, ok := u.kinds[reflect.TypeOf(o)]; ok && !k.informer.HasSynced() {
		return k.err
	}

	return nil
}

// err returns the refusals because of which kinds are missing in the cache, or nil.
func (u *unfilled) err() error {
	u.mu.Lock()
	defer u.mu.Unlock()

	var errs []error

	for _, k := range u.kinds {
		if !k.informer.HasSynced() {
			errs = append(errs, k.err)
		}
	}

	if len(errs) == 0 {
		return nil
	}

	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })

	return errors.Wrap(errors.Join(errs...), "a right is missing: "+rightsRemedy)
}

// newCache returns a cache whose reads return the refusal of an unfilled kind.
func (u *unfilled) newCache(cfg *rest.Config, o cache.Options) (cache.Cache, error) {
	c, err := cache.New(cfg, o)

	return &refusingCache{Cache: c, unfilled: u}, err
}

type refusingCache struct {
	cache.Cache

	unfilled *unfilled
}

// Get reads from the cache. It waits until the kind is filled, but not if it is refused.
func (c *refusingCache) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	i, err := c.GetInformer(ctx, o, cache.BlockUntilSynced(false))
	if err != nil {
		return err
	}

	err = wait.PollUntilContextCancel(ctx, checkRefusal, true, func(context.Context) (bool, error) {
		return i.HasSynced(), c.unfilled.refusal(o)
	})
	if kerrors.IsForbidden(err) {
		return err
	}

	return c.Cache.Get(ctx, key, o, opts...)
}
