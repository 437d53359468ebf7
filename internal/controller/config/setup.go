// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package config runs the controllers of ProviderConfigs: they count the
// Workspaces that use each, and keep a ProviderConfig that is in use from being
// deleted.
//
// Every instance runs them, and every instance sees the usages of all shards,
// because usages carry no shard label. The instances write the same count, so
// that they agree as soon as their watches do.
package config

import (
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	xpproviderconfig "github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/providerconfig"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"

	"github.com/crossplane-contrib/provider-terraform/internal/providerconfig"
)

// Setup adds a controller for the supplied kind of ProviderConfig. The caller has to
// start the usages. The controller is not subject to the global rate limit: an instance
// that starts reconciles all ProviderConfigs, and the polls of Workspaces would have to
// wait for that.
func Setup(mgr manager.Manager, kind providerconfig.Kind, usages *providerconfig.Usages, o controller.Options) error {
	name := xpproviderconfig.ControllerName(kind.GroupKind)

	r := &reconciler{
		client:    mgr.GetClient(),
		live:      mgr.GetAPIReader(),
		kind:      kind,
		usages:    usages,
		log:       o.Logger.WithValues("controller", name),
		finalizer: resource.NewAPIFinalizer(mgr.GetClient(), finalizer),
		// The legacy recorder: providers are not granted events of events.k8s.io.
		record: event.NewAPIRecorder(mgr.GetEventRecorderFor(name)), //nolint:staticcheck // See above.
	}

	return errors.Wrapf(builder.ControllerManagedBy(mgr).
		Named(name).
		WithOptions(o.ForControllerRuntime()).
		For(kind.Object).
		WatchesRawSource(&usageSource{usages: usages, kind: kind.Config.Kind}).
		Complete(r), "cannot set up controller %s", name)
}
