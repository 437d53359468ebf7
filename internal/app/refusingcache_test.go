// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/shard"
)

// A waitingCache waits for an informer before it reads, as that of controller-runtime does.
type waitingCache struct {
	cache.Cache

	informer toolscache.SharedIndexInformer
}

func (c *waitingCache) Get(ctx context.Context, _ client.ObjectKey, _ client.Object, _ ...client.GetOption) error {
	if !toolscache.WaitForCacheSync(ctx.Done(), c.informer.HasSynced) {
		return kerrors.NewTimeoutError("failed waiting for Informer to sync", 0)
	}

	return nil
}

func (c *waitingCache) GetInformer(context.Context, client.Object, ...cache.InformerGetOption) (cache.Informer, error) {
	return c.informer, nil
}

// TestRefusingCache reads Secrets while they may not be listed, and after that.
func TestRefusingCache(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		errRefused := kerrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "", errors.New("cannot list"))
		granted, c := atomic.Bool{}, &refusingCache{}

		i := newInformer(shard.ID{}, c)(&toolscache.ListWatch{
			ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
				if granted.Load() {
					return &corev1.SecretList{}, nil
				}

				// The request takes a while.
				time.Sleep(time.Second)

				return nil, errRefused
			},
			WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
				if o.SendInitialEvents != nil {
					return nil, errors.New("not supported")
				}

				w := watch.NewFake()
				context.AfterFunc(ctx, w.Stop)

				return w, nil
			},
		}, &corev1.Secret{}, 0, toolscache.Indexers{})

		ctx, cancel := context.WithCancel(t.Context())
		ended := sync.WaitGroup{}
		ended.Go(func() { i.RunWithContext(ctx) })

		defer ended.Wait()
		defer cancel()

		c.Cache = &waitingCache{informer: i}
		read := func(o client.Object) (time.Duration, error) {
			ctx, cancel := context.WithTimeout(ctx, time.Hour)
			defer cancel()

			start := time.Now()

			err := c.Get(ctx, client.ObjectKey{}, o)

			return time.Since(start), err
		}

		if err := c.missing(); err != nil {
			t.Errorf("before the first answer: want no error, got %v", err)
		}

		if after, err := read(&corev1.Secret{}); !kerrors.IsForbidden(err) || after > time.Minute {
			t.Errorf("a read that waits: want the refusal soon, got %v after %s", err, after)
		}

		if after, err := read(&corev1.Secret{}); !kerrors.IsForbidden(err) || after != 0 {
			t.Errorf("a later read: want the refusal at once, got %v after %s", err, after)
		}

		if err := c.missing(); !errors.Is(err, errRefused) {
			t.Errorf("want the refusal, got %v", err)
		}

		if after, err := read(&corev1.ConfigMap{}); !kerrors.IsTimeout(err) || after != time.Hour {
			t.Errorf("another kind, which is not refused: want it to wait, got %v after %s", err, after)
		}

		granted.Store(true)

		if !toolscache.WaitForCacheSync(ctx.Done(), i.HasSynced) {
			t.Fatal("the informer did not sync")
		}

		if _, err := read(&corev1.Secret{}); err != nil {
			t.Errorf("once it is granted: %v", err)
		}

		if err := c.missing(); err != nil {
			t.Errorf("once it is granted: want no error, got %v", err)
		}
	})
}
