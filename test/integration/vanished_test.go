// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// TestDeletionWithoutSource deletes Workspaces whose modules cannot be fetched any more. A
// module that is still on disk is used to destroy. Without it, deletion completes only if
// there is nothing to destroy.
func TestDeletionWithoutSource(t *testing.T) {
	t.Parallel()

	const suffix = "vanished"

	c, ns, one, _ := useOpenTofu(t)
	_, _, two, second := useCommon(t, commonOtherTofu)
	cfg := c.createConfig(t, clusterScope, ns, withBackend(ns, suffix))

	kept, lost := newEvidence(t), newEvidence(t)
	u := newGitUpstream(t, tree{"main.tf": moduleFile(t, "evidence.tf")})
	empty := newGitUpstream(t, versionFiles("1"))

	withDisk := c.createWorkspace(t, clusterScope, ns, inShard(one), withConfig(cfg), withUpstream(u), withVar("dir", string(kept)))
	withoutDisk := c.createWorkspace(t, clusterScope, ns, inShard(one), withConfig(cfg), withUpstream(u), withVar("dir", string(lost)))
	nothing := c.createWorkspace(t, clusterScope, ns, inShard(one), withConfig(cfg), withUpstream(empty))
	expectReady(t, c, withDisk)
	expectReady(t, c, withoutDisk)
	expectReady(t, c, nothing)

	u.door.set(doorShut)
	empty.door.set(doorShut)

	c.remove(t, withDisk)
	expectGone(t, c, withDisk)
	expectDone(t, kept, "created", "destroyed")
	expectGone(t, c, stateSecret(withDisk, ns, suffix))

	// Another instance has nothing on disk.
	for _, ws := range []workspace.Workspace{nothing, withoutDisk} {
		c.relabel(t, ws, two)
		expectClaimed(t, c, ws, leaseName+"-"+two)
	}

	c.remove(t, nothing)
	expectGone(t, c, nothing)
	expectGone(t, c, stateSecret(nothing, ns, suffix))

	c.remove(t, withoutDisk)
	expectCondition(t, c, withoutDisk, xpv2.TypeSynced, corev1.ConditionFalse, "cannot ")
	expectReason(t, c, withoutDisk, xpv2.TypeReady, xpv2.ReasonDeleting)
	expectAnotherRun(t, second, withoutDisk, "state pull")
	expectExists(t, c, withoutDisk)
	expectExists(t, c, stateSecret(withoutDisk, ns, suffix))
	expectDone(t, lost, "created")

	// The module may be anywhere when it is found again.
	back := newArchiveUpstream(t, tree{"main.tf": moduleFile(t, "evidence.tf")})
	c.patch(t, withoutDisk, map[string]any{"spec": map[string]any{"forProvider": map[string]any{
		"source": commonv1beta1.ModuleSourceRemote,
		"module": back.module,
	}}})
	expectGone(t, c, withoutDisk)
	expectDone(t, lost, "created", "destroyed")
}
