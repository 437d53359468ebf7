// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"context"
	"path"
	"path/filepath"
	"strings"

	coordinationv1 "k8s.io/api/coordination/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/test/chaos/record"
	"github.com/crossplane-contrib/provider-terraform/test/wait"
)

// lockInfo is the annotation with which the kubernetes backend describes a lock.
const lockInfo = "app.terraform.io/lock-info"

// defaultWorkspace is the Terraform workspace that every backend has.
const defaultWorkspace = "default"

// unlockAbandoned removes the locks that only a person can remove:
//
//   - Those of a Workspace that was deleted before it had a finalizer, after its first plan had been killed.
//     Such a lock is from that plan, or from the making of the empty state, which the CLI calls "init". The
//     CLI makes the state of the default workspace, too.
//   - Those of a copy that was deleted after its apply had been killed. The claims on the Workspace that has
//     the state do not name the host, and the copy must not touch the state of another Workspace.
func (w *workspaces) unlockAbandoned(ctx context.Context) error {
	events, err := record.Read(filepath.Join(w.dir, "runs"))
	if err != nil {
		return err //nolint:wrapcheck // It names the file.
	}

	runs := readRuns(events, w.fate.names)

	for _, name := range sorted(w.all) {
		ws := w.all[name]
		if ws.removed == 0 {
			continue
		}

		for _, state := range []string{ws.state(), path.Join(path.Dir(ws.state()), defaultWorkspace)} {
			l, held, err := w.lockOf(ctx, state)
			if err != nil {
				return err
			}

			info := l.GetAnnotations()[lockInfo]
			first := strings.Contains(info, `"Operation":"init"`) || strings.Contains(info, `"Operation":"OperationTypePlan"`)

			if !held || !first && (ws.external == "" || !takenBy(ws.uid, state, info, runs)) {
				continue
			}

			if err := w.forceUnlock(ctx, state); err != nil {
				return err
			}
		}
	}

	return nil
}

// lockOf returns the lock on a state, and whether it is held.
func (w *workspaces) lockOf(ctx context.Context, state string) (*coordinationv1.Lease, bool, error) {
	l := &coordinationv1.Lease{}

	parts := strings.Split(state, "/")
	if parts[0] != "kubernetes" {
		// The kernel releases the lock of a state on disk.
		return l, false, nil
	}

	if err := w.kube.Get(ctx, client.ObjectKey{Namespace: parts[1], Name: "lock-tfstate-" + parts[3] + "-" + parts[2]}, l); err != nil {
		return l, false, client.IgnoreNotFound(err)
	}

	return l, l.Spec.HolderIdentity != nil && *l.Spec.HolderIdentity != "", nil
}

// forceUnlock removes the lock on the state of a Workspace that is gone, as a person has to
// before the Workspace is restored: a lock that an instance left behind when it died is removed by
// the next instance only as long as the status of the Workspace names the host. It waits
// until there is no run with that state.
func (w *workspaces) forceUnlock(ctx context.Context, state string) error {
	return wait.Until(ctx, wait.Patience, func() error {
		l, held, err := w.lockOf(ctx, state)
		if !held || err != nil {
			return err
		}

		for _, uid := range w.users(state) {
			busy, err := record.Busy(filepath.Join(w.dir, "locks"), uid)
			if err != nil {
				return err
			}

			if busy {
				return errors.Errorf("there is a run with the state %s", state)
			}
		}

		// A run that begins now takes the lock and changes the version.
		return client.IgnoreNotFound(w.kube.Delete(ctx, l, client.Preconditions{UID: &l.UID, ResourceVersion: &l.ResourceVersion}))
	})
}

// users returns the UIDs of all Workspaces with the supplied state. The state of the default
// workspace is made by the first runs of all others.
func (w *workspaces) users(state string) []string {
	w.mu.Lock()
	defer w.mu.Unlock()

	var uids []string

	for _, ws := range w.all {
		if ws.uid != "" && (ws.state() == state || path.Join(path.Dir(ws.state()), defaultWorkspace) == state) {
			uids = append(uids, ws.uid)
		}
	}

	return uids
}
