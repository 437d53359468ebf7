// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package keyref

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// A brokenReader always fails.
type brokenReader struct{ client.Reader }

func (brokenReader) Get(context.Context, client.ObjectKey, client.Object, ...client.GetOption) error {
	return errors.New("boom")
}

// TestNotFound ensures that what does not exist is told from what cannot be read.
func TestNotFound(t *testing.T) {
	t.Parallel()

	meta := metav1.ObjectMeta{Namespace: "ns", Name: "there"}
	kube := fake.NewClientBuilder().WithObjects(&corev1.Secret{ObjectMeta: meta}, &corev1.ConfigMap{ObjectMeta: meta}).Build()

	cases := map[string]struct {
		reason string
		reader client.Reader
		name   string
		want   bool
	}{
		"Object": {reason: "There is no such object.", reader: kube, name: "missing", want: true},
		"Key":    {reason: "The object has no such key.", reader: kube, name: "there", want: true},
		"Broken": {reason: "It is unknown whether there is one.", reader: brokenReader{}, name: "there"},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r := NewReader(tc.reader)
			_, secretErr := r.Secret(t.Context(), "ns", tc.name, "key")
			_, configMapErr := r.ConfigMap(t.Context(), "ns", tc.name, "key")

			for _, err := range []error{secretErr, configMapErr} {
				if got := kerrors.IsNotFound(errors.Wrap(err, "cannot resolve variables")); err == nil || got != tc.want {
					t.Errorf("\n%s\nIsNotFound(%v): want %t, got %t", tc.reason, err, tc.want, got)
				}
			}
		})
	}
}
