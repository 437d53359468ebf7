// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/regular"
)

// A secretSizeClient refuses to write a Secret that is too large. The API server would
// refuse it, too, but names neither the keys nor their sizes. The managed reconciler publishes
// connection details with the client of its manager, and has no option to replace the publisher.
type secretSizeClient struct{ client.Client }

// Create an object.
func (c secretSizeClient) Create(ctx context.Context, o client.Object, opts ...client.CreateOption) error {
	if s, ok := o.(*corev1.Secret); ok {
		if err := checkSecretSize(s.Data); err != nil {
			return err
		}
	}

	return c.Client.Create(ctx, o, opts...)
}

// Patch an object. The patch of a Secret is a merge patch with all keys, as withRemovedKeys makes
// it.
func (c secretSizeClient) Patch(ctx context.Context, o client.Object, p client.Patch, opts ...client.PatchOption) error {
	if _, ok := o.(*corev1.Secret); ok {
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
	}

	return c.Client.Patch(ctx, o, p, opts...)
}

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
