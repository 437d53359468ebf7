// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"

	"github.com/crossplane-contrib/provider-terraform/apis"
	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	namespacedv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/namespaced/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/schedule"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
	"github.com/crossplane-contrib/provider-terraform/test/apiserver"
)

// TestAddFinalizer ensures that the finalizer is written at once, unless the write that begins a
// creation follows: without a finalizer, a deleted Workspace leaves its infrastructure behind.
func TestAddFinalizer(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason  string
		ws      *clusterv1beta1.Workspace
		seen    *schedule.Observation
		written bool
	}{
		"Creation":   {reason: "A creation follows.", ws: with(), seen: &schedule.Observation{At: time.Now()}},
		"Exists":     {reason: "There is something to delete.", ws: with(), seen: &schedule.Observation{At: time.Now(), Exists: true}, written: true},
		"Unobserved": {reason: "There may be something to delete.", ws: with(), written: true},
		"NoCreation": {reason: "The management policies allow no creation.", ws: with(policies(xpv2.ManagementActionObserve, xpv2.ManagementActionDelete)), seen: &schedule.Observation{At: time.Now()}, written: true},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r := newAttempt(t, tc.ws)
			if tc.seen != nil {
				r.records.Observe(r.ws, *tc.seen, nil)
			}

			if err := r.addFinalizer(t.Context(), r.ws); err != nil {
				t.Fatal(err)
			}

			if !meta.FinalizerExists(r.ws, managed.FinalizerName) {
				t.Errorf("\n%s\nwant a finalizer for the next write", tc.reason)
			}

			if got := meta.FinalizerExists(r.recorded(t), managed.FinalizerName); got != tc.written {
				t.Errorf("\n%s\nwritten: want %t, got %t", tc.reason, tc.written, got)
			}
		})
	}
}

// TestFinalizerStays ensures that a person reads why a Workspace stays whose deletion is done.
func TestFinalizerStays(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		err    error
		want   []string
		text   string
	}{
		"Refused":  {reason: "A policy refuses the update.", err: errors.New("denied"), want: []string{"CannotUpdateManagedResource"}, text: "nothing is left to do but to remove the finalizer, which failed: cannot update object: denied"},
		"Conflict": {reason: "The next try has the latest version.", err: kerrors.NewConflict(schema.GroupResource{}, "", nil), text: "Operation cannot be fulfilled on  \"\": <nil>"},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r := newAttempt(t, with(owner, deleted))
			meta.AddFinalizer(r.ws, managed.FinalizerName)
			r.kube = interceptor.NewClient(r.kube.(client.WithWatch), interceptor.Funcs{ //nolint:forcetypeassert // The fake is one.
				Update: func(context.Context, client.WithWatch, client.Object, ...client.UpdateOption) error { return tc.err },
			})

			if err := r.removeFinalizer(t.Context(), r.ws); !errors.Is(err, tc.err) || !strings.HasSuffix(err.Error(), tc.text) {
				t.Errorf("%s\nremoveFinalizer(...): want %q, got %v", tc.reason, tc.text, err)
			}

			if diff := cmp.Diff(tc.want, r.events.reasons); diff != "" {
				t.Errorf("%s\nEvents: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestStatusRefused ensures that a person reads that the status is out of date.
func TestStatusRefused(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		err    error
		want   []string
	}{
		"Refused":  {reason: "A policy refuses the status.", err: kerrors.NewForbidden(schema.GroupResource{}, "", errors.New("denied")), want: []string{"CannotUpdateManagedResource"}},
		"Conflict": {reason: "The next try has the latest version.", err: kerrors.NewConflict(schema.GroupResource{}, "", nil)},
		"TooLarge": {reason: "The API server passes on what etcd says.", err: &kerrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: 500, Message: "etcdserver: request is too large"}}, want: []string{"CannotUpdateManagedResource"}},
		"NoAnswer": {reason: "It passes.", err: errors.New("connection reset")},
		"Gone":     {reason: "The Workspace is gone.", err: kerrors.NewNotFound(schema.GroupResource{}, "")},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r := newAttempt(t, with(owner))
			kube := interceptor.NewClient(r.kube.(client.WithWatch), interceptor.Funcs{ //nolint:forcetypeassert // The fake is one.
				SubResourceUpdate: func(context.Context, client.Client, string, client.Object, ...client.SubResourceUpdateOption) error {
					return tc.err
				},
			})

			if err := (managedClient{Client: kube, cache: r.kube, connector: r.connector}).Status().Update(t.Context(), r.ws); !errors.Is(err, tc.err) {
				t.Errorf("%s\nUpdate(...): want %v, got %v", tc.reason, tc.err, err)
			}

			if diff := cmp.Diff(tc.want, r.events.reasons); diff != "" {
				t.Errorf("%s\nEvents: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestPauseEnds ensures that failures from before a pause do not delay the first try after it, and that a Workspace that was paused once
// more has no run.
func TestPauseEnds(t *testing.T) {
	t.Parallel()

	r := newAttempt(t, with(owner))
	r.ws.SetConditions(xpv2.ReconcilePaused(), xpv2.Condition{Type: workspace.TypeStalled, Status: corev1.ConditionTrue, Reason: reasonRepeatedFailure})
	r.records.Observe(r.ws, schedule.Observation{UpToDate: true}, nil)
	r.records.Fail(r.ws, false)

	if err := (managedClient{Client: r.kube, cache: r.kube, connector: r.connector}).Status().Update(t.Context(), r.ws); err != nil {
		t.Fatal(err)
	}

	if n := r.records.Get(r.ws).Failures.Count; n != 0 {
		t.Errorf("want no failures during a pause, got %d", n)
	}

	// The first reconcile after the pause may fail before it plans.
	if r.records.Get(r.ws).Observed() {
		t.Error("want no observation from before a pause")
	}

	if got := r.recorded(t).GetCondition(workspace.TypeStalled).Status; got != corev1.ConditionFalse {
		t.Errorf("want Stalled to be false during a pause, got %s", got)
	}

	later, _ := r.ws.DeepCopyObject().(*clusterv1beta1.Workspace)
	meta.AddAnnotations(later, map[string]string{meta.AnnotationKeyReconciliationPaused: "true"})

	if err := r.kube.Update(t.Context(), later); err != nil {
		t.Fatal(err)
	}

	if err := r.observeInConnect(t.Context(), r.ws); err != nil {
		t.Fatal(err)
	}

	if _, err := r.Observe(t.Context(), r.ws); !kerrors.IsConflict(err) {
		t.Errorf("Observe(...): want a conflict, which the managed reconciler passes over, got %v", err)
	}

	if diff := cmp.Diff([]string(nil), r.runner.ran); diff != "" {
		t.Errorf("runs: -want, +got:\n%s", diff)
	}
}

// TestRemoveFinalizer ensures that a deletion that leaves the infrastructure behind says so.
func TestRemoveFinalizer(t *testing.T) {
	t.Parallel()

	orphan := func(ws *clusterv1beta1.Workspace) { ws.SetDeletionPolicy(xpv2.DeletionOrphan) }
	kept := []string{"KeptState"}

	cases := map[string]struct {
		reason string
		ws     *clusterv1beta1.Workspace
		want   []string
	}{
		"Destroyed": {reason: "Delete has recorded what it did.", ws: with(owner, deleted)},
		"Orphaned":  {reason: "The deletion policy keeps it.", ws: with(owner, deleted, orphan), want: kept},
		"NoDelete":  {reason: "The management policies keep it.", ws: with(owner, deleted, policies(xpv2.ManagementActionObserve)), want: kept},
		"Nothing":   {reason: "There is nothing to keep.", ws: with(deleted, orphan)},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r := newAttempt(t, tc.ws)
			if err := r.removeFinalizer(t.Context(), r.ws); err != nil {
				t.Fatal(err)
			}

			if diff := cmp.Diff(tc.want, r.events.reasons); diff != "" {
				t.Errorf("\n%s\nEvents: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestInitialize ensures that the external name of a Workspace without one is written at once,
// unless the write with the finalizer follows.
func TestInitialize(t *testing.T) {
	t.Parallel()

	finalized := func(ws *clusterv1beta1.Workspace) { meta.AddFinalizer(ws, managed.FinalizerName) }
	notSynced := func(ws *clusterv1beta1.Workspace) { ws.SetConditions(xpv2.ReconcileError(errors.New("boom"))) }

	cases := map[string]struct {
		reason string
		ws     *clusterv1beta1.Workspace
		// external name in the object, and in the API server.
		want, written string
	}{
		"New":       {reason: "The finalizer is yet to be written.", ws: with(), want: "ws"},
		"Finalized": {reason: "No other write has to follow.", ws: with(finalized), want: "ws", written: "ws"},
		"Again":     {reason: "The first reconcile has failed, and so may this one.", ws: with(notSynced), want: "ws", written: "ws"},
		"Deleted":   {reason: "No finalizer is added.", ws: with(deleted), want: "ws", written: "ws"},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r := newAttempt(t, tc.ws)

			meta.RemoveAnnotations(r.ws, meta.AnnotationKeyExternalName)

			if err := r.kube.Update(t.Context(), r.ws); err != nil {
				t.Fatal(err)
			}

			if err := r.initialize(t.Context(), r.ws); err != nil {
				t.Fatal(err)
			}

			if got := meta.GetExternalName(r.ws); got != tc.want {
				t.Errorf("\n%s\nexternal name: want %q, got %q", tc.reason, tc.want, got)
			}

			if got := meta.GetExternalName(r.recorded(t)); got != tc.written {
				t.Errorf("\n%s\nwritten external name: want %q, got %q", tc.reason, tc.written, got)
			}
		})
	}

	t.Run("Named", func(t *testing.T) {
		t.Parallel()

		r := newAttempt(t, with())
		meta.SetExternalName(r.ws, "other")

		if err := r.initialize(t.Context(), r.ws); err != nil || meta.GetExternalName(r.ws) != "other" {
			t.Errorf("want another external name to stay, got %q, %v", meta.GetExternalName(r.ws), err)
		}
	})
}

// TestCriticalAnnotations records the end of a creation. A person has changed other
// annotations and the labels since it began, so that the Workspace has another version.
func TestCriticalAnnotations(t *testing.T) {
	t.Parallel()

	const at = "2026-01-02T03:04:05Z"

	cfg := apiserver.Start(t, "../../../package/crds/tf.upbound.io_workspaces.yaml")
	live := apiserver.Client(t, cfg)

	cases := map[string]struct {
		reason  string
		failing int
		made    bool
		fails   bool
		want    map[string]string
	}{
		"Changed": {
			reason: "Later changes of a person stay.",
			want:   map[string]string{"example.org/new": "1", meta.AnnotationKeyExternalName: "changed", meta.AnnotationKeyExternalCreateSucceeded: at},
		},
		"Repeated": {
			reason:  "A request is repeated after a short failure of the API server.",
			failing: 2,
			want:    map[string]string{"example.org/new": "1", meta.AnnotationKeyExternalName: "changed", meta.AnnotationKeyExternalCreateSucceeded: at},
		},
		"MadeAgain": {
			reason: "Nothing was created for a new Workspace of that name.",
			made:   true,
			fails:  true,
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			failing := tc.failing
			u := &connector{kube: apiserver.Client(t, apiserver.Through(cfg, func(r *http.Request, next http.RoundTripper) (*http.Response, error) {
				if r.Method == http.MethodPatch && failing > 0 {
					failing--

					return nil, errors.New("connection lost")
				}

				return next.RoundTrip(r)
			}))}

			ws := &clusterv1beta1.Workspace{ObjectMeta: metav1.ObjectMeta{GenerateName: "ws-", Annotations: map[string]string{meta.AnnotationKeyReconciliationPaused: "true"}}}
			ws.Spec.ForProvider.Source = commonv1beta1.ModuleSourceInline

			if err := live.Create(t.Context(), ws); err != nil {
				t.Fatal(err)
			}

			inFlight := ws.DeepCopy()
			meta.AddAnnotations(inFlight, map[string]string{meta.AnnotationKeyExternalName: "ws", meta.AnnotationKeyExternalCreateSucceeded: at})

			ws.SetAnnotations(map[string]string{"example.org/new": "1", meta.AnnotationKeyExternalName: "changed"})
			ws.SetLabels(map[string]string{"example.org/moved": "1"})

			if err := live.Update(t.Context(), ws); err != nil {
				t.Fatal(err)
			}

			if tc.made {
				inFlight.SetUID("another")
			}

			err := u.updateCriticalAnnotations(t.Context(), inFlight)
			if (err != nil) != tc.fails {
				t.Fatalf("%s\nupdateCriticalAnnotations(...): want an error: %t, got %v", tc.reason, tc.fails, err)
			}

			if tc.fails {
				return
			}

			if err := live.Get(t.Context(), client.ObjectKeyFromObject(ws), ws); err != nil {
				t.Fatal(err)
			}

			if diff := cmp.Diff(tc.want, ws.GetAnnotations()); diff != "" {
				t.Errorf("%s\nannotations: -want, +got:\n%s", tc.reason, diff)
			}

			// Later writes of the object must not restore anything either.
			if diff := cmp.Diff(ws, inFlight); diff != "" {
				t.Errorf("%s\nthe object in memory is not the one in the API server: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestSecretPatch publishes with the publisher of the managed reconciler to a Secret that
// exists. The API server refuses the first patches.
func TestSecretPatch(t *testing.T) {
	t.Parallel()

	secrets := schema.GroupResource{Resource: "secrets"}
	forbidden := kerrors.NewForbidden(secrets, "outputs", errors.New("a right is missing"))
	overloaded := kerrors.NewServiceUnavailable("too much to do")

	cases := map[string]struct {
		reason    string
		refusals  []error
		forbidden bool
		want      string
	}{
		"Accepted": {
			reason: "The Secret has the new value.",
			want:   "new",
		},
		"AcceptedLater": {
			reason:   "A failure that passes is not reported.",
			refusals: []error{overloaded, overloaded},
			want:     "new",
		},
		"Refused": {
			reason:    "A failure that stays is reported, with its reason.",
			refusals:  []error{forbidden, forbidden, forbidden, forbidden, forbidden, forbidden, forbidden},
			forbidden: true,
			want:      "old",
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := runtime.NewScheme()
			if err := errors.Join(corev1.AddToScheme(s), apis.AddToScheme(s)); err != nil {
				t.Fatal(err)
			}

			secret := &corev1.Secret{
				ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "outputs"},
				Type:       resource.SecretTypeConnection,
				Data:       map[string][]byte{"key": []byte("old")},
			}
			refusals := tc.refusals
			kube := fake.NewClientBuilder().WithScheme(s).WithObjects(secret).WithInterceptorFuncs(interceptor.Funcs{
				Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
					if len(refusals) > 0 {
						err := refusals[0]
						refusals = refusals[1:]

						return err
					}

					return c.Patch(ctx, o, p, opts...)
				},
			}).Build()

			ws := &namespacedv1beta1.Workspace{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "ws", UID: "uid"}}
			ws.SetWriteConnectionSecretToReference(&xpv2.LocalSecretReference{Name: "outputs"})

			_, err := managed.NewAPILocalSecretPublisher(managedClient{Client: kube}, s).
				PublishConnection(t.Context(), ws, managed.ConnectionDetails{"key": []byte("new")})
			if kerrors.IsForbidden(err) != tc.forbidden || (err != nil) != tc.forbidden {
				t.Errorf("%s: want forbidden %t, got %v", tc.reason, tc.forbidden, err)
			}

			if err := kube.Get(t.Context(), client.ObjectKeyFromObject(secret), secret); err != nil {
				t.Fatal(err)
			}

			if diff := cmp.Diff(tc.want, string(secret.Data["key"])); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
