// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"

	"github.com/crossplane-contrib/provider-terraform/internal/runner"
	"github.com/crossplane-contrib/provider-terraform/internal/statelock"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// A kubernetes backend keeps each state in a Secret, and locks it with a Lease. If the backend is in
// this cluster, the provider reads and removes some of them without a run of the CLI.

const (
	// labelStateSuffix is a label of these objects. They have another label with the name of the
	// Terraform workspace.
	labelStateSuffix = "tfstateSecretSuffix"

	// annotationRemovedLock on the Secret with a state is the ID of the last orphan lock that the
	// provider has removed from the state.
	annotationRemovedLock = "terraform.crossplane.io/removed-lock"

	// maxKubernetesState limits the size of a state. A Secret has 1 MiB at most, compressed.
	maxKubernetesState = 64 << 20

	// maxEmptyState limits the size of a state that may be empty. It is read after failed plans, too.
	maxEmptyState = 64 << 10
)

// backendHere returns the backend of the Workspace, and false if it is not certain that it is a
// kubernetes backend in this cluster. A backend in another cluster may have states of the same
// names.
func (e *external) backendHere() (runner.KubernetesBackend, bool) {
	b := e.runner.KubernetesBackend()

	return b, b.Server != "" && b.Server == e.server && b.Suffix != ""
}

// kubernetesState returns the state in the Secret of the named Terraform workspace. The state is nil
// if the Secret has none that can be read: it may be encrypted, for example. The Secret is nil if
// there is none.
func (e *external) kubernetesState(ctx context.Context, b runner.KubernetesBackend, name string, limit int64) (*corev1.Secret, *terraform.State, error) {
	secret := newStateSecret(b, name)
	if err := e.live.Get(ctx, client.ObjectKeyFromObject(secret), secret); err != nil {
		return nil, nil, errors.Wrap(resource.IgnoreNotFound(err), "cannot get state")
	}

	state, err := parseSecret(secret, limit)
	if err != nil {
		return secret, nil, nil //nolint:nilerr // See above.
	}

	return secret, state, nil
}

func newStateSecret(b runner.KubernetesBackend, name string) *corev1.Secret {
	secret := &corev1.Secret{}
	secret.SetNamespace(b.Namespace)
	secret.SetName("tfstate-" + name + "-" + b.Suffix)

	return secret
}

// parseSecret returns the state in a Secret, as the backend compresses it.
func parseSecret(s *corev1.Secret, limit int64) (*terraform.State, error) {
	r, err := gzip.NewReader(bytes.NewReader(s.Data["tfstate"]))
	if err != nil {
		return nil, errors.Wrap(err, "cannot decompress state")
	}

	data, err := io.ReadAll(io.LimitReader(r, limit))
	if err != nil {
		return nil, errors.Wrap(err, "cannot decompress state")
	}

	return terraform.ParseState(data)
}

// currentState returns the state of a Workspace. It is read without a run of the CLI if it is the
// one that the Workspace owns.
func (e *external) currentState(ctx context.Context, ws workspace.Workspace) (*terraform.State, error) {
	if err := e.runner.Prepare(ctx); err != nil {
		return nil, err
	}

	if b, here := e.backendHere(); here {
		if _, state, _ := e.kubernetesState(ctx, b, meta.GetExternalName(ws), maxKubernetesState); ownsState(ws, state) {
			return state, nil
		}
	}

	return e.runner.State(ctx)
}

// ownsState says whether a state is the one that the Workspace has recorded as its own.
func ownsState(ws workspace.Workspace, s *terraform.State) bool {
	return s != nil && s.Lineage != "" && s.Lineage == ws.GetOwnership().Lineage
}

// removeState removes the state of a Workspace, after everything in it was destroyed, without a
// run of the CLI. It returns false if the CLI has to try: the state is not in this cluster, is
// locked, has resources, or is not known to be that of the Workspace.
func (e *external) removeState(ctx context.Context, ws workspace.Workspace) bool {
	name := meta.GetExternalName(ws)

	b, here := e.backendHere()
	if !here || name == terraform.DefaultWorkspace {
		return false
	}

	secret, state, err := e.kubernetesState(ctx, b, name, maxKubernetesState)
	if err != nil || state == nil || state.Resources > 0 {
		return false
	}

	// The state of a Workspace that never applied anything belongs to nothing.
	if !ownsState(ws, state) && (!isBlank(state) || e.locks.Users.UsedByOthers(name)) {
		return false
	}

	lease := &coordinationv1.Lease{}
	lease.SetNamespace(secret.GetNamespace())
	lease.SetName("lock-" + secret.GetName())

	err = e.live.Get(ctx, client.ObjectKeyFromObject(lease), lease)
	if resource.IgnoreNotFound(err) != nil || ptr.Deref(lease.Spec.HolderIdentity, "") != "" {
		return false
	}

	// The Lease goes first. If something locks the state before, the Lease has changed and both
	// stay. After a failure in between, the CLI or the next deletion finds the Secret.
	if err == nil && e.deleteVersion(ctx, lease) != nil {
		return false
	}

	if e.deleteVersion(ctx, secret) != nil {
		return false
	}

	e.removeDefaultState(ctx)

	return true
}

// removeEmptyStates removes the empty states that the observation of the supplied Workspace has
// made. That backend makes a state for each Terraform workspace that a command names, and init reads
// the default one. No command of the CLI reads a state without making it.
//
// A failure here is not a failure of the Workspace: the states that stay behind are empty.
func (e *external) removeEmptyStates(ctx context.Context, ws workspace.Workspace) {
	name := meta.GetExternalName(ws)

	// Another Workspace may be about to create something in it.
	if b, here := e.backendHere(); here && name != terraform.DefaultWorkspace && !e.locks.Users.UsedByOthers(name) {
		leases, err := e.stateLeases(ctx, b, client.MatchingLabels{statelock.LabelWorkspace: name})
		if err == nil && len(leases) == 1 {
			e.removeEmptyState(ctx, b, name, &leases[0])
		}
	}

	e.removeDefaultState(ctx)
}

// removeDefaultState removes the state of the default Terraform workspace if init has made it and
// the backend contains nothing else: it belongs to all states there. The CLI cannot delete it.
func (e *external) removeDefaultState(ctx context.Context) {
	b, here := e.backendHere()
	if !here {
		return
	}

	leases, err := e.stateLeases(ctx, b)
	if err == nil && len(leases) == 1 && leases[0].GetLabels()[statelock.LabelWorkspace] == terraform.DefaultWorkspace {
		e.removeEmptyState(ctx, b, terraform.DefaultWorkspace, &leases[0])
	}
}

// stateLeases returns the locks on the states in a backend, two at most. It does not list the states,
// which may be many and large.
func (e *external) stateLeases(ctx context.Context, b runner.KubernetesBackend, o ...client.ListOption) ([]coordinationv1.Lease, error) {
	l := &coordinationv1.LeaseList{}
	err := e.live.List(ctx, l, append(o, client.InNamespace(b.Namespace), client.MatchingLabels{statelock.LabelState: "true", labelStateSuffix: b.Suffix}, client.Limit(2))...)

	return l.Items, err
}

// removeEmptyState deletes the state of the named Terraform workspace and its lock. It keeps a state
// that is locked, was ever used or changes meanwhile.
func (e *external) removeEmptyState(ctx context.Context, b runner.KubernetesBackend, name string, lease *coordinationv1.Lease) {
	if ptr.Deref(lease.Spec.HolderIdentity, "") != "" {
		return
	}

	secret, state, err := e.kubernetesState(ctx, b, name, maxEmptyState)
	if err != nil || (secret != nil && (state == nil || !isBlank(state) || e.deleteVersion(ctx, secret) != nil)) {
		return
	}

	_ = e.deleteVersion(ctx, lease)
}

// deleteVersion deletes an object unless it has changed since it was read.
func (e *external) deleteVersion(ctx context.Context, o client.Object) error {
	uid, version := o.GetUID(), o.GetResourceVersion()

	return resource.IgnoreNotFound(e.kube.Delete(ctx, o, client.Preconditions{UID: &uid, ResourceVersion: &version}))
}

// rejectLateWrite makes the API server reject a write of the state that the dead process with the
// supplied lock has sent, and that is still in transit. The kubernetes backend writes a state only
// if the resource version of its Secret is the one that it has read. Without a new version, the
// late write would replace what the next run plans with. Found by make chaos: the network of an
// instance delivered a write five seconds after the death of the process.
//
// It does nothing for other backends, and nothing if there is no Secret. In that case the late
// request can only create the Secret, without a state: the backend writes the state into it with
// another request, which a dead process does not send.
func (e *external) rejectLateWrite(ctx context.Context, ws workspace.Workspace, l terraform.Lock) error {
	b, here := e.backendHere()
	if !here {
		return nil
	}

	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]string{annotationRemovedLock: l.ID}}})
	if err != nil {
		return errors.Wrap(err, "cannot encode patch")
	}

	err = e.kube.Patch(ctx, newStateSecret(b, meta.GetExternalName(ws)), client.RawPatch(types.MergePatchType, patch))

	return errors.Wrap(resource.IgnoreNotFound(err), "cannot reject late writes of the state: cannot annotate its Secret")
}
