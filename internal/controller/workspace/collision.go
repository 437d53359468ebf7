// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/listing"
	"github.com/crossplane-contrib/provider-terraform/internal/module"
	"github.com/crossplane-contrib/provider-terraform/internal/providerconfig"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// collisions finds Workspaces that would share one state. The Terraform workspace
// is named after the Workspace, without its namespace: two namespaces that use the
// same backend can thus mean the same state without knowing of one another.
type collisions struct {
	live    client.Reader
	configs *providerconfig.Resolver
}

// owner describes the Workspace, other than the supplied one, that the state of
// the supplied one belongs to. It is empty if there is none: of two that want the same
// state, one always finds the other.
func (c *collisions) owner(ctx context.Context, ws workspace.Workspace, pc commonv1beta1.ProviderConfigSpec) (string, error) {
	backend := backendOf(ws.GetParameters(), pc)
	if backend == "" {
		// Every Workspace has a state of its own, in its working directory.
		return "", nil
	}

	for _, kind := range workspace.Kinds() {
		namesakes, err := c.namesakes(ctx, kind, ws)
		if err != nil {
			return "", errors.Wrap(err, "cannot find out whom the state belongs to")
		}

		for _, key := range namesakes {
			owns, err := c.owns(ctx, kind, key, ws, backend)
			if err != nil {
				return "", errors.Wrap(err, "cannot find out whom the state belongs to")
			}

			if owns {
				return fmt.Sprintf("the Workspace %q of %s", strings.TrimPrefix(key.String(), "/"), kind.GroupVersionKind.Group), nil
			}
		}
	}

	return "", nil
}

// namesakes returns the keys of all Workspaces of a kind, other than the supplied
// one, whose Terraform workspace has the same name.
func (c *collisions) namesakes(ctx context.Context, kind workspace.Kind, ws workspace.Workspace) ([]client.ObjectKey, error) {
	var keys []client.ObjectKey

	_, err := listing.Each(ctx, c.live, kind.GroupVersionKind, listing.PageSize, func(o *metav1.PartialObjectMetadata) error {
		if o.GetUID() != ws.GetUID() && cmp.Or(meta.GetExternalName(o), o.GetName()) == meta.GetExternalName(ws) {
			keys = append(keys, client.ObjectKeyFromObject(o))
		}

		return nil
	})

	return keys, err
}

// owns says whether the state in the supplied backend belongs to the Workspace of the
// supplied key rather than to ws.
func (c *collisions) owns(ctx context.Context, kind workspace.Kind, key client.ObjectKey, ws workspace.Workspace, backend string) (bool, error) {
	o, ok := kind.Object.DeepCopyObject().(workspace.Workspace)
	if !ok {
		return false, errors.Errorf("%T is not a Workspace", kind.Object)
	}

	if err := c.live.Get(ctx, key, o); err != nil {
		return false, resource.IgnoreNotFound(err)
	}

	if titleOf(o) == titleNone || !precedes(o, ws) {
		return false, nil
	}

	pc, err := c.configs.Peek(ctx, o)
	if err != nil {
		// Without its configuration it cannot reach any state.
		return false, resource.IgnoreNotFound(err)
	}

	return backendOf(o.GetParameters(), pc) == backend, nil
}

// A title is what a Workspace has that makes a state its own. A greater one is better.
type title int

const (
	// titleNone is that of a Workspace that only looks: it has no use for a state.
	titleNone title = iota

	// titleWish is that of one that would take over what is there.
	titleWish

	// titleBegun is that of one that has begun to create what may be in the state by
	// now. It may still be at it, or have failed halfway.
	titleBegun

	// titleFull is that of one that created what is in the state, or was reconciled
	// with it when it was nobody else's.
	titleFull
)

func titleOf(ws workspace.Workspace) title {
	switch {
	case ownsState(ws):
		return titleFull
	case !meta.GetExternalCreatePending(ws).IsZero():
		return titleBegun
	case onlyObserves(ws):
		return titleNone
	default:
		return titleWish
	}
}

// precedes says whether a state belongs to a, if a and b both have a title to it. Of
// equals it is the older one, so that both come to the same conclusion.
func precedes(a, b workspace.Workspace) bool {
	return cmp.Or(
		cmp.Compare(titleOf(b), titleOf(a)),
		a.GetCreationTimestamp().Compare(b.GetCreationTimestamp().Time),
		cmp.Compare(a.GetUID(), b.GetUID()),
	) < 0
}

// ownsState says whether it is known that the state of a Workspace is its own: it
// created what is in it, or was once reconciled with it. To look does not make a
// state one's own.
func ownsState(ws workspace.Workspace) bool {
	return !meta.GetExternalCreateSucceeded(ws).IsZero() || (ws.GetObservation().Checksum != "" && !onlyObserves(ws))
}

// isStateless says whether there cannot be a state of the supplied Workspace yet: it
// has seen none, and has never begun to make one.
func isStateless(ws workspace.Workspace) bool {
	o := ws.GetObservation()

	return meta.GetExternalCreatePending(ws).IsZero() && o.Checksum == "" && o.State == nil
}

// disown takes back that the creation has begun, after an apply that failed because of
// somebody else who is at work on the state, and so before it did anything. What is
// going to be in the state is not of this Workspace.
func disown(ws workspace.Workspace, err error) {
	if terraform.IsLocked(err) || errors.As(err, &takenError{}) {
		meta.RemoveAnnotations(ws, meta.AnnotationKeyExternalCreatePending)
	}
}

// A takenError is the refusal to apply a plan that was to make a state, because
// somebody else has made one meanwhile.
type takenError struct{}

func (takenError) Error() string {
	return "cannot apply: somebody else has created the state meanwhile"
}

// onlyObserves says whether a Workspace may look at a state and nothing else, so
// that it does no harm to share it. There is nothing to initialize late.
func onlyObserves(ws workspace.Workspace) bool {
	p := ws.GetManagementPolicies()

	return len(p) > 0 && !slices.ContainsFunc(p, func(a xpv2.ManagementAction) bool {
		return a != xpv2.ManagementActionObserve && a != xpv2.ManagementActionLateInitialize
	})
}

// backendOf returns a text that is the same for two Workspaces that keep their
// state in the same place. It is empty for one that keeps it on disk.
func backendOf(p commonv1beta1.WorkspaceParameters, pc commonv1beta1.ProviderConfigSpec) string {
	configuration := ptr.Deref(pc.Configuration, "")

	if module.DeclaresBackend([]byte(configuration)) {
		return digestible(configuration, ptr.Deref(pc.BackendFile, ""))
	}

	if p.Source == commonv1beta1.ModuleSourceInline && mentionsBackend.MatchString(p.Module) {
		return digestible(configuration, ptr.Deref(pc.BackendFile, ""), p.Module)
	}

	return ""
}
