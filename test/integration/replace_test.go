// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// replace the Workspace with its manifest, as `kubectl replace` and GitOps tools do: all
// annotations and finalizers go that others have added.
func (c *cluster) replace(t *testing.T, ws workspace.Workspace, shard string) {
	t.Helper()
	eventually(t, func() error {
		c.get(t, ws)
		ws.SetLabels(map[string]string{shardLabel: shard})
		ws.SetAnnotations(nil)
		ws.SetFinalizers(nil)

		return c.kube.Update(t.Context(), ws)
	})
}

// TestReplaceDuringApply replaces a Workspace while an instance creates its resources. The
// manifest gives it to another shard.
func TestReplaceDuringApply(t *testing.T) {
	t.Parallel()

	c, ns, one, _ := useOpenTofu(t)
	_, _, two, b := useCommon(t, commonOtherTofu)
	cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, "replace"))
	ws, e := c.createGated(t, namespacedScope, ns, inShard(one), withConfig(cfg))

	c.replace(t, ws, two)
	expectEvent(t, c, ws, "WaitingForOwner", "shard "+one)
	expectClaimed(t, c, ws, leaseName+"-"+one)
	expectNotServedBy(t, b, ws)

	e.write(t, "gate", "")
	expectClaimed(t, c, ws, leaseName+"-"+two)
	expectCondition(t, c, ws, xpv2.TypeReady, corev1.ConditionTrue)
	expectDone(t, e, "created")
}
