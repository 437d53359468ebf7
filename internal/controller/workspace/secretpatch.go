// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// A secretPatchClient repeats the failed patch of a Secret itself. The publisher of
// crossplane-runtime would lose the failure: its first attempt reads the existing Secret into the
// object that is to be written, so that its second one compares that Secret with itself, finds no
// difference, and reports success (resource.APIPatchingApplicator). The connection Secret would
// keep its old values while the Workspace is Synced.
type secretPatchClient struct{ client.Client }

// Patch an object.
func (c secretPatchClient) Patch(ctx context.Context, o client.Object, p client.Patch, opts ...client.PatchOption) error {
	if _, ok := o.(*corev1.Secret); !ok {
		return c.Client.Patch(ctx, o, p, opts...)
	}

	err := retry.OnError(retry.DefaultRetry, mayPass, func() error { return c.Client.Patch(ctx, o, p, opts...) })
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
