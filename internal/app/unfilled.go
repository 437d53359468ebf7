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

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// unfilled has the kinds that the cache cannot hold because the instance may not list or watch
// them. Without it, a read of such a kind would wait until its deadline, which for a Workspace is
// --timeout, and nobody would see the reason. It is safe for concurrent use.
type unfilled struct {
	mu    sync.Mutex
	kinds map[reflect.Type]*unfilledKind
	reads map[*context.CancelCauseFunc]reflect.Type
}

// An unfilledKind is a kind whose last list or watch was refused.
type unfilledKind struct {
	informer toolscache.SharedIndexInformer
	err      error
}

func newUnfilled() *unfilled {
	return &unfilled{kinds: map[reflect.Type]*unfilledKind{}, reads: map[*context.CancelCauseFunc]reflect.Type{}}
}

// observe records when the informer of the kind of the supplied object is refused.
func (u *unfilled) observe(i toolscache.SharedIndexInformer, o runtime.Object) error {
	kind := reflect.TypeOf(o)

	return i.SetWatchErrorHandlerWithContext(func(ctx context.Context, r *toolscache.Reflector, err error) {
		if kerrors.IsForbidden(err) {
			// The missing right is in the log: see rightsLog.
			u.refuse(kind, i, err)

			return
		}

		u.forget(kind)
		toolscache.DefaultWatchErrorHandler(ctx, r, err)
	})
}

func (u *unfilled) refuse(kind reflect.Type, i toolscache.SharedIndexInformer, err error) {
	u.mu.Lock()
	defer u.mu.Unlock()

	u.kinds[kind] = &unfilledKind{informer: i, err: err}

	for cancel, of := range u.reads {
		if of == kind {
			(*cancel)(err)
		}
	}
}

func (u *unfilled) forget(kind reflect.Type) {
	u.mu.Lock()
	defer u.mu.Unlock()

	delete(u.kinds, kind)
}

// read returns the context of a read of the kind of the supplied object. It is done as soon as the
// kind is refused, with that refusal as its cause. A kind that is filled is read without a wait, so
// that its context does not matter.
func (u *unfilled) read(ctx context.Context, o client.Object) (context.Context, context.CancelFunc) {
	kind := reflect.TypeOf(o)
	ctx, cancel := context.WithCancelCause(ctx)

	u.mu.Lock()
	defer u.mu.Unlock()

	if k := u.kinds[kind]; k != nil {
		cancel(k.err)
	}

	u.reads[&cancel] = kind

	return ctx, func() {
		u.mu.Lock()
		defer u.mu.Unlock()

		delete(u.reads, &cancel)
		cancel(nil)
	}
}

// err returns the refusals because of which kinds are missing in the cache, or nil.
func (u *unfilled) err() error {
	u.mu.Lock()
	defer u.mu.Unlock()

	var errs []error

	for _, k := range u.kinds {
		// It may have been filled since.
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

// newCache returns a constructor of caches whose reads return the refusal of an unfilled kind.
func (u *unfilled) newCache(cfg *rest.Config, o cache.Options) (cache.Cache, error) {
	c, err := cache.New(cfg, o)

	return &refusingCache{Cache: c, unfilled: u}, err
}

type refusingCache struct {
	cache.Cache

	unfilled *unfilled
}

// Get reads from the cache. The error of a kind that is not filled is a timeout.
func (c *refusingCache) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	ctx, done := c.unfilled.read(ctx, o)
	defer done()

	err := c.Cache.Get(ctx, key, o, opts...)
	if refusal := context.Cause(ctx); kerrors.IsTimeout(err) && kerrors.IsForbidden(refusal) {
		return refusal
	}

	return err
}
