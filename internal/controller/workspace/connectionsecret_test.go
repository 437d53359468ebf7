// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
)

func TestWithRemovedKeys(t *testing.T) {
	t.Parallel()

	controlledBy := func(uid types.UID) *corev1.Secret {
		return &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "connection", OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "v1", Kind: "Owner", Name: "owner", UID: uid, Controller: new(true),
			}}},
			Data: map[string][]byte{"stays": []byte("old"), "vanished": []byte("old")},
		}
	}

	cases := map[string]struct {
		reason string
		secret *corev1.Secret
		wanted bool
		want   managed.ConnectionDetails
	}{
		"NotWanted": {
			reason: "No Secret was requested.",
			secret: controlledBy("a"),
			want:   managed.ConnectionDetails{"stays": []byte("new")},
		},
		"Absent": {
			reason: "A Secret that does not exist has no keys to remove.",
			wanted: true,
			want:   managed.ConnectionDetails{"stays": []byte("new")},
		},
		"Own": {
			reason: "The key of a removed output is removed.",
			secret: controlledBy("a"),
			wanted: true,
			want:   managed.ConnectionDetails{"stays": []byte("new"), "vanished": nil},
		},
		"Foreign": {
			reason: "Data of another owner stays.",
			secret: controlledBy("b"),
			wanted: true,
			want:   managed.ConnectionDetails{"stays": []byte("new")},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			b := fake.NewClientBuilder()
			if tc.secret != nil {
				b.WithObjects(tc.secret)
			}

			ws := with()
			if tc.wanted {
				ws.SetWriteConnectionSecretToReference(&xpv2.SecretReference{Namespace: "ns", Name: "connection"})
			}

			got, err := withRemovedKeys(t.Context(), b.Build(), ws, managed.ConnectionDetails{"stays": []byte("new")})
			if err != nil {
				t.Fatal(err)
			}

			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nwithRemovedKeys(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
