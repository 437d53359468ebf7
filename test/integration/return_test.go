// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// testReturn goes back to the existing provider-terraform, and then to this one. Of paused Workspaces, the existing provider writes only
// the status: without the states and their owners, which it does not know.
func testReturn(t *testing.T, c *cluster) {
	t.Helper()

	const suffix = "return"

	ns, root := c.namespace(t), t.TempDir()
	cfg := c.createConfig(t, clusterScope, ns, withBackend(ns, suffix))
	first := startInstance(t, c, withNamespace(ns), withRoot(root), withTerraform())

	e, gone := newEvidence(t), newEvidence(t)
	kept := c.createWorkspace(t, clusterScope, ns, withConfig(cfg), withEvidence(t, "evidence.tf", e))
	lost := c.createWorkspace(t, clusterScope, ns, withConfig(cfg), withEvidence(t, "evidence.tf", gone))
	all := []workspace.Workspace{kept, lost}

	for _, ws := range all {
		expectReady(t, c, ws)
		c.annotate(t, ws, meta.AnnotationKeyReconciliationPaused, "true")
		expectReason(t, c, ws, xpv2.TypeSynced, xpv2.ReasonReconcilePaused)
	}

	first.stop(t)

	existing := startExisting(t, c, root)

	for _, ws := range all {
		eventually(t, func() error {
			if c.get(t, ws); ws.GetOwnership().Lineage != "" {
				return errors.New("the existing provider has not written the status")
			}

			return nil
		})
	}

	if err := existing.Terminate(patience); err != nil {
		t.Fatal(err)
	}

	c.remove(t, stateSecret(lost, ns, suffix))
	startInstance(t, c, withNamespace(ns), withRoot(root), withTerraform())

	for _, ws := range all {
		c.annotate(t, ws, meta.AnnotationKeyReconciliationPaused, nil)
	}

	expectCondition(t, c, lost, xpv2.TypeSynced, corev1.ConditionFalse, ": expected the one that it was created with")
	expectDone(t, gone, "created")

	// It is not taken over, which its deletion would have to accept.
	c.remove(t, kept)
	expectGone(t, c, kept)
	expectDone(t, e, "created", "destroyed")
}
