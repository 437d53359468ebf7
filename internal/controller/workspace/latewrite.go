// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"

	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// annotationRemovedLock on the Secret with a state is the ID of the last orphan lock that the
// provider has removed from the state.
const annotationRemovedLock = "terraform.crossplane.io/removed-lock"

// rejectLateWrite makes the API server reject a write of the state that the dead process with the
// supplied lock has sent, and that is still in transit. The kubernetes backend writes a state only
// if the resource version of its Secret is the one that it has read. Without a new version, the
// late write would replace what the next run plans with. Found by make chaos: the network of an
// instance delivered a write five seconds after the death of the process.
//
// Nothing happens for other backends, or without a Secret: the late request would make one
// without a state.
func (e *external) rejectLateWrite(ctx context.Context, ws workspace.Workspace, l terraform.Lock) error {
	b := e.runner.KubernetesBackend()
	if b.Server == "" || b.Server != e.server {
		return nil
	}

	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]string{annotationRemovedLock: l.ID}}})
	if err != nil {
		return errors.Wrap(err, "cannot encode patch")
	}

	secret := &corev1.Secret{}
	key := stateKeyOf(b, meta.GetExternalName(ws))
	secret.SetNamespace(key.Namespace)
	secret.SetName(key.Name)

	err = e.kube.Patch(ctx, secret, client.RawPatch(types.MergePatchType, patch))

	return errors.Wrap(resource.IgnoreNotFound(err), "cannot reject late writes of the state: cannot annotate its Secret")
}
