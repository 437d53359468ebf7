// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	changelogsv1alpha1 "github.com/crossplane/crossplane-runtime/v2/apis/changelogs/proto/v1alpha1"
	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/feature"
	xpgate "github.com/crossplane/crossplane-runtime/v2/pkg/gate"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/customresourcesgate"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/statemetrics"

	configctrl "github.com/crossplane-contrib/provider-terraform/internal/controller/config"
	workspacectrl "github.com/crossplane-contrib/provider-terraform/internal/controller/workspace"
	"github.com/crossplane-contrib/provider-terraform/internal/providerconfig"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// controllerOptions returns the options that all controllers share, and a function that
// closes the files that it opened. Their metrics are registered with r.
func controllerOptions(o *Options, r prometheus.Registerer, log logging.Logger) (controller.Options, func(), error) {
	co := controller.Options{
		Logger:                  log,
		MaxConcurrentReconciles: o.MaxReconcileRate,
		PollInterval:            o.PollInterval,
		Features:                &feature.Flags{},
		MetricOptions: &controller.MetricOptions{
			PollStateMetricInterval: o.PollStateMetricInterval,
			MRMetrics:               managed.NewMRMetricRecorder(),
			MRStateMetrics:          statemetrics.NewMRStateMetrics(),
		},
	}

	for _, c := range []prometheus.Collector{co.MetricOptions.MRMetrics, co.MetricOptions.MRStateMetrics} {
		if err := r.Register(c); err != nil {
			return controller.Options{}, nil, errors.Wrap(err, "cannot register metrics of managed resources")
		}
	}

	if o.EnableManagementPolicies {
		co.Features.Enable(feature.EnableBetaManagementPolicies)
	}

	if !o.EnableChangeLogs {
		return co, func() {}, nil
	}

	// The socket is local to the pod, so encryption is not necessary.
	conn, err := grpc.NewClient("unix://"+o.ChangeLogsSocketPath, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return controller.Options{}, nil, errors.Wrapf(err, "cannot use --changelogs-socket-path %q", o.ChangeLogsSocketPath)
	}

	co.Features.Enable(feature.EnableAlphaChangeLogs)
	co.ChangeLogOptions = &controller.ChangeLogOptions{
		ChangeLogger: managed.NewGRPCChangeLogger(changelogsv1alpha1.NewChangeLogServiceClient(conn), managed.WithProviderVersion(Version())),
	}

	return co, func() { _ = conn.Close() }, nil
}

// setupControllers adds a controller for every kind. If the instance may list and watch
// CustomResourceDefinitions, each controller is added when those of its kind exist, as a late setup,
// and an error of that is passed to fail. Otherwise all are added at once.
func setupControllers(ctx context.Context, mgr manager.Manager, o workspacectrl.Options, late *setups, fail context.CancelCauseFunc) error {
	missing, err := missingCRDRight(ctx, mgr.GetClient())
	if err != nil {
		return err
	}

	o.Configs = providerconfig.NewResolver(mgr.GetClient())

	start := func(setup func() error, _ ...schema.GroupVersionKind) error { return setup() }

	if missing != "" {
		o.Logger.Info("Starting all controllers at once, because CustomResourceDefinitions may not be watched: if one does not exist, this instance ends", "verb", missing, "group", crdGroup, "resource", crdResource, "remedy", rightsRemedy)
	} else {
		g := &xpgate.Gate[schema.GroupVersionKind]{}
		o.Gate = g

		if err := customresourcesgate.Setup(mgr, o.Options); err != nil {
			return errors.Wrap(err, "cannot set up CRD gate")
		}

		start = func(setup func() error, needs ...schema.GroupVersionKind) error {
			g.Register(func() {
				if err := late.do(setup); err != nil {
					fail(err)
				}
			}, needs...)

			return nil
		}
	}

	for _, k := range providerconfig.Kinds() {
		if err := start(func() error { return configctrl.Setup(mgr, k, o.Options) }, k.Config, k.ProviderConfigKinds.Usage); err != nil {
			return err
		}
	}

	for _, k := range workspace.Kinds() {
		if err := start(func() error { return workspacectrl.Setup(mgr, k, o) }, k.GroupVersionKind); err != nil {
			return err
		}
	}

	return nil
}

const (
	crdGroup    = "apiextensions.k8s.io"
	crdResource = "customresourcedefinitions"
)

// missingCRDRight returns the verb that this instance lacks to watch CustomResourceDefinitions.
// Crossplane grants it to providers with the capability SafeStart.
func missingCRDRight(ctx context.Context, kube client.Client) (string, error) {
	for _, verb := range []string{"list", "watch"} {
		allowed, err := may(ctx, kube, authorizationv1.ResourceAttributes{Verb: verb, Group: crdGroup, Resource: crdResource})
		if err != nil {
			return "", errors.Wrap(err, "cannot find out whether CustomResourceDefinitions may be watched")
		}

		if !allowed {
			return verb, nil
		}
	}

	return "", nil
}
