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
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// A leaseReader reads a Lease with a holder or an empty one. It may also be missing.
type leaseReader struct {
	client.Reader

	holder *string
	err    error
}

func (r *leaseReader) Get(_ context.Context, _ client.ObjectKey, o client.Object, _ ...client.GetOption) error {
	if l, ok := o.(*coordinationv1.Lease); ok {
		l.Spec.HolderIdentity = r.holder
	}

	return r.err
}

func TestLeaseKnown(t *testing.T) {
	t.Parallel()

	errBoom := errors.New("boom")
	elected := make(chan struct{})
	close(elected)

	cases := map[string]struct {
		reason  string
		reader  *leaseReader
		elected chan struct{}
		want    error
	}{
		"Elected":     {reason: "The holder of the Lease makes no request.", reader: &leaseReader{err: errBoom}, elected: elected},
		"StandsBy":    {reason: "A standby replica is ready.", reader: &leaseReader{holder: new("other")}},
		"Nobody":      {reason: "An instance is about to take it.", reader: &leaseReader{holder: new("")}, want: cmpopts.AnyError},
		"Never":       {reason: "The Lease does not exist yet.", reader: &leaseReader{}, want: cmpopts.AnyError},
		"Unreachable": {reason: "An instance that cannot read the Lease is not ready.", reader: &leaseReader{err: errBoom}, want: errBoom},
		"Failed":      {reason: "A failed answer does not count.", reader: &leaseReader{holder: new("other"), err: errBoom}, want: errBoom},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			check := leaseKnown(tc.reader, types.NamespacedName{}, tc.elected)
			got := check(httptest.NewRequestWithContext(t.Context(), "GET", "/readyz", nil))

			if diff := cmp.Diff(tc.want, got, cmpopts.EquateErrors()); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestLeaseKnownOnce ensures that a successful probe stays successful: an outage of the API
// server must not restart pods.
func TestLeaseKnownOnce(t *testing.T) {
	t.Parallel()

	reader := &leaseReader{holder: new("other")}
	check := leaseKnown(reader, types.NamespacedName{}, nil)
	probe := httptest.NewRequestWithContext(t.Context(), "GET", "/readyz", nil)

	if err := check(probe); err != nil {
		t.Fatal(err)
	}

	reader.err = errors.New("boom")

	if err := check(probe); err != nil {
		t.Errorf("it was known before: %v", err)
	}
}

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
