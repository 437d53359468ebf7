// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	xpproviderconfig "github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/providerconfig"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"

	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/listing"
	"github.com/crossplane-contrib/provider-terraform/internal/providerconfig"
)

// reasonAccount is the reason of Events of the stock reconciler.
const reasonAccount event.Reason = "UsageAccounting"

// stockBlocked is the text of the stock reconciler about a ProviderConfig that is used.
const stockBlocked = "Blocking deletion while usages still exist"

// A guard is the client of the stock reconciler. That reconciler updates a ProviderConfig that is
// being deleted only to remove its finalizer, when the cache has no usage of it. The guard
// refuses that update while the API server has a user of the ProviderConfig. The reconciler then
// retries later.
//
// The reconciler updates any other ProviderConfig, and writes each status, whenever it counts the
// users. The guard leaves out what changes nothing: during the creation of many Workspaces these
// would be more than one request for each of them. It also names the Workspaces for which a
// deletion waits.
type guard struct {
	client.Client

	live     client.Reader
	kind     providerconfig.Kind
	recorder event.Recorder
}

// Update a ProviderConfig, unless this would release one with users.
func (g *guard) Update(ctx context.Context, o client.Object, opts ...client.UpdateOption) error {
	err := g.update(ctx, o, opts...)

	// The stock reconciler tries again, and records no Event.
	if kerrors.IsForbidden(err) {
		g.recorder.Event(o, event.Warning(reasonAccount, errors.Wrap(err, "cannot update ProviderConfig")))
	}

	return err
}

func (g *guard) update(ctx context.Context, o client.Object, opts ...client.UpdateOption) error {
	if pc, ok := o.(resource.ProviderConfig); ok && meta.WasDeleted(pc) {
		if err := g.checkUnused(ctx, pc); err != nil {
			return err
		}
	} else if g.isCached(ctx, o) {
		return nil
	}

	return g.Client.Update(ctx, o, opts...)
}

// isCached says whether the cache has o as it is.
func (g *guard) isCached(ctx context.Context, o client.Object) bool {
	cached, ok := g.kind.Object.DeepCopyObject().(client.Object)

	return ok && g.Get(ctx, client.ObjectKeyFromObject(o), cached) == nil && equality.Semantic.DeepEqual(cached, o)
}

// Status returns a writer that leaves out a status that the cache has already.
func (g *guard) Status() client.SubResourceWriter {
	return &guardedStatus{SubResourceWriter: g.Client.Status(), guard: g}
}

type guardedStatus struct {
	client.SubResourceWriter

	guard *guard
}

// Update the status of a ProviderConfig, if it has changed.
func (s *guardedStatus) Update(ctx context.Context, o client.Object, opts ...client.SubResourceUpdateOption) error {
	if pc, ok := o.(resource.ProviderConfig); ok && pc.GetCondition(xpproviderconfig.TypeTerminating).Message == stockBlocked {
		if err := s.guard.nameUsers(ctx, pc); err != nil {
			return err
		}
	}

	if s.guard.isCached(ctx, o) {
		return nil
	}

	return s.SubResourceWriter.Update(ctx, o, opts...)
}

// nameUsers makes the condition of a used ProviderConfig, and an Event, name the Workspaces that use it.
// The usages in the cache have no names.
func (g *guard) nameUsers(ctx context.Context, pc resource.ProviderConfig) error {
	users, err := g.users(ctx, pc)
	if err != nil || len(users) == 0 {
		return err
	}

	blocked := blockedBy(users)
	g.recorder.Event(pc, event.Warning(reasonAccount, errors.New(blocked.Message)))

	// The stock reconciler has replaced the condition. With another time, each write would cause the next
	// reconcile.
	cached, ok := g.kind.Object.DeepCopyObject().(resource.ProviderConfig)
	if ok && g.Get(ctx, client.ObjectKeyFromObject(pc), cached) == nil {
		if c := cached.GetCondition(blocked.Type); c.Equal(blocked) {
			blocked = c
		}
	}

	pc.SetConditions(blocked)

	return nil
}

// blockedBy returns the condition of a ProviderConfig whose deletion waits for Workspaces.
func blockedBy(users []string) xpv2.Condition {
	text := "Deletion waits for the Workspace that uses it: "
	if n := len(users); n > 1 {
		text = fmt.Sprintf("Deletion waits for the %d Workspaces that use it: ", n)
	}

	return xpproviderconfig.Terminating().WithMessage(text + providerconfig.Enumerate(users))
}

// checkUnused returns an error if pc has a user. If these are Workspaces without a usage, the
// status names them.
func (g *guard) checkUnused(ctx context.Context, pc resource.ProviderConfig) error {
	users, err := g.users(ctx, pc)
	if err != nil {
		return err
	}

	// Another instance may just have recorded a usage. The finalizer must stay while a Workspace
	// starts to use the ProviderConfig.
	if len(users) > 0 {
		return errors.New("there is a usage that is not in the cache yet")
	}

	users, err = g.referrers(ctx, pc)
	if err != nil || len(users) == 0 {
		return err
	}

	blocked := blockedBy(users)
	err = errors.New(blocked.Message)

	if pc.GetUsers() == 0 && pc.GetCondition(xpproviderconfig.TypeTerminating).Equal(blocked) {
		return err
	}

	g.recorder.Event(pc, event.Warning(reasonAccount, err))
	pc.SetUsers(0)
	pc.SetConditions(blocked)

	return errors.Join(err, errors.Wrap(g.Status().Update(ctx, pc), "cannot update ProviderConfig status"))
}

// users returns the names of the Workspaces of which the API server has a usage of pc.
func (g *guard) users(ctx context.Context, pc resource.ProviderConfig) (users []string, err error) {
	// A usage has the name as a label, so that such a ProviderConfig has none. The API server would refuse the selector.
	if len(pc.GetName()) > validation.LabelValueMaxLength {
		return nil, nil
	}

	labels := client.MatchingLabels{xpv2.LabelKeyProviderName: pc.GetName()}
	if !g.kind.Legacy() {
		labels[xpv2.LabelKeyProviderKind] = g.kind.Config.Kind
	}

	// Usages have no finalizer: their definition may be gone before a ProviderConfig is.
	_, err = listing.Each(ctx, g.live, g.kind.ProviderConfigKinds.Usage, func(u *metav1.PartialObjectMetadata) error {
		if c := metav1.GetControllerOfNoCopy(u); c != nil {
			users = append(users, providerconfig.NameOf(u.GetNamespace(), c.Name))
		}

		return nil
	}, labels, client.InNamespace(pc.GetNamespace()))

	return users, errors.Wrap(err, "cannot list ProviderConfigUsages")
}

// referrers returns the Workspaces that refer to pc and may have something to destroy. In a namespace that is being deleted, usages disappear at any time and cannot be
// recorded again, while Workspaces still need their ProviderConfig for their deletion.
func (g *guard) referrers(ctx context.Context, pc resource.ProviderConfig) (referrers []string, err error) {
	ref := providerconfig.Ref{Kind: g.kind.Config.Kind, NamespacedName: client.ObjectKeyFromObject(pc)}
	users := g.kind.Config.GroupVersion().WithKind(clusterv1beta1.WorkspaceKind)

	_, err = listing.EachObject(ctx, g.live, users, g.kind.Users, func(ws resource.Managed) error {
		if providerconfig.RefOf(ws) == ref && meta.FinalizerExists(ws, managed.FinalizerName) {
			referrers = append(referrers, providerconfig.NameOf(ws.GetNamespace(), ws.GetName()))
		}

		return nil
	}, client.InNamespace(pc.GetNamespace()))

	return referrers, errors.Wrap(err, "cannot list Workspaces")
}

// A stockRecorder leaves out the Event of the stock reconciler that names no Workspace: see nameUsers.
type stockRecorder struct{ event.Recorder }

// Event records an Event.
func (r stockRecorder) Event(o runtime.Object, e event.Event) {
	if e.Message != stockBlocked {
		r.Recorder.Event(o, e)
	}
}
