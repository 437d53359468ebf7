// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/regular"
)

// A secretClient writes connection Secrets. The managed reconciler publishes connection details with
// the client of its manager, and has no option to replace the publisher.
//
// It refuses to write a Secret that is too large. The API server would refuse it, too, but names
// neither the keys nor their sizes.
//
// It repeats a failed patch itself. The publisher of crossplane-runtime would lose the failure: its
// first attempt reads the existing Secret into the object that is to be written, so that its second
// one compares that Secret with itself, finds no difference, and reports success
// (resource.APIPatchingApplicator). The connection Secret would keep its old values while the
// Workspace is Synced.
type secretClient struct{ client.Client }

// Create an object.
func (c secretClient) Create(ctx context.Context, o client.Object, opts ...client.CreateOption) error {
	if s, ok := o.(*corev1.Secret); ok {
		if err := checkSecretSize(s.Data); err != nil {
			return err
		}
	}

	return c.Client.Create(ctx, o, opts...)
}

// Patch an object. The patch of a Secret is a merge patch with all keys, as withRemovedKeys makes
// it.
func (c secretClient) Patch(ctx context.Context, o client.Object, p client.Patch, opts ...client.PatchOption) error {
	if _, ok := o.(*corev1.Secret); !ok {
		return c.Client.Patch(ctx, o, p, opts...)
	}

	patch, err := p.Data(o)
	if err != nil {
		return err
	}

	patched := corev1.Secret{}
	if err := json.Unmarshal(patch, &patched); err != nil {
		return err
	}

	if err := checkSecretSize(patched.Data); err != nil {
		return err
	}

	err = retry.OnError(retry.DefaultRetry, mayPass, func() error { return c.Client.Patch(ctx, o, p, opts...) })
	if err != nil {
		return finalError{err}
	}

	return nil
}

// A finalError is the error of a request that is not to be repeated by the publisher, which
// repeats a request if the innermost error comes from the API server.
type finalError struct{ err error }

// Error returns the message of the API server.
func (e finalError) Error() string { return e.err.Error() }

// As finds the error of the API server, which Unwrap would show to the publisher.
func (e finalError) As(target any) bool { return errors.As(e.err, target) }

// checkSecretSize returns an error that names the largest keys if a Secret cannot hold the
// data. It contains no values.
func checkSecretSize(data map[string][]byte) error {
	sizes, total := map[string]int{}, 0

	for name, value := range data {
		sizes[name] = len(value)
		total += len(value)
	}

	if total <= corev1.MaxSecretSize {
		return nil
	}

	return errors.Errorf("the outputs have %s, a Secret can hold %s: %s; make them smaller, or remove spec.writeConnectionSecretToRef",
		regular.Size(int64(total)), regular.Size(corev1.MaxSecretSize), nameSizes(sizes, bySize(sizes)))
}
