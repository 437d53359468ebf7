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

// TestMissingKey ensures that the error about a key names those that exist, and no value.
func TestMissingKey(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		keys   []string
		want   string
	}{
		"Typo": {reason: "One of the others was meant.", keys: []string{"password", "user"}, want: "couldn't find key passwd in Secret ns/s: it has password, user"},
		"None": {reason: "The Secret is not filled yet.", want: "couldn't find key passwd in Secret ns/s: it has none"},
		"Many": {reason: "A message has a limit.", keys: []string{"g", "f", "e", "d", "c", "b", "a"}, want: "couldn't find key passwd in Secret ns/s: it has a, b, c, d, e and 2 more"},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "s"}, Data: map[string][]byte{}}
			for _, k := range tc.keys {
				s.Data[k] = []byte("sesame")
			}

			_, err := NewReader(fake.NewClientBuilder().WithObjects(s).Build()).Secret(t.Context(), "ns", "s", "passwd")
			if err == nil || err.Error() != tc.want {
				t.Errorf("\n%s\nwant %q, got %v", tc.reason, tc.want, err)
			}
		})
	}
}

// TestBinaryKey ensures that a key is not called missing if kubectl shows it.
func TestBinaryKey(t *testing.T) {
	t.Parallel()

	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "c"}, BinaryData: map[string][]byte{"vars.tfvars": {0xff, 0xfe}}}
	_, err := NewReader(fake.NewClientBuilder().WithObjects(cm).Build()).ConfigMap(t.Context(), "ns", "c", "vars.tfvars")

	const want = "cannot use key vars.tfvars in ConfigMap ns/c: it is in binaryData, where kubectl puts a file that is not UTF-8; save the file as UTF-8"
	if !kerrors.IsNotFound(err) || err.Error() != want {
		t.Errorf("want %q, got %v", want, err)
	}
}
