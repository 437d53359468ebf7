// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes/scheme"
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
	"github.com/crossplane/crossplane-runtime/v2/pkg/ratelimiter"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"

	"github.com/crossplane-contrib/provider-terraform/apis"
	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	namespacedv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/namespaced/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/providerconfig"
	"github.com/crossplane-contrib/provider-terraform/test/apiserver"
)

// TestLive counts the users of ProviderConfigs of every kind on a real API server.
func TestLive(t *testing.T) {
	t.Parallel()

	cfg := apiserver.Start(t, "../../../package/crds")

	t.Run("Kinds", func(t *testing.T) {
		for _, kind := range providerconfig.Kinds() {
			for name, test := range map[string]func(*testing.T, *fixture){
				"Counts":       testCounts,
				"InUseAtStart": testInUseAtStart,
				"Stale":        testStale,
				"Unseen":       testUnseen,
				"Quiet":        testQuiet,
			} {
				t.Run(kind.GroupKind+"/"+name, func(t *testing.T) {
					t.Parallel()
					test(t, newFixture(t, cfg, kind))
				})
			}
		}
	})
}

// The count follows usages that come, go and move, also those that did so while no
// instance was running.
func testCounts(t *testing.T, f *fixture) {
	t.Helper()

	pc := f.config(t, "counted")
	stop := f.start(t)

	for _, name := range []string{"a", "b", "c"} {
		f.use(t, name, pc)
	}

	f.expectUsers(t, pc, 3)

	if diff := cmp.Diff([]string{finalizer}, pc.GetFinalizers()); diff != "" {
		t.Errorf("finalizers: -want, +got:\n%s", diff)
	}

	f.unuse(t, "a", pc)
	f.expectUsers(t, pc, 2)
	stop()

	f.unuse(t, "b", pc)
	f.use(t, "d", pc)
	f.use(t, "e", pc)
	f.start(t)
	f.expectUsers(t, pc, 3)
}

// A ProviderConfig that is in use is not gone by the time that everything is known.
func testInUseAtStart(t *testing.T, f *fixture) {
	t.Helper()

	pc := f.config(t, "used", finalizer)
	f.use(t, "user", pc)

	if err := f.kube.Delete(t.Context(), pc); err != nil {
		t.Fatal(err)
	}

	f.start(t)
	f.expectUsers(t, pc, 1)

	if c := pc.GetCondition("Terminating"); c.Status != corev1.ConditionTrue || c.Reason != "InUse" || c.Message != "Blocking deletion while usages still exist" {
		t.Errorf("condition of a ProviderConfig that is deleted and in use: %+v", c)
	}

	f.eventually(t, func() error {
		events := &corev1.EventList{}
		if err := f.kube.List(t.Context(), events, client.MatchingFields{"involvedObject.uid": string(pc.GetUID())}); err != nil {
			return err
		}

		if !slices.ContainsFunc(events.Items, func(e corev1.Event) bool { return e.Reason == "UsageAccounting" && e.Type == corev1.EventTypeWarning }) {
			return errors.Errorf("want an event, got %v", events.Items)
		}

		return nil
	})

	f.unuse(t, "user", pc)
	f.expectGone(t, pc)
}

// A usage without a controller is nobody's.
func testStale(t *testing.T, f *fixture) {
	t.Helper()

	pc := f.config(t, "restored")
	u := f.usage("stale", pc)
	u.SetOwnerReferences(nil)
	f.create(t, u)
	f.use(t, "user", pc)

	f.start(t)
	f.expectUsers(t, pc, 1)
	f.expectGone(t, u)
}

// A usage that the watch has not seen yet keeps the ProviderConfig all the same.
func testUnseen(t *testing.T, f *fixture) {
	t.Helper()

	pc := f.config(t, "unseen", finalizer)
	f.use(t, "user", pc)

	if err := f.kube.Delete(t.Context(), pc); err != nil {
		t.Fatal(err)
	}

	r := f.reconciler()
	if res := f.reconcile(t, r, pc); res.RequeueAfter == 0 {
		t.Error("it was released, or nobody will look again")
	}

	if err := f.kube.Get(t.Context(), client.ObjectKeyFromObject(pc), pc); err != nil {
		t.Errorf("in use, and gone: %v", err)
	}

	f.unuse(t, "user", pc)
	f.reconcile(t, r, pc)
	f.expectGone(t, pc)
}

// Nothing is written when there is nothing new.
func testQuiet(t *testing.T, f *fixture) {
	t.Helper()

	pc := f.config(t, "quiet", finalizer)
	f.reconcile(t, f.reconciler(), pc)

	if diff := cmp.Diff(0, f.writes); diff != "" {
		t.Errorf("writes: -want, +got:\n%s", diff)
	}
}

// A fixture has a namespace of its own on the API server that all share.
type fixture struct {
	kind      providerconfig.Kind
	cfg       *rest.Config
	scheme    *runtime.Scheme
	kube      client.WithWatch
	namespace string

	writes int
}

func newFixture(t *testing.T, cfg *rest.Config, kind providerconfig.Kind) *fixture {
	t.Helper()

	f := &fixture{kind: kind, cfg: cfg, scheme: runtime.NewScheme()}
	if err := errors.Join(scheme.AddToScheme(f.scheme), apis.AddToScheme(f.scheme)); err != nil {
		t.Fatal(err)
	}

	var err error
	if f.kube, err = client.NewWithWatch(cfg, client.Options{Scheme: f.scheme}); err != nil {
		t.Fatal(err)
	}

	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "config-"}}
	f.create(t, ns)
	f.namespace = ns.GetName()

	return f
}

// start the controller. It runs until it is stopped, or to the end of the test.
func (f *fixture) start(t *testing.T) func() {
	t.Helper()

	mgr, err := manager.New(f.cfg, manager.Options{
		Scheme:     f.scheme,
		Metrics:    metricsserver.Options{BindAddress: "0"},
		Controller: ctrlconfig.Controller{SkipNameValidation: new(true)},
	})
	if err != nil {
		t.Fatal(err)
	}

	usages := providerconfig.NewUsages(f.kube)[f.kind.ProviderConfigKinds.Usage]
	o := controller.Options{Logger: logging.NewNopLogger(), MaxConcurrentReconciles: 2, GlobalRateLimiter: ratelimiter.NewGlobal(100)}

	if err := errors.Join(mgr.Add(usages), Setup(mgr, f.kind, usages, o)); err != nil {
		t.Fatal(err)
	}

	ctx, cancel := context.WithCancel(t.Context())
	stopped := make(chan error, 1)

	go func() { stopped <- mgr.Start(ctx) }()

	stop := sync.OnceFunc(func() {
		cancel()

		if err := <-stopped; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)

	return stop
}

// reconciler returns one whose watch has seen nothing. What it writes is counted.
func (f *fixture) reconciler() *reconciler {
	kube := interceptor.NewClient(f.kube, interceptor.Funcs{
		Update: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
			f.writes++

			return c.Update(ctx, o, opts...)
		},
		SubResourceUpdate: func(ctx context.Context, c client.Client, sub string, o client.Object, opts ...client.SubResourceUpdateOption) error {
			f.writes++

			return c.SubResource(sub).Update(ctx, o, opts...)
		},
	})

	return &reconciler{
		client:    kube,
		live:      kube,
		kind:      f.kind,
		usages:    providerconfig.NewUsages(f.kube)[f.kind.ProviderConfigKinds.Usage],
		log:       logging.NewNopLogger(),
		finalizer: resource.NewAPIFinalizer(kube, finalizer),
		record:    event.NewNopRecorder(),
	}
}

func (f *fixture) reconcile(t *testing.T, r *reconciler, pc client.Object) reconcile.Result {
	t.Helper()

	res, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(pc)})
	if err != nil {
		t.Fatal(err)
	}

	return res
}

// config creates a ProviderConfig.
func (f *fixture) config(t *testing.T, name string, finalizers ...string) resource.ProviderConfig {
	t.Helper()

	pc, ok := f.kind.Object.DeepCopyObject().(resource.ProviderConfig)
	if !ok {
		t.Fatalf("%T is not a ProviderConfig", f.kind.Object)
	}

	// All names are in one namespace where the kind has none.
	pc.SetName(f.namespace + "-" + name)
	pc.SetFinalizers(finalizers)

	if _, ok := pc.(*namespacedv1beta1.ProviderConfig); ok {
		pc.SetNamespace(f.namespace)
	}

	f.create(t, pc)

	return pc
}

// usage of a ProviderConfig by a Workspace that only the usage knows of.
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

	err := errors.New("not looked at")

	if wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		err = check()

		return err == nil, nil
	}) != nil {
		t.Fatal(err)
	}
}
