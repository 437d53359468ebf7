// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/test/manifest"
)

// apply creates every object of the supplied files, in the order of the files.
func apply(ctx context.Context, kube client.Client, files ...string) error {
	for _, file := range files {
		objects, err := manifest.Read(file)
		if err != nil {
			return err
		}

		for _, o := range objects {
			if err := manifest.OutsideOfCluster(o); err != nil {
				return errors.Wrapf(err, "cannot change %s", file)
			}

			if err := kube.Create(ctx, o); err != nil {
				return errors.Wrapf(err, "cannot create the objects in %s", file)
			}
		}
	}

	return nil
}
