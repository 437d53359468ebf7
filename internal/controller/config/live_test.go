// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"

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
				"Referrer":     testReferrer,
			} {
				t.Run(kind.Config.GroupKind().String()+"/"+name, func(t *testing.T) {
					t.Parallel()
					test(t, newFixture(t, cfg, kind))
				})
			}
		}
	})
}

// testCounts ensures that the count follows usages that are created, deleted and changed, even
// while no instance was running.
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

// testInUseAtStart ensures that a ProviderConfig in use is kept until the cache is complete.
func testInUseAtStart(t *testing.T, f *fixture) {
	t.Helper()

	pc := f.config(t, "used", finalizer)
	f.use(t, "user", pc)

	user := f.usage("user", pc)

	if err := f.kube.Delete(t.Context(), pc); err != nil {
		t.Fatal(err)
	}

	f.start(t)
	f.expectUsers(t, pc, 1)

	f.eventually(t, func() error {
		if err := f.kube.Get(t.Context(), client.ObjectKeyFromObject(pc), pc); err != nil {
			return err
		}

		// The first list of a cache may be older than the deletion.
		if c := pc.GetCondition("Terminating"); c.Status != corev1.ConditionTrue || c.Reason != "InUse" || c.Message != "Deletion waits for the Workspace that uses it: "+providerconfig.NameOf(user.GetNamespace(), "user") {
			return errors.Errorf("condition of a ProviderConfig that is deleted and in use: %+v", c)
		}

		events := &corev1.EventList{}
		if err := f.kube.List(t.Context(), events, client.MatchingFields{"involvedObject.uid": string(pc.GetUID())}); err != nil {
			return err
		}

		if !slices.ContainsFunc(events.Items, func(e corev1.Event) bool {
			return e.Reason == "UsageAccounting" && e.Type == corev1.EventTypeWarning && e.Message == pc.GetCondition("Terminating").Message
		}) {
			return errors.Errorf("want an event, got %v", events.Items)
		}

		if slices.ContainsFunc(events.Items, func(e corev1.Event) bool { return e.Message == stockBlocked }) {
			return errors.New("want no event without names")
		}

		return nil
	})

	f.unuse(t, "user", pc)
	f.expectGone(t, pc)
}

// testStale ensures that a usage without a controller does not count.
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

// testUnseen ensures that a usage that the watch has not delivered yet counts.
func testUnseen(t *testing.T, f *fixture) {
	t.Helper()

	pc := f.config(t, "unseen", finalizer)
	f.use(t, "user", pc)

	if err := f.kube.Delete(t.Context(), pc); err != nil {
		t.Fatal(err)
	}

	r := f.reconciler()
	f.expectKept(t, r, pc)
	f.unuse(t, "user", pc)
	f.expectReleased(t, r, pc)
}

// testReferrer has a Workspace without a usage, as in a namespace that is being deleted. Its
// ProviderConfig stays until it has destroyed its infrastructure. A Workspace that was never
// served has none.
func testReferrer(t *testing.T, f *fixture) {
	t.Helper()

	pc := f.config(t, "referred", finalizer)
	other := f.config(t, "other", finalizer)
	served := f.workspace(t, "served", pc, managed.FinalizerName)
	f.workspace(t, "unserved", other)
	f.workspace(t, "elsewhere", other, "somebody.example.org/finalizer")

	for _, o := range []client.Object{pc, other} {
		if err := f.kube.Delete(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}

	r := f.reconciler()
	f.expectReleased(t, r, other)
	f.expectKept(t, r, pc)

	if c := pc.GetCondition("Terminating"); c.Reason != "InUse" || !strings.Contains(c.Message, served.GetName()) {
		t.Errorf("the condition does not say which Workspace refers to it: %+v", c)
	}

	served.SetFinalizers(nil)

	if err := errors.Join(f.kube.Update(t.Context(), served), f.kube.Delete(t.Context(), served)); err != nil {
		t.Fatal(err)
	}

	f.expectReleased(t, r, pc)
}
