// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package assigner

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/time/rate"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"

	"github.com/crossplane-contrib/provider-terraform/test/wait"
)

// TestBalance counts the lists of all assigned Workspaces.
func TestBalance(t *testing.T) {
	t.Parallel()

	kind := schema.GroupVersionKind{Group: "example.org", Version: "v1", Kind: "Workspace"}

	cases := map[string]struct {
		reason string
		// fail is how many lists fail.
		fail int
		// changes are how often the members change, each after a minute.
		changes int
		want    int
	}{
		"Settled": {reason: "One list is enough until the next resync.", want: 2},
		"Changed": {reason: "Each change of the members needs one.", changes: 2, want: 4},
		"Failed":  {reason: "A list that fails is repeated.", fail: 3, want: 5},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := runtime.NewScheme()
				metav1.AddMetaToScheme(s) //nolint:errcheck // It cannot fail for an empty scheme.

				lists, m := 0, newMembership()
				kube := interceptor.NewClient(fake.NewClientBuilder().WithScheme(s).Build(), interceptor.Funcs{
					List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
						if lists++; lists <= tc.fail {
							return errors.New("boom")
						}

						return nil
					},
				})

				ctx, cancel := context.WithTimeout(t.Context(), resync+resync/2)
				defer cancel()

				a := &Assigner{Kinds: []schema.GroupVersionKind{kind}, Live: kube, Log: logging.NewNopLogger()}

				go func() {
					for i := range tc.changes {
						time.Sleep(time.Minute)
						m.set(Members{Here: []string{"one", "two"}[:i+1]})
					}
				}()

				a.balance(ctx, m)

				if diff := cmp.Diff(tc.want, lists); diff != "" {
					t.Errorf("%s\nlists: -want, +got:\n%s", tc.reason, diff)
				}
			})
		})
	}
}

// A hook is a client that calls functions.
type hook struct {
	client.Client

	get   func()
	patch func(ctx context.Context, o client.Object) error
}

func (h *hook) Get(context.Context, client.ObjectKey, client.Object, ...client.GetOption) error {
	h.get()

	return nil
}

func (h *hook) Patch(ctx context.Context, o client.Object, _ client.Patch, _ ...client.PatchOption) error {
	return h.patch(ctx, o)
}

// TestAllAway lets the last shard go away while a Workspace without a label waits to be assigned. No
// event follows when a shard comes back.
func TestAllAway(t *testing.T) {
	t.Parallel()

	m := newMembership()
	m.set(Members{Here: []string{"a"}})

	a := &Assigner{limiter: rate.NewLimiter(rate.Inf, 1)}
	r := a.reconciler(&hook{get: func() { m.set(Members{Away: []string{"a"}}) }}, schema.GroupVersionKind{}, m)

	got, err := r(t.Context(), reconcile.Request{})
	if diff := cmp.Diff(reconcile.Result{RequeueAfter: retryInterval}, got); diff != "" || err != nil {
		t.Errorf("Reconcile(...): error %v; -want, +got:\n%s", err, diff)
	}
}

// TestHangingWrite has a write without an answer. It stops no other one while the members stay.
func TestHangingWrite(t *testing.T) {
	t.Parallel()

	here := Members{Here: []string{"a"}}
	m := newMembership()
	m.set(here)

	begun, answered, written := make(chan struct{}), make(chan struct{}), make(chan struct{})
	a := &Assigner{limiter: rate.NewLimiter(rate.Inf, 1), Metrics: &stubMetrics{}, Kube: &hook{patch: func(_ context.Context, o client.Object) error {
		if o.GetName() == "hangs" {
			close(begun)
			<-answered
		}

		return nil
	}}}

	assign := func(name string) {
		if err := a.assign(t.Context(), &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: name}}, m); err != nil {
			t.Error(err)
		}
	}

	var wg sync.WaitGroup

	wg.Go(func() { assign("hangs") })

	<-begun

	wg.Go(func() {
		defer close(written)

		if m.set(here) {
			t.Error("set(...): the members have not changed")
		}

		m.get()
		assign("another")
	})

	select {
	case <-written:
	case <-time.After(wait.Patience):
		t.Error("the other write waits")
	}

	close(answered)
	wg.Wait()
}

// TestWriteTimeout ends a write without an answer.
func TestWriteTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newMembership()
		m.set(Members{Here: []string{"a"}})

		a := &Assigner{limiter: rate.NewLimiter(rate.Inf, 1), Kube: &hook{patch: func(ctx context.Context, _ client.Object) error {
			<-ctx.Done()

			return ctx.Err()
		}}}

		if err := a.assign(t.Context(), &metav1.PartialObjectMetadata{}, m); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("assign(...): want a deadline, got %v", err)
		}
	})
}
