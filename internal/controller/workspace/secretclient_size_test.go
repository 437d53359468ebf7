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
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
)

// TestSecretSize publishes with the applicator of the managed reconciler.
func TestSecretSize(t *testing.T) {
	t.Parallel()

	const limit = corev1.MaxSecretSize

	cases := map[string]struct {
		reason string
		// there is the data of the Secret before the write. It is nil if the Secret does not exist.
		there, data map[string][]byte
		want        []string
		err         string
	}{
		"New": {
			reason: "A Secret may have all that the API server accepts.",
			data:   map[string][]byte{"a": make([]byte, limit)},
			want:   []string{"create"},
		},
		"TooLarge": {
			reason: "The error names the keys that are too large.",
			data:   map[string][]byte{"a": make([]byte, limit), "b": make([]byte, 10)},
			err:    `cannot create object: the outputs have 1.0 MiB, a Secret can hold 1.0 MiB: "a" (1.0 MiB), "b" (10 bytes); make them smaller, or remove spec.writeConnectionSecretToRef`,
		},
		"Changed": {
			reason: "Replaced and removed values do not count.",
			there:  map[string][]byte{"a": make([]byte, limit/2), "b": make([]byte, limit/2)},
			data:   map[string][]byte{"a": nil, "b": make([]byte, limit)},
			want:   []string{"patch"},
		},
		"Larger": {
			reason: "A Secret that would become too large does not change.",
			there:  map[string][]byte{"a": []byte("1")},
			data:   map[string][]byte{"a": make([]byte, 2*limit)},
			err:    `cannot patch object: the outputs have 2.0 MiB, a Secret can hold 1.0 MiB: "a" (2.0 MiB); make them smaller, or remove spec.writeConnectionSecretToRef`,
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			kube := &secretStub{data: tc.there}
			said := ""

			s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "outputs"}, Data: tc.data}
			if err := resource.NewAPIPatchingApplicator(secretClient{kube}).Apply(t.Context(), s); err != nil {
				said = err.Error()
			}

			if diff := cmp.Diff(tc.err, said); diff != "" {
				t.Errorf("\n%s\nApply(...): -want, +got:\n%s", tc.reason, diff)
			}

			if diff := cmp.Diff(tc.want, kube.writes); diff != "" {
				t.Errorf("\n%s\nwrites: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// A secretStub is an API server with one Secret, or none without data. It records writes:
// the fake client takes 20 seconds for a Secret of this size.
type secretStub struct {
	client.Client

	data   map[string][]byte
	writes []string
}

func (s *secretStub) Get(_ context.Context, key client.ObjectKey, o client.Object, _ ...client.GetOption) error {
	secret, ok := o.(*corev1.Secret)
	if !ok || s.data == nil {
		return kerrors.NewNotFound(schema.GroupResource{Resource: "secrets"}, key.Name)
	}

	secret.Data = s.data

	return nil
}

func (s *secretStub) Create(context.Context, client.Object, ...client.CreateOption) error {
	s.writes = append(s.writes, "create")

	return nil
}

func (s *secretStub) Patch(context.Context, client.Object, client.Patch, ...client.PatchOption) error {
	s.writes = append(s.writes, "patch")

	return nil
}
