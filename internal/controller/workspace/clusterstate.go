// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"

	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// maxClusterState limits the size of a state that is read without a run of the CLI. A Secret has
// 1 MiB at most, compressed.
const maxClusterState = 64 << 20

// currentState returns the state of a Workspace. If the kubernetes backend keeps it in this
// cluster, and it is the state that the Workspace owns, that needs no run of the CLI. All other
// states are read with the CLI.
func (e *external) currentState(ctx context.Context, ws workspace.Workspace) (*terraform.State, error) {
	if err := e.runner.Prepare(ctx); err != nil {
		return nil, err
	}

	if _, state := e.clusterState(ctx, ws); ownsState(ws, state) {
		return state, nil
	}

	return e.runner.State(ctx)
}

// removeState removes the state of a Workspace, after everything in it was destroyed, without a
// run of the CLI. It returns false if the CLI has to try: the state is not in this cluster, is
// locked, has resources, or is not known to be that of the Workspace.
func (e *external) removeState(ctx context.Context, ws workspace.Workspace) bool {
	name := meta.GetExternalName(ws)

	secret, state := e.clusterState(ctx, ws)
	if state == nil || state.Resources > 0 || name == terraform.DefaultWorkspace {
		return false
	}

	// The state of a Workspace that never applied anything belongs to nothing.
	if !ownsState(ws, state) && (!isBlank(state) || e.locks.Users.UsedByOthers(name)) {
		return false
	}

	lease := &coordinationv1.Lease{}
	lease.SetNamespace(secret.GetNamespace())
	lease.SetName("lock-" + secret.GetName())

	err := e.conflicts.live.Get(ctx, client.ObjectKeyFromObject(lease), lease)
	if resource.IgnoreNotFound(err) != nil || ptr.Deref(lease.Spec.HolderIdentity, "") != "" {
		return false
	}

	s := e.emptyStates()

	// The Lease goes first. If something locks the state before, the Lease has changed and both
	// stay. After a failure in between, the CLI or the next deletion finds the Secret.
	if err == nil && s.delete(ctx, lease) != nil {
		return false
	}

	if s.delete(ctx, secret) != nil {
		return false
	}

	e.removeDefaultState(ctx)

	return true
}

// clusterState returns the state at the place of the state of a Workspace, and the Secret that has
// it, if that is a Secret in this cluster. Both are nil if that is not certain, or if the state
// cannot be read.
func (e *external) clusterState(ctx context.Context, ws workspace.Workspace) (*corev1.Secret, *terraform.State) {
	b := e.runner.KubernetesBackend()
	if b.Server == "" || b.Server != e.server {
		return nil, nil
	}

	secret := &corev1.Secret{}
	if err := e.conflicts.live.Get(ctx, stateKeyOf(b, meta.GetExternalName(ws)), secret); err != nil {
		return nil, nil
	}

	state, err := parseSecret(secret, maxClusterState)
	if err != nil {
		return nil, nil
	}

	return secret, state
}

// ownsState says whether a state is the one that the Workspace has recorded as its own.
func ownsState(ws workspace.Workspace, s *terraform.State) bool {
	return s != nil && s.Lineage != "" && s.Lineage == ws.GetOwnership().Lineage
}
