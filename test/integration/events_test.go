// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"cmp"
	"os"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
)

// controllerOf returns the name that the events about Workspaces have always had.
func controllerOf(s scope) string {
	if s == clusterScope {
		return "managed/workspace.tf.upbound.io"
	}

	return "managed/workspace.tf.m.upbound.io"
}

// TestEvents watches for the events that alerts are made of, from the components
// that they have always come from.
func TestEvents(t *testing.T) {
	t.Parallel()

	c, ns, shard, i := useTerraform(t)

	configComponents := map[scope]string{
		clusterScope:    "providerconfig/providerconfig.tf.upbound.io",
		namespacedScope: "providerconfig/providerconfig.tf.m.upbound.io",
	}

	eachScope(t, func(t *testing.T, s scope) {
		t.Run("Normal", func(t *testing.T) {
			t.Parallel()

			cfg := c.createConfig(t, s, ns, withBackend(ns, "events"))
			ws := c.createWorkspace(t, s, ns, inShard(shard), withConfig(cfg), withEvidence(t, "evidence.tf", newEvidence(t)))
			expectReady(t, c, ws)

			created := expectEventFrom(t, c, ws, controllerOf(s), corev1.EventTypeNormal, "CreatedExternalResource")
			if have, want := created.GetAnnotations()["external-name"], meta.GetExternalName(ws); have != want {
				t.Errorf("want external name %q in the annotations of an event, got %q", want, have)
			}

			if have, want := created.GetNamespace(), cmp.Or(ws.GetNamespace(), metav1.NamespaceDefault); have != want {
				t.Errorf("want an event in namespace %q, got %q", want, have)
			}

			c.changeVars(t, ws, append(ws.GetParameters().Vars, commonv1beta1.Var{Key: "greeting", Value: "bye"})...)
			expectEventFrom(t, c, ws, controllerOf(s), corev1.EventTypeNormal, "UpdatedExternalResource")

			c.request(t, ws)
			expectEventFrom(t, c, ws, controllerOf(s), corev1.EventTypeNormal, "ReconcileRequestHandled")

			c.annotate(t, ws, meta.AnnotationKeyReconciliationPaused, "true")
			expectEventFrom(t, c, ws, controllerOf(s), corev1.EventTypeNormal, "ReconciliationPaused")
			c.annotate(t, ws, meta.AnnotationKeyReconciliationPaused, nil)

			c.remove(t, ws)
			expectGone(t, c, ws)
			expectEventFrom(t, c, ws, controllerOf(s), corev1.EventTypeNormal, "DeletedExternalResource")
		})

		t.Run("ConfigInUse", func(t *testing.T) {
			t.Parallel()

			used := c.createConfig(t, s, ns, withBackend(ns, "events"))
			ws := c.createWorkspace(t, s, ns, inShard(shard), withConfig(used), withModule(moduleFile(t, "outputs.tf")))
			expectReady(t, c, ws)
			c.remove(t, used)
			expectEventFrom(t, c, used, configComponents[s], corev1.EventTypeWarning, "UsageAccounting")
		})
	})

	cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, "events"))
	expect := func(t *testing.T, o client.Object, typ, reason string) corev1.Event {
		t.Helper()

		return expectEventFrom(t, c, o, controllerOf(namespacedScope), typ, reason)
	}

	t.Run("CannotConnect", func(t *testing.T) {
		t.Parallel()

		absent := newConfig(namespacedScope, ns, withoutBackend())
		ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(absent), withModule(moduleFile(t, "outputs.tf")))
		expect(t, ws, corev1.EventTypeWarning, "CannotConnectToProvider")
	})

	t.Run("CannotObserve", func(t *testing.T) {
		t.Parallel()

		ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withModule(moduleFile(t, "invalid.tf")))
		expect(t, ws, corev1.EventTypeWarning, "CannotObserveExternalResource")
	})

	t.Run("CannotCreateUpdateDelete", func(t *testing.T) {
		t.Parallel()

		ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withEvidence(t, "failing.tf", newEvidence(t)))
		expect(t, ws, corev1.EventTypeWarning, "CannotCreateExternalResource")
		// The resources of a failed creation exist, and are updated from then on.
		expect(t, ws, corev1.EventTypeWarning, "CannotUpdateExternalResource")

		c.changeModule(t, ws, moduleFile(t, "failing.tf")+"\noutput \"unfinished\" {\n")
		c.remove(t, ws)
		expect(t, ws, corev1.EventTypeWarning, "CannotDeleteExternalResource")

		c.changeModule(t, ws, moduleFile(t, "failing.tf"))
		expectGone(t, c, ws)
	})

	t.Run("CannotDisconnect", func(t *testing.T) {
		t.Parallel()

		// The provider cannot find out which files have secrets: the module has broken its records.
		ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withModule(`
resource "terraform_data" "guest" {
  provisioner "local-exec" {
    command = "record=../.records/$(basename $PWD)/manifest.json; mv $record kept && echo broken > $record"
  }
}
`))
		expect(t, ws, corev1.EventTypeWarning, "CannotDisconnectFromProvider")

		uid := string(ws.GetUID())
		if err := os.Rename(filepath.Join(i.workdir(uid), "kept"), filepath.Join(i.records(uid), "manifest.json")); err != nil {
			t.Fatal(err)
		}

		expectReady(t, c, ws)
	})

	t.Run("CannotPublish", func(t *testing.T) {
		t.Parallel()

		secret := c.foreignSecret(t, ns, map[string][]byte{"text": []byte("theirs")})
		ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withSecret(secret.GetName()), withModule(`output "text" { value = "ours" }`))
		expect(t, ws, corev1.EventTypeWarning, "CannotPublishConnectionDetails")
		expectSecret(t, c, ns, secret.GetName(), map[string]string{"text": "theirs"})

		// There is nothing to restore: the Secret is deleted with its Workspace.
		c.remove(t, secret)
		expectReady(t, c, ws)
		expectSecret(t, c, ns, secret.GetName(), map[string]string{"text": "ours"})
	})

	t.Run("InvalidPolicy", func(t *testing.T) {
		t.Parallel()

		ws := c.createManaged(t, namespacedScope, ns, policyRefused(), inShard(shard), withConfig(cfg), withModule(moduleFile(t, "outputs.tf")))
		expect(t, ws, corev1.EventTypeWarning, "CannotUseInvalidManagementPolicy")
		expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, "spec.managementPolicies is [Create, Update], which is not supported. Similar and supported: [Observe, Create, Update]")
	})
}

// eventsOf returns the events about the supplied object. Those about one without a
// namespace are in the default namespace: the API server is asked for no others, because it
// would read the events of all tests to find these.
func (c *cluster) eventsOf(t *testing.T, o client.Object) ([]corev1.Event, error) {
	t.Helper()

	events := &corev1.EventList{}
	err := c.kube.List(t.Context(), events, client.InNamespace(cmp.Or(o.GetNamespace(), metav1.NamespaceDefault)),
		client.MatchingFields{"involvedObject.uid": string(o.GetUID())})

	return events.Items, err
}

// expectEventFrom waits until the component records an event about the object, and
// returns it.
func expectEventFrom(t *testing.T, c *cluster, o client.Object, component, typ, reason string) corev1.Event {
	t.Helper()

	var found corev1.Event

	eventually(t, func() error {
		events, err := c.eventsOf(t, o)
		if err != nil {
			return err
		}

		seen := []string{}

		for _, e := range events {
			if e.Source.Component == component && e.Type == typ && e.Reason == reason {
				found = e

				return nil
			}

			seen = append(seen, e.Source.Component+" "+e.Type+" "+e.Reason)
		}

		return errors.Errorf("no event %s %s of %s about %q among %q", typ, reason, component, o.GetName(), seen)
	})

	return found
}
