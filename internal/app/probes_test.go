// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// A lateCache is synced or not.
type lateCache struct {
	cache.Cache

	synced bool
}

func (c *lateCache) WaitForCacheSync(context.Context) bool { return c.synced }

func TestCachesSynced(t *testing.T) {
	t.Parallel()

	errRefused := errors.New("a right is missing")

	for synced, want := range map[bool]error{true: nil, false: errRefused} {
		got := cachesSynced(&lateCache{synced: synced}, func() error { return errRefused })(httptest.NewRequestWithContext(t.Context(), "GET", "/readyz", nil))

		if diff := cmp.Diff(want, got, cmpopts.EquateErrors()); diff != "" {
			t.Errorf("caches that are synced: %t: -want, +got:\n%s", synced, diff)
		}
	}
}
