// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"

	"github.com/crossplane-contrib/provider-terraform/apis"
	namespacedv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/namespaced/v1beta1"
)

// TestSecretPatch publishes with the publisher of the managed reconciler to a Secret that
// exists. The API server refuses the first patches.
func TestSecretPatch(t *testing.T) {
	t.Parallel()

	secrets := schema.GroupResource{Resource: "secrets"}
	forbidden := kerrors.NewForbidden(secrets, "outputs", errors.New("a right is missing"))
	overloaded := kerrors.NewServiceUnavailable("too much to do")

	cases := map[string]struct {
		reason    string
		refusals  []error
		forbidden bool
		want      string
	}{
		"Accepted": {
			reason: "The Secret has the new value.",
			want:   "new",
		},
		"AcceptedLater": {
			reason:   "A failure that passes is not reported.",
			refusals: []error{overloaded, overloaded},
			want:     "new",
		},
		"Refused": {
			reason:    "A failure that stays is reported, with its reason.",
			refusals:  []error{forbidden, forbidden, forbidden, forbidden, forbidden, forbidden, forbidden},
			forbidden: true,
			want:      "old",
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := runtime.NewScheme()
			if err := errors.Join(corev1.AddToScheme(s), apis.AddToScheme(s)); err != nil {
				t.Fatal(err)
			}

			secret := &corev1.Secret{
				ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "outputs"},
				Type:       resource.SecretTypeConnection,
				Data:       map[string][]byte{"key": []byte("old")},
			}
			refusals := tc.refusals
			kube := fake.NewClientBuilder().WithScheme(s).WithObjects(secret).WithInterceptorFuncs(interceptor.Funcs{
				Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
					if len(refusals) > 0 {
						err := refusals[0]
						refusals = refusals[1:]

						return err
					}

					return c.Patch(ctx, o, p, opts...)
				},
			}).Build()

			ws := &namespacedv1beta1.Workspace{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "ws", UID: "uid"}}
			ws.SetWriteConnectionSecretToReference(&xpv2.LocalSecretReference{Name: "outputs"})

			_, err := managed.NewAPILocalSecretPublisher(secretClient{kube}, s).
				PublishConnection(t.Context(), ws, managed.ConnectionDetails{"key": []byte("new")})
			if kerrors.IsForbidden(err) != tc.forbidden || (err != nil) != tc.forbidden {
				t.Errorf("%s: want forbidden %t, got %v", tc.reason, tc.forbidden, err)
			}

			if err := kube.Get(t.Context(), client.ObjectKeyFromObject(secret), secret); err != nil {
				t.Fatal(err)
			}

			if diff := cmp.Diff(tc.want, string(secret.Data["key"])); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
