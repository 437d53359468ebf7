// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"
	"fmt"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/listing"
	"github.com/crossplane-contrib/provider-terraform/internal/providerconfig"
	"github.com/crossplane-contrib/provider-terraform/internal/redact"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// A pass is one reconcile of one Workspace. Each part of an external has it.
type pass struct {
	*connector

	// recorder adds the external name to Events, and redacts the secrets.
	recorder event.Recorder
	secrets  *redact.Secrets

	// approves says which plans a person has to approve.
	approves commonv1beta1.Approval
}

// failed records the supplied error and returns it without secrets.
func (ps *pass) failed(ws workspace.Workspace, err error) error {
	err = redactErr(ps.secrets, err)
	ps.recordFailure(ws, err)

	return err
}

// eachWorkspace calls fn with the Workspaces of all instances, as the API server has them, and a
// description of each.
func (ps *pass) eachWorkspace(ctx context.Context, fn func(ws workspace.Workspace, description string)) error {
	for _, kind := range workspace.Kinds() {
		_, err := listing.EachObject(ctx, ps.live, kind.GroupVersionKind, kind.List, func(ws workspace.Workspace) error {
			fn(ws, fmt.Sprintf("the Workspace %q of %s", providerconfig.NameOf(ws.GetNamespace(), ws.GetName()), kind.GroupVersionKind.Group))

			return nil
		})
		if err != nil {
			return err
		}
	}

	return nil
}
