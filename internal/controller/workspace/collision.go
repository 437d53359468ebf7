// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"cmp"
	"context"
	"slices"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	kmeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/module"
	"github.com/crossplane-contrib/provider-terraform/internal/providerconfig"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// collisionPage is how many Workspaces are asked for at once.
const collisionPage = 500

// collisions finds Workspaces that would share one state. The Terraform workspace
// is named after the Workspace, without its namespace: two namespaces that use the
// same backend can thus mean the same state without knowing of one another.
type collisions struct {
	live    client.Reader
	configs *providerconfig.Resolver
}

// find returns an error that names the Workspace, other than the supplied one,
// that the state of the supplied one belongs to.
func (c *collisions) find(ctx context.Context, ws workspace.Workspace, pc commonv1beta1.ProviderConfigSpec) error {
	backend := backendOf(ws.GetParameters(), pc)
	if backend == "" {
		// Every Workspace has a state of its own, in its working directory.
		return nil
	}

	for _, kind := range workspace.Kinds() {
		o, err := c.findKind(ctx, kind, ws, backend)
		if err != nil {
			return errors.Wrap(err, "cannot find out whom the state belongs to")
		}

		if o != nil {
			return errors.Errorf("the state of Terraform workspace %q belongs to the Workspace %q of %s, which uses the same backend: set another annotation %s, or use another backend",
				meta.GetExternalName(ws), client.ObjectKeyFromObject(o), kind.GroupVersionKind.Group, meta.AnnotationKeyExternalName)
		}
	}

	return nil
}

func (c *collisions) findKind(ctx context.Context, kind workspace.Kind, ws workspace.Workspace, backend string) (workspace.Workspace, error) {
	token := ""

	for {
		page := &metav1.PartialObjectMetadataList{}
		page.SetGroupVersionKind(kind.GroupVersionKind.GroupVersion().WithKind(kind.GroupVersionKind.Kind + "List"))

		if err := c.live.List(ctx, page, client.Limit(collisionPage), client.Continue(token)); err != nil {
			// A kind that is not there has no Workspaces.
			if kmeta.IsNoMatchError(err) {
				return nil, nil
			}

			return nil, err
		}

		for i := range page.Items {
			o := &page.Items[i]
			if o.GetUID() == ws.GetUID() || cmp.Or(meta.GetExternalName(o), o.GetName()) != meta.GetExternalName(ws) {
				continue
			}

			other, err := c.owner(ctx, kind, client.ObjectKeyFromObject(o), backend)
			if other != nil || err != nil {
				return other, err
			}
		}

		if token = page.GetContinue(); token == "" {
			return nil, nil
		}
	}
}

// owner returns the Workspace of the supplied key if it has a state in the
// supplied backend.
func (c *collisions) owner(ctx context.Context, kind workspace.Kind, key client.ObjectKey, backend string) (workspace.Workspace, error) {
	o, ok := kind.Object.DeepCopyObject().(workspace.Workspace)
	if !ok {
		return nil, errors.Errorf("%T is not a Workspace", kind.Object)
	}

	if err := c.live.Get(ctx, key, o); err != nil {
		if kerrors.IsNotFound(err) {
			return nil, nil
		}

		return nil, err
	}

	if !ownsState(o) {
		return nil, nil
	}

	pc, err := c.configs.Peek(ctx, o)
	if err != nil {
		// Without its configuration nobody can say which state it has.
		return nil, nil //nolint:nilerr // See above.
	}

	if backendOf(o.GetParameters(), pc) != backend {
		return nil, nil
	}

	return o, nil
}

// ownsState says whether it is known that the state of a Workspace is its own: it
// created what is in it, or was once reconciled with it.
func ownsState(ws workspace.Workspace) bool {
	return !meta.GetExternalCreateSucceeded(ws).IsZero() || ws.GetObservation().Checksum != ""
}

// onlyObserves says whether a Workspace may look at a state and nothing else, so
// that it does no harm to share it.
func onlyObserves(ws workspace.Workspace) bool {
	return slices.Equal(ws.GetManagementPolicies(), xpv2.ManagementPolicies{xpv2.ManagementActionObserve})
}

// backendOf returns a text that is the same for two Workspaces that keep their
// state in the same place. It is empty for one that keeps it on disk.
func backendOf(p commonv1beta1.WorkspaceParameters, pc commonv1beta1.ProviderConfigSpec) string {
	configuration := ptr.Deref(pc.Configuration, "")

	if module.DeclaresBackend([]byte(configuration)) {
		return digestible(configuration, ptr.Deref(pc.BackendFile, ""))
	}

	if mentionsBackend.MatchString(p.Module) {
		return digestible(configuration, ptr.Deref(pc.BackendFile, ""), p.Module)
	}

	return ""
}
