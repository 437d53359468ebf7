// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"slices"
	"strings"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"

	"github.com/crossplane-contrib/provider-terraform/internal/runner"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// A kubernetes backend keeps each state in a Secret, and locks it with a Lease. If the backend is in
// this cluster, the provider reads and removes some of them without a run of the CLI.

const (
	// Labels of these objects.
	labelState          = "tfstate"
	labelStateWorkspace = "tfstateWorkspace"
	labelStateSuffix    = "tfstateSecretSuffix"

	// annotationLockInfo on a Lease describes the lock. The holder is only its ID.
	annotationLockInfo = "app.terraform.io/lock-info"

	// annotationRemovedLock on the Secret with a state is the ID of the last orphan lock that the
	// provider has removed from the state.
	annotationRemovedLock = "terraform.crossplane.io/removed-lock"

	// maxKubernetesState limits the size of a state, which is compressed in the Secret.
	maxKubernetesState = 64 << 20

	// maxEmptyState limits the size of a state that may be empty. It is read after failed plans, too.
	maxEmptyState = 64 << 10
)

// kubernetesStates has the states of one Workspace in such a backend.
type kubernetesStates struct {
	*pass

	backend backendCLI
}

// A backendCLI knows the kubernetes backend of the Workspace.
type backendCLI interface {
	KubernetesBackend() runner.KubernetesBackend
}

// backendHere returns the backend of the Workspace, and false if it is not certain that it is a
// kubernetes backend in this cluster. A backend in another cluster may have states of the same
// names.
func (k *kubernetesStates) backendHere() (runner.KubernetesBackend, bool) {
	b := k.backend.KubernetesBackend()

	return b, b.Server != "" && b.Server == k.server && b.Suffix != ""
}

// kubernetesState returns the state in the Secret of the named Terraform workspace. The state is nil
// if the Secret has none that can be read: it may be encrypted, for example. The Secret is nil if
// there is none.
func (k *kubernetesStates) kubernetesState(ctx context.Context, b runner.KubernetesBackend, name string, limit int64) (*corev1.Secret, *terraform.State, error) {
	secret := newStateSecret(b, name)
	if err := k.live.Get(ctx, client.ObjectKeyFromObject(secret), secret); err != nil {
		return nil, nil, errors.Wrap(resource.IgnoreNotFound(err), "cannot get state")
	}

	return secret, parseSecret(secret, limit), nil
}

func newStateSecret(b runner.KubernetesBackend, name string) *corev1.Secret {
	secret := &corev1.Secret{}
	secret.SetNamespace(b.Namespace)
	secret.SetName(b.Secret(name))

	return secret
}

// sharedSecret returns the Secret with the state of the named Terraform workspace if it may be that of the other one, too, whose
// backend has another suffix: the names prod and prod-eu, with the suffixes eu-x and x, make the same name. It returns "" if
// it certainly is not.
func (k *kubernetesStates) sharedSecret(ctx context.Context, name, other string) string {
	b := k.backend.KubernetesBackend()
	if b.Suffix == "" || name == other || !strings.HasPrefix(name+"-"+b.Suffix, other+"-") {
		return ""
	}

	// With the same suffix, it is a copy. The backend labels a Secret when it creates it.
	secret := newStateSecret(b, name)
	if _, here := k.backendHere(); here && k.live.Get(ctx, client.ObjectKeyFromObject(secret), secret) == nil && secret.GetLabels()[labelStateWorkspace] == name {
		return ""
	}

	return b.Namespace + "/" + b.Secret(name)
}

// parseSecret returns the state in a Secret, as the backend compresses it, or nil.
func parseSecret(s *corev1.Secret, limit int64) *terraform.State {
	r, err := gzip.NewReader(bytes.NewReader(s.Data["tfstate"]))
	if err != nil {
		return nil
	}

	data, err := io.ReadAll(io.LimitReader(r, limit))
	if err != nil {
		return nil
	}

	state, _ := terraform.ParseState(data) // It is nil if that is no state.

	return state
}

func ownsState(ws workspace.Workspace, s *terraform.State) bool {
	return s != nil && s.Lineage != "" && s.Lineage == ws.GetOwnership().Lineage
}

// removeState removes the state of a Workspace, after everything in it was destroyed, without a
// run of the CLI. It returns false if the CLI has to try: the state is not in this cluster, is
// locked, has resources, or is not known to be that of the Workspace.
func (k *kubernetesStates) removeState(ctx context.Context, ws workspace.Workspace) bool {
	name := meta.GetExternalName(ws)

	b, here := k.backendHere()
	if !here || name == terraform.DefaultWorkspace {
		return false
	}

	return k.removeUnused(ctx, b, name, maxKubernetesState, func(s *terraform.State) bool {
		if s == nil || s.Managed > 0 {
			return false
		}

		// The state of a Workspace that never applied anything belongs to nothing.
		return ownsState(ws, s) || isBlank(s) && !k.Locks.Users.UsedByOthers(name)
	})
}

// removeEmptyStates removes the empty states that the observation of the supplied Workspace has
// made. That backend makes a state for each Terraform workspace that a command names, and init reads
// the default one. No command of the CLI reads a state without making it.
//
// A failure here is not a failure of the Workspace: the states that stay behind are empty.
func (k *kubernetesStates) removeEmptyStates(ctx context.Context, ws workspace.Workspace) {
	name := meta.GetExternalName(ws)

	// Another Workspace may be about to create something in it.
	if b, here := k.backendHere(); here && name != terraform.DefaultWorkspace && !k.Locks.Users.UsedByOthers(name) {
		k.removeUnused(ctx, b, name, maxEmptyState, isMissingOrBlank)
	}

	k.removeDefaultState(ctx)
}

// removeDefaultState removes the state of the default Terraform workspace if init has made it and
// the backend contains nothing else: it belongs to all states there. The CLI cannot delete it.
func (k *kubernetesStates) removeDefaultState(ctx context.Context) {
	b, here := k.backendHere()
	if !here {
		return
	}

	// The states themselves may be many and large. Each has a Lease, unless a removal has failed between
	// the two.
	l := &coordinationv1.LeaseList{}
	err := k.live.List(ctx, l, client.InNamespace(b.Namespace), client.MatchingLabels{labelState: "true", labelStateSuffix: b.Suffix}, client.Limit(2))

	others := slices.ContainsFunc(l.Items, func(lease coordinationv1.Lease) bool {
		return lease.GetLabels()[labelStateWorkspace] != terraform.DefaultWorkspace
	})
	if err == nil && !others {
		k.removeUnused(ctx, b, terraform.DefaultWorkspace, maxEmptyState, isMissingOrBlank)
	}
}

func isMissingOrBlank(s *terraform.State) bool { return s == nil || isBlank(s) }

// removeUnused deletes the state of the named Terraform workspace and its lock, and returns whether
// it has. It keeps a state that is locked, cannot be read, changes meanwhile, or for which unused returns
// false. unused gets nil if there is no state.
func (k *kubernetesStates) removeUnused(ctx context.Context, b runner.KubernetesBackend, name string, limit int64, unused func(s *terraform.State) bool) bool {
	secret, state, err := k.kubernetesState(ctx, b, name, limit)
	if err != nil || (secret != nil && state == nil) || !unused(state) {
		return false
	}

	lease, err := k.stateLease(ctx, b, name)
	if err != nil || (lease != nil && ptr.Deref(lease.Spec.HolderIdentity, "") != "") {
		return false
	}

	// The Lease goes first. If something locks the state before, the Lease has changed and both
	// stay. After a failure in between, the CLI or the next removal finds the Secret.
	if lease != nil && k.deleteVersion(ctx, lease) != nil {
		return false
	}

	return secret == nil || k.deleteVersion(ctx, secret) == nil
}

// leaseKey returns the name of the Lease that locks the state of the named Terraform workspace.
func leaseKey(b runner.KubernetesBackend, name string) client.ObjectKey {
	return client.ObjectKey{Namespace: b.Namespace, Name: "lock-" + b.Secret(name)}
}

// stateLease returns the lock on the state of the named Terraform workspace, or nil if there is none.
func (k *kubernetesStates) stateLease(ctx context.Context, b runner.KubernetesBackend, name string) (*coordinationv1.Lease, error) {
	lease := &coordinationv1.Lease{}

	key := leaseKey(b, name)
	if err := k.live.Get(ctx, key, lease); err != nil {
		return nil, errors.Wrapf(resource.IgnoreNotFound(err), "cannot get Lease %q", key)
	}

	return lease, nil
}

// releaseLease removes a lock on the state of the named Terraform workspace. It returns false if the
// state does not have that lock.
//
// The backend makes a state before every other operation on a workspace, including force-unlock, and
// locks the state meanwhile. A run that is killed at that moment leaves a lock that no command of
// the CLI can remove.
func (k *kubernetesStates) releaseLease(ctx context.Context, b runner.KubernetesBackend, name string, l terraform.Lock) (bool, error) {
	lease, err := k.stateLease(ctx, b, name)
	if lease == nil || ptr.Deref(lease.Spec.HolderIdentity, "") != l.ID {
		return false, err
	}

	before := lease.DeepCopy()
	lease.Spec.HolderIdentity = nil
	delete(lease.Annotations, annotationLockInfo)

	err = k.kube.Patch(ctx, lease, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))

	return err == nil, errors.Wrapf(err, "cannot release Lease %q", client.ObjectKeyFromObject(lease))
}

// deleteVersion deletes an object unless it has changed since it was read.
func (k *kubernetesStates) deleteVersion(ctx context.Context, o client.Object) error {
	uid, version := o.GetUID(), o.GetResourceVersion()

	return resource.IgnoreNotFound(k.kube.Delete(ctx, o, client.Preconditions{UID: &uid, ResourceVersion: &version}))
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
func (k *kubernetesStates) rejectLateWrite(ctx context.Context, ws workspace.Workspace, l terraform.Lock) error {
	b, here := k.backendHere()
	if !here {
		return nil
	}

	secret := newStateSecret(b, meta.GetExternalName(ws))
	before := secret.DeepCopy()
	meta.AddAnnotations(secret, map[string]string{annotationRemovedLock: l.ID})

	err := k.kube.Patch(ctx, secret, client.MergeFrom(before))

	return errors.Wrap(resource.IgnoreNotFound(err), "cannot reject late writes of the state: cannot annotate its Secret")
}
