// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"

	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	namespacedv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/namespaced/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/providerconfig"
	"github.com/crossplane-contrib/provider-terraform/test/apiserver"
	"github.com/crossplane-contrib/provider-terraform/test/background"
	"github.com/crossplane-contrib/provider-terraform/test/wait"
)

// finalizer of the stock reconciler.
const finalizer = "in-use.crossplane.io"

// A fixture has its own namespace on the shared API server.
type fixture struct {
	kind      providerconfig.Kind
	cfg       *rest.Config
	kube      client.WithWatch
	namespace string
}

func newFixture(t *testing.T, cfg *rest.Config, kind providerconfig.Kind) *fixture {
	t.Helper()

	f := &fixture{kind: kind, cfg: cfg, kube: apiserver.Client(t, cfg)}
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "config-"}}
	f.create(t, ns)
	f.namespace = ns.GetName()

	return f
}

// start the controller. It runs until the end of the test or until the returned function is
// called.
func (f *fixture) start(t *testing.T) func() {
	t.Helper()

	mgr, err := manager.New(f.cfg, manager.Options{
		Scheme:     f.kube.Scheme(),
		Metrics:    metricsserver.Options{BindAddress: "0"},
		Controller: ctrlconfig.Controller{SkipNameValidation: new(true)},
	})
	if err != nil {
		t.Fatal(err)
	}

	o := controller.Options{Logger: logging.NewNopLogger(), MaxConcurrentReconciles: 2}

	if err := Setup(mgr, f.kind, o); err != nil {
		t.Fatal(err)
	}

	return background.Run(t, mgr.Start)
}

// reconciler returns a reconciler whose cache has no usages yet.
func (f *fixture) reconciler() reconcile.Reconciler {
	return newReconciler(&lateManager{kube: f.kube}, f.kind, event.NewNopRecorder(), logging.NewNopLogger())
}

// A lateManager has a cache without lists.
type lateManager struct {
	manager.Manager

	kube client.WithWatch
}

func (m *lateManager) GetScheme() *runtime.Scheme { return m.kube.Scheme() }

func (m *lateManager) GetAPIReader() client.Reader { return m.kube }

func (m *lateManager) GetClient() client.Client {
	return interceptor.NewClient(m.kube, interceptor.Funcs{
		List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error { return nil },
	})
}

// expectKept fails the test if pc is released, or not reconciled again soon.
func (f *fixture) expectKept(t *testing.T, r reconcile.Reconciler, pc client.Object) {
	t.Helper()

	res, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(pc)})
	if err != nil || res.RequeueAfter <= 0 || res.RequeueAfter > retryInterval {
		t.Errorf("want it to be reconciled again, got %+v, %v", res, err)
	}

	if err := f.kube.Get(t.Context(), client.ObjectKeyFromObject(pc), pc); err != nil {
		t.Fatalf("in use, and gone: %v", err)
	}
}

// expectReleased reconciles pc until it is deleted. The controllers of other tests write to all
// ProviderConfigs of the kind, so that there may be conflicts.
func (f *fixture) expectReleased(t *testing.T, r reconcile.Reconciler, pc client.Object) {
	t.Helper()
	f.eventually(t, func() error {
		if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(pc)}); err != nil {
			return err
		}

		if err := f.kube.Get(t.Context(), client.ObjectKeyFromObject(pc), pc); !kerrors.IsNotFound(err) {
			return errors.Errorf("want %q to be gone, got %v", pc.GetName(), err)
		}

		return nil
	})
}

// config creates a ProviderConfig.
func (f *fixture) config(t *testing.T, name string, finalizers ...string) resource.ProviderConfig {
	t.Helper()

	pc, ok := f.kind.Object.DeepCopyObject().(resource.ProviderConfig)
	if !ok {
		t.Fatalf("%T is not a ProviderConfig", f.kind.Object)
	}

	// The names are unique without a namespace, too.
	pc.SetName(f.namespace + "-" + name)
	pc.SetFinalizers(finalizers)

	if _, ok := pc.(*namespacedv1beta1.ProviderConfig); ok {
		pc.SetNamespace(f.namespace)
	}

	f.create(t, pc)

	return pc
}

// usage returns a usage of a ProviderConfig by a Workspace that does not exist.
func (f *fixture) usage(name string, pc client.Object) client.Object {
	ref := xpv2.TypedReference{APIVersion: "v1", Kind: "Workspace", Name: name}
	o := metav1.ObjectMeta{
		Name:            f.namespace + "-" + name,
		Labels:          map[string]string{xpv2.LabelKeyProviderName: pc.GetName()},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Workspace", Name: name, UID: types.UID(name), Controller: new(true)}},
	}

	if f.kind.Legacy() {
		u := &clusterv1beta1.ProviderConfigUsage{ObjectMeta: o}
		u.ProviderConfigReference = xpv2.Reference{Name: pc.GetName()}
		u.ResourceReference = ref

		return u
	}

	o.Namespace = f.namespace
	o.Labels[xpv2.LabelKeyProviderKind] = f.kind.Config.Kind

	u := &namespacedv1beta1.ProviderConfigUsage{ObjectMeta: o}
	u.ProviderConfigReference = xpv2.ProviderConfigReference{Kind: f.kind.Config.Kind, Name: pc.GetName()}
	u.ResourceReference = ref

	return u
}

// workspace creates a Workspace that refers to a ProviderConfig, without a usage.
func (f *fixture) workspace(t *testing.T, name string, pc client.Object, finalizers ...string) client.Object {
	t.Helper()

	o := metav1.ObjectMeta{Name: f.namespace + "-" + name, Finalizers: finalizers}
	params := commonv1beta1.ModuleParameters{Source: commonv1beta1.ModuleSourceInline}

	if f.kind.Legacy() {
		ws := &clusterv1beta1.Workspace{ObjectMeta: o}
		ws.Spec.ForProvider.ModuleParameters = params
		ws.SetProviderConfigReference(&xpv2.Reference{Name: pc.GetName()})
		f.create(t, ws)

		return ws
	}

	ws := &namespacedv1beta1.Workspace{ObjectMeta: o}
	ws.SetNamespace(f.namespace)
	ws.Spec.ForProvider.ModuleParameters = params
	ws.SetProviderConfigReference(&xpv2.ProviderConfigReference{Kind: f.kind.Config.Kind, Name: pc.GetName()})
	f.create(t, ws)

	return ws
}

func (f *fixture) use(t *testing.T, name string, pc client.Object) {
	t.Helper()
	f.create(t, f.usage(name, pc))
}

// unuse deletes the usage of the supplied name.
func (f *fixture) unuse(t *testing.T, name string, pc client.Object) {
	t.Helper()

	if err := f.kube.Delete(t.Context(), f.usage(name, pc)); err != nil {
		t.Fatal(err)
	}
}

func (f *fixture) create(t *testing.T, o client.Object) {
	t.Helper()

	if err := f.kube.Create(t.Context(), o); err != nil {
		t.Fatal(err)
	}
}

func (f *fixture) expectUsers(t *testing.T, pc resource.ProviderConfig, want int64) {
	t.Helper()
	f.eventually(t, func() error {
		if err := f.kube.Get(t.Context(), client.ObjectKeyFromObject(pc), pc); err != nil {
			return err
		}

		if have := pc.GetUsers(); have != want {
			return errors.Errorf("users of %q: want %d, got %d", pc.GetName(), want, have)
		}

		return nil
	})
}

func (f *fixture) expectGone(t *testing.T, o client.Object) {
	t.Helper()
	f.eventually(t, func() error {
		if err := f.kube.Get(t.Context(), client.ObjectKeyFromObject(o), o); !kerrors.IsNotFound(err) {
			return errors.Errorf("want %q to be gone, got %v", o.GetName(), err)
		}

		return nil
	})
}

func (f *fixture) eventually(t *testing.T, check func() error) {
	t.Helper()

	if err := wait.Until(t.Context(), wait.Patience, check); err != nil {
		t.Fatal(err)
	}
}
