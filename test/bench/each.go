// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"sync"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// each calls fn for all items, in order, for as many at the same time as there are
// workers. It ends with the first error.
func each[T any](ctx context.Context, workers int, items []T, fn func(context.Context, T) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)

	queue := make(chan T, len(items))
	for _, item := range items {
		queue <- item
	}

	close(queue)

	var wg sync.WaitGroup

	for range workers {
		wg.Go(func() {
			for item := range queue {
				if ctx.Err() != nil {
					return
				}

				if err := fn(ctx, item); err != nil {
					cancel(err)
				}
			}
		})
	}

	wg.Wait()

	return context.Cause(ctx)
}

// together calls all functions at the same time.
func together(fns ...func() error) error {
	errs := make([]error, len(fns))

	var wg sync.WaitGroup

	for n, fn := range fns {
		wg.Go(func() { errs[n] = fn() })
	}

	wg.Wait()

	return errors.Join(errs...)
}
