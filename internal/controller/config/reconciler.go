// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"context"
	"strings"
	"time"

	kmeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	xpproviderconfig "github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/providerconfig"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"

	"github.com/crossplane-contrib/provider-terraform/internal/providerconfig"
)

const (
	// finalizer and reasonAccount are those of crossplane-runtime's reconciler of
	// ProviderConfigs, which this one stands in for.
	finalizer = "in-use.crossplane.io"

	reasonAccount event.Reason = "UsageAccounting"
)

const (
	// watchLag is how long to wait for the watch to see a usage that the API server has.
	watchLag = time.Second

	// referrerInterval is how long to wait for a Workspace without a usage to go: no
	// watch tells.
	referrerInterval = 10 * time.Second

	// pageSize is how many Workspaces are asked for at once.
	pageSize = 500
)

// A reconciler does the work of crossplane-runtime's reconciler of ProviderConfigs. That
// one lists all usages, with all fields, whenever one changes, and writes to every
// ProviderConfig even if nothing has changed. This one asks for counts that are kept up
// to date, and writes only differences.
type reconciler struct {
	client    client.Client
	live      client.Reader
	kind      providerconfig.Kind
	usages    *providerconfig.Usages
	log       logging.Logger
	finalizer resource.Finalizer
	record    event.Recorder
}

// Reconcile counts the users of a ProviderConfig, and keeps one that has any from
// being deleted. Instances of several shards write the same ProviderConfigs, so that
// conflicts are to be expected and not worth an error in the log.
func (r *reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	r.log.Debug("Reconciling", "request", req)

	return errors.SilentlyRequeueOnConflict(r.reconcile(ctx, req))
}

func (r *reconciler) reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	pc, ok := r.kind.Object.DeepCopyObject().(resource.ProviderConfig)
	if !ok {
		return reconcile.Result{}, reconcile.TerminalError(errors.Errorf("%T is not a ProviderConfig", r.kind.Object))
	}

	if err := r.client.Get(ctx, req.NamespacedName, pc); err != nil {
		return reconcile.Result{}, errors.Wrap(resource.IgnoreNotFound(err), "cannot get ProviderConfig")
	}

	ref := providerconfig.Ref{Kind: r.kind.Config.Kind, NamespacedName: req.NamespacedName}

	if err := r.deleteStale(ctx, ref); err != nil {
		r.record.Event(pc, event.Warning(reasonAccount, err))

		return reconcile.Result{}, err
	}

	users := r.usages.Count(ref)

	switch {
	case !meta.WasDeleted(pc):
		return reconcile.Result{}, r.account(ctx, pc, users)
	case users > 0:
		return reconcile.Result{}, r.block(ctx, pc, users, "Blocking deletion while usages still exist")
	default:
		return r.release(ctx, pc)
	}
}

// deleteStale deletes usages without a controller. A usage that is still needed is
// created again when the Workspace is next reconciled.
func (r *reconciler) deleteStale(ctx context.Context, ref providerconfig.Ref) error {
	for _, usage := range r.usages.Stale(ref) {
		// It may have got a controller meanwhile.
		as := client.Preconditions{UID: new(usage.GetUID()), ResourceVersion: new(usage.GetResourceVersion())}

		if err := r.client.Delete(ctx, usage, as); resource.IgnoreNotFound(err) != nil {
			return errors.Wrap(err, "cannot delete ProviderConfigUsage")
		}
	}

	return nil
}

// account for the users of a ProviderConfig.
func (r *reconciler) account(ctx context.Context, pc resource.ProviderConfig, users int64) error {
	if err := r.finalizer.AddFinalizer(ctx, pc); err != nil {
		return errors.Wrap(err, "cannot update ProviderConfig")
	}

	if pc.GetUsers() == users {
		return nil
	}

	pc.SetUsers(users)

	return errors.Wrap(r.client.Status().Update(ctx, pc), "cannot update ProviderConfig status")
}

// block the deletion of a ProviderConfig that is needed, and say why. When its users go,
// this is called again.
func (r *reconciler) block(ctx context.Context, pc resource.ProviderConfig, users int64, msg string) error {
	blocked := xpproviderconfig.Terminating().WithMessage(msg)

	if pc.GetUsers() == users && pc.GetCondition(xpproviderconfig.TypeTerminating).Equal(blocked) {
		return nil
	}

	r.record.Event(pc, event.Warning(reasonAccount, errors.New(msg)))

	pc.SetUsers(users)
	pc.SetConditions(blocked)

	return errors.Wrap(r.client.Status().Update(ctx, pc), "cannot update ProviderConfig status")
}

// release a ProviderConfig that is deleted and has no users, if the API server knows
// of none either: a usage that another instance has just recorded may be news to this
// one, and the finalizer would go while a Workspace starts to use the ProviderConfig.
func (r *reconciler) release(ctx context.Context, pc resource.ProviderConfig) (reconcile.Result, error) {
	used, err := r.inUse(ctx, pc)
	if err != nil {
		return reconcile.Result{}, err
	}

	if used {
		return reconcile.Result{RequeueAfter: watchLag}, nil
	}

	referrer, err := r.referrer(ctx, pc)
	if err != nil {
		return reconcile.Result{}, err
	}

	if referrer != "" {
		if err := r.block(ctx, pc, 0, "Blocking deletion while Workspace "+referrer+" refers to it"); err != nil {
			return reconcile.Result{}, err
		}

		return reconcile.Result{RequeueAfter: referrerInterval}, nil
	}

	return reconcile.Result{}, errors.Wrap(r.finalizer.RemoveFinalizer(ctx, pc), "cannot update ProviderConfig")
}

// inUse says whether the API server knows a usage of pc that has a controller.
func (r *reconciler) inUse(ctx context.Context, pc resource.ProviderConfig) (bool, error) {
	l := &metav1.PartialObjectMetadataList{}
	l.SetGroupVersionKind(r.kind.UsageList)

	labels := client.MatchingLabels{xpv2.LabelKeyProviderName: pc.GetName()}
	if !r.kind.Legacy() {
		labels[xpv2.LabelKeyProviderKind] = r.kind.Config.Kind
	}

	if err := r.live.List(ctx, l, labels, client.InNamespace(pc.GetNamespace())); err != nil {
		return false, errors.Wrap(err, "cannot list ProviderConfigUsages")
	}

	for i := range l.Items {
		if metav1.GetControllerOfNoCopy(&l.Items[i]) != nil {
			return true, nil
		}
	}

	return false, nil
}

// referrer returns a Workspace that refers to pc and may have something to destroy,
// empty if there is none. In a namespace that is being deleted usages go at any time, and
// cannot be recorded again, while Workspaces still need their ProviderConfig to go.
func (r *reconciler) referrer(ctx context.Context, pc resource.ProviderConfig) (string, error) {
	ref := providerconfig.Ref{Kind: r.kind.Config.Kind, NamespacedName: client.ObjectKeyFromObject(pc)}
	token := ""

	for {
		page, ok := r.kind.Users.DeepCopyObject().(resource.ManagedList)
		if !ok {
			return "", errors.Errorf("%T is not a list of Workspaces", r.kind.Users)
		}

		err := r.live.List(ctx, page, client.InNamespace(pc.GetNamespace()), client.Limit(pageSize), client.Continue(token))
		if token == "" && kmeta.IsNoMatchError(err) {
			return "", nil
		}

		if err != nil {
			return "", errors.Wrap(err, "cannot list Workspaces")
		}

		for _, ws := range page.GetItems() {
			if used, ok := providerconfig.RefOf(ws); ok && used == ref && meta.FinalizerExists(ws, managed.FinalizerName) {
				return strings.TrimPrefix(client.ObjectKeyFromObject(ws).String(), "/"), nil
			}
		}

		if token = page.GetContinue(); token == "" {
			return "", nil
		}
	}
}
