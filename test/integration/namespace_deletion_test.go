// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// TestNamespaceDeletion deletes a namespace with everything in it. Nothing can be created
// there any more. The namespace controller, which is not a part of the API server, deletes
// the kinds in random order: here the Workspaces are last, after all that they need.
func TestNamespaceDeletion(t *testing.T) {
	t.Parallel()

	c := shared.sharded.started(t)
	ns, states, shard := c.namespace(t), c.namespace(t), unique("shard")
	startInstance(t, c, withShard(shard))

	cfg := c.createConfig(t, namespacedScope, ns, withBackend(states, "namespace"))
	value := c.secretKey(t, ns, "value")
	create := func(r references, e evidence) workspace.Workspace {
		return c.createReferring(t, namespacedScope, ns, r, inShard(shard), withConfig(cfg), withEvidence(t, "evidence.tf", e))
	}

	one, two := newEvidence(t), newEvidence(t)
	alone := create(references{}, one)
	needy := create(references{env: []commonv1beta1.EnvVar{{Name: "VALUE", SecretKeyReference: value}}}, two)

	expectReady(t, c, alone)
	expectReady(t, c, needy)
	expectUsers(t, c, cfg, 2)

	c.remove(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}})
	c.remove(t, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: value.Name}})
	c.remove(t, cfg)
	c.remove(t, usageOf(alone))
	c.remove(t, usageOf(needy))

	c.remove(t, needy)
	expectCondition(t, c, needy, xpv2.TypeSynced, corev1.ConditionFalse, "cannot get Secret "+ns+"/"+value.Name, "not found")

	c.remove(t, alone)
	expectGone(t, c, alone)
	expectDone(t, one, "created", "destroyed")

	// The Secret cannot be created again, but the Workspace can be changed to need none.
	c.patch(t, needy, map[string]any{"spec": map[string]any{"forProvider": map[string]any{"env": []any{}}}})
	expectGone(t, c, needy)
	expectDone(t, two, "created", "destroyed")
	expectGone(t, c, cfg)
}
