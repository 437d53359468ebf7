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

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"

	"github.com/crossplane-contrib/provider-terraform/internal/runner"
	"github.com/crossplane-contrib/provider-terraform/internal/statelock"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

const (
	// labelStateSuffix is a label of the objects of the kubernetes backend. They have another
	// label with the name of the Terraform workspace.
	labelStateSuffix = "tfstateSecretSuffix"

	// maxEmptyState is much more than the size of an empty state.
	maxEmptyState = 64 << 10
)

// removeEmptyStates removes the empty states that the observation of the supplied Workspace has
// made in a kubernetes backend of this cluster. That backend makes a state, which is a Secret and
// a Lease, for each Terraform workspace that a command names, and init reads the default one. No
// command of the CLI reads a state without making it.
//
// A failure here is not a failure of the Workspace: the states that stay behind are empty.
func (e *external) removeEmptyStates(ctx context.Context, ws workspace.Workspace) {
	name := meta.GetExternalName(ws)

	// Another Workspace may be about to create something in it.
	if name != terraform.DefaultWorkspace && !e.locks.Users.UsedByOthers(name) {
		_ = e.emptyStates().removeNamed(ctx, name)
	}

	e.removeDefaultState(ctx)
}

// removeDefaultState removes the state of the default Terraform workspace if init has made it and
// the backend contains nothing else. The CLI cannot delete it.
func (e *external) removeDefaultState(ctx context.Context) {
	_ = e.emptyStates().removeDefault(ctx)
}

func (e *external) emptyStates() emptyStates {
	b := e.runner.KubernetesBackend()
	// A backend in another cluster may have states of the same names.
	if b.Server == "" || b.Server != e.server {
		b = runner.KubernetesBackend{}
	}

	return emptyStates{live: e.conflicts.live, kube: e.kube, backend: b}
}

// emptyStates are the states in one kubernetes backend that are empty and always were. Without a
// suffix there are none.
type emptyStates struct {
	live    client.Reader
	kube    client.Writer
	backend runner.KubernetesBackend
}

// removeNamed removes the state of the Terraform workspace of the supplied name.
func (s emptyStates) removeNamed(ctx context.Context, name string) error {
	leases, err := s.leases(ctx, client.MatchingLabels{statelock.LabelWorkspace: name})
	if err != nil || len(leases) != 1 {
		return err
	}

	return s.remove(ctx, leases[0], name)
}

// removeDefault removes the state of the default Terraform workspace, unless there are other
// states in the backend: the default state belongs to all of them.
func (s emptyStates) removeDefault(ctx context.Context) error {
	leases, err := s.leases(ctx)
	if err != nil || len(leases) != 1 || leases[0].GetLabels()[statelock.LabelWorkspace] != terraform.DefaultWorkspace {
		return err
	}

	return s.remove(ctx, leases[0], terraform.DefaultWorkspace)
}

// leases returns the locks on the states in the backend, two at most. It does not list the
// states, which may be many and large.
func (s emptyStates) leases(ctx context.Context, o ...client.ListOption) ([]coordinationv1.Lease, error) {
	if s.backend.Suffix == "" {
		return nil, nil
	}

	l := &coordinationv1.LeaseList{}
	err := s.live.List(ctx, l, append(o, client.InNamespace(s.backend.Namespace), client.MatchingLabels{statelock.LabelState: "true", labelStateSuffix: s.backend.Suffix}, client.Limit(2))...)

	return l.Items, errors.Wrap(err, "cannot list Leases")
}

// remove deletes the state of the named Terraform workspace and the supplied Lease, its lock. It
// keeps a state that is locked, is not empty or changes meanwhile.
func (s emptyStates) remove(ctx context.Context, lease coordinationv1.Lease, name string) error {
	if ptr.Deref(lease.Spec.HolderIdentity, "") != "" {
		return nil
	}

	secret := &corev1.Secret{}

	err := s.live.Get(ctx, stateKeyOf(s.backend, name), secret)
	if resource.IgnoreNotFound(err) != nil {
		return errors.Wrap(err, "cannot get state")
	}

	if err == nil {
		// A state that cannot be read, because it is encrypted for example, is not blank.
		state, unreadable := parseSecret(secret, maxEmptyState)
		if unreadable != nil || !isBlank(state) {
			return nil //nolint:nilerr // See above.
		}

		if err := s.delete(ctx, secret); err != nil {
			return err
		}
	}

	return s.delete(ctx, &lease)
}

func (s emptyStates) delete(ctx context.Context, o client.Object) error {
	uid, version := o.GetUID(), o.GetResourceVersion()
	err := s.kube.Delete(ctx, o, client.Preconditions{UID: &uid, ResourceVersion: &version})

	return errors.Wrapf(resource.IgnoreNotFound(err), "cannot delete %T %q", o, client.ObjectKeyFromObject(o))
}
