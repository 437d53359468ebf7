// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// TestWaitFor starts managers whose caches are filled after some time, or never.
func TestWaitFor(t *testing.T) {
	t.Parallel()

	errBoom := errors.New("boom")

	const never = 24 * time.Hour

	cases := map[string]struct {
		reason string
		// filled, stopped and refused are times after the start.
		filled, stopped time.Duration
		refused         bool
		err             error
		want            error
		after           time.Duration
	}{
		"Filled":  {reason: "The manager ends by itself.", filled: time.Second, stopped: time.Hour, after: time.Hour + 5*time.Second},
		"Failed":  {reason: "The error of the manager is that of the instance.", filled: time.Second, stopped: time.Hour, err: errBoom, want: errBoom, after: time.Hour + 5*time.Second},
		"Refused": {reason: "Caches that are refused are not filled.", filled: never, stopped: time.Hour, refused: true, want: cmpopts.AnyError, after: fillLimit},
		"Stopped": {reason: "An instance that waits for a right can be stopped.", filled: never, stopped: time.Minute, refused: true, after: time.Minute + fillGrace},
		"Slow":    {reason: "An API server may need longer.", filled: 10 * time.Minute, stopped: time.Hour, after: time.Hour + 5*time.Second},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), tc.stopped)
				defer cancel()

				i := &instance{unfilled: newUnfilled()}
				if tc.refused {
					i.unfilled.refuse(reflect.TypeFor[*corev1.Secret](), toolscache.NewSharedIndexInformer(nil, &corev1.Secret{}, 0, nil), errBoom)
				}

				f, start := make(filled), time.Now()

				got := i.waitFor(ctx, manager.RunnableFunc(func(ctx context.Context) error {
					time.Sleep(tc.filled)

					_ = f.Start(ctx)
					<-ctx.Done()
					// Runs end.
					time.Sleep(5 * time.Second)

					return tc.err
				}), f)

				if diff := cmp.Diff(tc.want, got, cmpopts.EquateErrors()); diff != "" {
					t.Errorf("\n%s\nwaitFor(...): -want, +got:\n%s", tc.reason, diff)
				}

				if after := time.Since(start); after != tc.after {
					t.Errorf("\n%s\nwant an end after %s, got %s", tc.reason, tc.after, after)
				}

				// The manager that was left behind ends, too.
				time.Sleep(2 * never)
			})
		})
	}
}
