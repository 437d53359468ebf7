// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
)

// TestConnectionSecret changes outputs that are nowhere but in the connection Secret.
func TestConnectionSecret(t *testing.T) {
	t.Parallel()

	c, ns, shard, _ := useTerraform(t)
	output := func(name, value string) string {
		return fmt.Sprintf("output %q {\n  value     = %q\n  sensitive = true\n}\n", name, value)
	}

	t.Run("VanishedOutput", func(t *testing.T) {
		t.Parallel()

		name := unique("connection")
		cfg := c.createConfig(t, clusterScope, ns, withBackend(ns, "connection"))
		ws := c.createWorkspace(t, clusterScope, ns, inShard(shard), withConfig(cfg), withSecret(name), withModule(output("one", "1")+output("two", "2")))
		expectReady(t, c, ws)
		expectSecret(t, c, ns, name, map[string]string{"one": "1", "two": "2"})

		// A key that something else adds stays.
		c.patch(t, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}}, map[string]any{"stringData": map[string]any{"ca.crt": "theirs"}})
		c.changeModule(t, ws, output("two", "2"))
		expectSecret(t, c, ns, name, map[string]string{"two": "2", "ca.crt": "theirs"})
		expectReady(t, c, ws)

		c.changeModule(t, ws, output("two", "3"))
		expectSecret(t, c, ns, name, map[string]string{"two": "3", "ca.crt": "theirs"})
		expectOutputs(t, c, ws, map[string]string{})

		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}}
		c.get(t, secret)

		if secret.Type != resource.SecretTypeConnection || !metav1.IsControlledBy(secret, ws) {
			t.Errorf("want a connection Secret that the Workspace controls, got type %q, owners %v", secret.Type, secret.GetOwnerReferences())
		}
	})

	t.Run("OfAnotherOwner", func(t *testing.T) {
		t.Parallel()

		secret := c.foreignSecret(t, ns, map[string][]byte{"one": []byte("theirs"), "three": []byte("3")})

		cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, "connection"))
		ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withSecret(secret.GetName()), withModule(output("one", "1")))
		expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, "connection secret "+ns+"/"+secret.GetName()+": it exists and belongs to another object", "spec.writeConnectionSecretToRef")
		expectCondition(t, c, ws, "Stalled", corev1.ConditionTrue, "belongs to another object")
		expectCondition(t, c, ws, xpv2.TypeReady, corev1.ConditionFalse, "The plan was not applied")
		expectKstatus(t, ws, status.FailedStatus, "an observation has not failed")
		expectSecret(t, c, ns, secret.GetName(), map[string]string{"one": "theirs", "three": "3"})

		later := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withModule(output("one", "1")))
		expectReady(t, c, later)
		c.patch(t, later, map[string]any{"spec": map[string]any{"writeConnectionSecretToRef": map[string]any{"name": secret.GetName()}}})
		expectCondition(t, c, later, "Stalled", corev1.ConditionTrue, "belongs to another object")

		c.patch(t, later, map[string]any{"spec": map[string]any{"writeConnectionSecretToRef": nil}})
		expectReady(t, c, later)
		expectCondition(t, c, later, "Stalled", corev1.ConditionFalse)

		c.remove(t, ws)
		expectGone(t, c, ws)
		expectSecret(t, c, ns, secret.GetName(), map[string]string{"one": "theirs", "three": "3"})
	})
}

// foreignSecret makes a connection Secret with another controller.
func (c *cluster) foreignSecret(t *testing.T, namespace string, data map[string][]byte) *corev1.Secret {
	t.Helper()

	owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: unique("owner")}}
	c.create(t, owner)

	controller := true
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: unique("foreign"), OwnerReferences: []metav1.OwnerReference{{
			APIVersion: "v1", Kind: "ConfigMap", Name: owner.GetName(), UID: owner.GetUID(), Controller: &controller,
		}}},
		Type: resource.SecretTypeConnection,
		Data: data,
	}
	c.create(t, secret)

	return secret
}
