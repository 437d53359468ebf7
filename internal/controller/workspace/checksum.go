// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-terraform/internal/providerconfig"
	"github.com/crossplane-contrib/provider-terraform/internal/workdir"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// A versionReader records the version of each object that is read through it.
type versionReader struct {
	client.Reader

	versions []string
}

// Get reads an object and records its version.
func (r *versionReader) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	if err := r.Reader.Get(ctx, key, o, opts...); err != nil {
		return err
	}

	r.versions = append(r.versions, string(o.GetUID()), o.GetResourceVersion())

	return nil
}

// checksum returns a digest of the specification of the supplied Workspace and of the
// versions of all that it refers to, for its status. What is referred to, which
// Runner.Digest covers, must not be part of it: anyone who may read the Workspace could
// try out all values of a short secret.
//
// Credentials from an environment or a file system have no version. They could be others
// after a restart, so that no other process may publish or expect the same checksum: the
// process is a random text of this one.
func checksum(identity []string, ws workspace.Workspace, config providerconfig.Config, process string, versions []string) string {
	// A Workspace that was restored together with its status may have the generation of
	// another specification.
	all := append(append(slices.Clone(identity), desired(ws), workdir.Encode(ws.GetParameters()), config.Version), versions...)

	if !providerconfig.Versioned(config.Spec) {
		all = append(all, process)
	}

	return workdir.Digest(nil, all...)
}
