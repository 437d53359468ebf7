// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package drain

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

const (
	grace = 10 * time.Second
	limit = 15 * time.Second
)

func TestReconciler(t *testing.T) {
	t.Parallel()

	errBoom := errors.New("boom")

	type key struct{}

	type want struct {
		Called bool
		Result reconcile.Result
		Err    error
	}

	cases := map[string]struct {
		reason string
		ctx    func(ctx context.Context) context.Context
		inner  func(ctx context.Context) (reconcile.Result, error)
		want   want
	}{
		"PassesThrough": {
			reason: "The result of the inner reconciler is returned.",
			inner: func(_ context.Context) (reconcile.Result, error) {
				return reconcile.Result{RequeueAfter: time.Minute}, errBoom
			},
			want: want{Called: true, Result: reconcile.Result{RequeueAfter: time.Minute}, Err: errBoom},
		},
		"KeepsValues": {
			reason: "The logger of a reconcile is a value of its context.",
			ctx:    func(ctx context.Context) context.Context { return context.WithValue(ctx, key{}, "value") },
			inner: func(ctx context.Context) (reconcile.Result, error) {
				if diff := cmp.Diff("value", ctx.Value(key{})); diff != "" {
					return reconcile.Result{}, errors.New(diff)
				}

				return reconcile.Result{}, nil
			},
			want: want{Called: true},
		},
		"Done": {
			reason: "A reconcile from the queue after the shutdown began does not begin.",
			ctx: func(ctx context.Context) context.Context {
				ctx, cancel := context.WithCancel(ctx)
				cancel()

				return ctx
			},
			inner: func(_ context.Context) (reconcile.Result, error) {
				return reconcile.Result{RequeueAfter: time.Minute}, errBoom
			},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			ctx := t.Context()
			if tc.ctx != nil {
				ctx = tc.ctx(ctx)
			}

			var got want

			r := New(grace, limit).Reconciler(reconcile.Func(func(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
				got.Called = true

				return tc.inner(ctx)
			}))

			got.Result, got.Err = r.Reconcile(ctx, reconcile.Request{})
			if diff := cmp.Diff(tc.want, got, cmpopts.EquateErrors()); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
