// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package assigner

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"

	"github.com/crossplane-contrib/provider-terraform/internal/shard"
)

// A countingLogger counts messages.
type countingLogger struct {
	logging.Logger

	messages int
}

func (l *countingLogger) Info(string, ...any) { l.messages++ }

// TestForget deletes the Lease of a shard that is gone.
func TestForget(t *testing.T) {
	t.Parallel()

	id, err := shard.Parse("gone")
	if err != nil {
		t.Fatal(err)
	}

	type want struct {
		// forbidden says that the result is the refusal of the API server.
		forbidden, deleted bool

		// logged is the number of messages.
		logged int
	}

	cases := map[string]struct {
		reason    string
		away      time.Duration
		renewed   time.Duration
		forbidden string
		taken     bool
		want      want
	}{
		"Gone":         {reason: "A shard without an instance is forgotten.", away: forgetAfter, renewed: forgetAfter, want: want{deleted: true, logged: 1}},
		"Away":         {reason: "Its instance may come back.", away: forgetAfter - 1, renewed: forgetAfter},
		"Back":         {reason: "An instance has just taken the Lease.", away: forgetAfter, renewed: time.Second},
		"Taken":        {reason: "An instance takes the Lease just now.", away: forgetAfter, renewed: forgetAfter, taken: true},
		"MayNotGet":    {reason: "An instance without the right to get Leases says so.", away: forgetAfter, renewed: forgetAfter, forbidden: "get", want: want{forbidden: true}},
		"MayNotDelete": {reason: "An instance without the right to delete Leases says so.", away: forgetAfter, renewed: forgetAfter, forbidden: "delete", want: want{forbidden: true}},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := runtime.NewScheme()
			if err := coordinationv1.AddToScheme(s); err != nil {
				t.Fatal(err)
			}

			l := &coordinationv1.Lease{
				ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: id.LeaseName(), UID: "uid"},
				Spec:       coordinationv1.LeaseSpec{RenewTime: new(metav1.NewMicroTime(time.Now().Add(-tc.renewed)))},
			}
			refuse := func(verb string) error {
				if verb != tc.forbidden {
					return nil
				}

				return kerrors.NewForbidden(coordinationv1.Resource("leases"), l.GetName(), errors.New("cannot "+verb))
			}

			inner := fake.NewClientBuilder().WithScheme(s).WithObjects(l).Build()
			kube := interceptor.NewClient(inner, interceptor.Funcs{
				Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
					if err := refuse("get"); err != nil {
						return err
					}

					return c.Get(ctx, key, o, opts...)
				},
				Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
					if err := refuse("delete"); err != nil {
						return err
					}

					if tc.taken {
						return kerrors.NewConflict(coordinationv1.Resource("leases"), l.GetName(), errors.New("boom"))
					}

					return c.Delete(ctx, o, opts...)
				},
			})

			log := &countingLogger{}
			a := &Assigner{Namespace: "ns", Live: kube, Kube: kube, Log: log}
			err := a.forget(t.Context(), map[string]time.Duration{"gone": tc.away})
			got := want{forbidden: kerrors.IsForbidden(err), deleted: kerrors.IsNotFound(inner.Get(t.Context(), client.ObjectKeyFromObject(l), &coordinationv1.Lease{})), logged: log.messages}

			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{})); diff != "" || (err != nil) != tc.want.forbidden {
				t.Errorf("\n%s\nforget(...): error %v; -want, +got:\n%s", tc.reason, err, diff)
			}
		})
	}
}
