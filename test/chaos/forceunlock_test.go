// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"context"
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

// unlockAbandoned removes the locks that only a person can remove: those of a Workspace that
// was deleted before it had a finalizer, after its first plan had been killed. Such a lock
// is from that plan, or from the making of the empty state, which the CLI calls "init".
func (w *workspaces) unlockAbandoned(ctx context.Context) error {
	for _, name := range sorted(w.all) {
		ws := w.all[name]
		if ws.removed == 0 {
			continue
		}

		l, held, err := w.lockOf(ctx, ws)
		if err != nil {
			return err
		}

		if !held {
			continue
		}

		info := l.GetAnnotations()[lockInfo]
		if !strings.Contains(info, `"Operation":"init"`) && !strings.Contains(info, `"Operation":"OperationTypePlan"`) {
			continue
		}

		if err := w.forceUnlock(ctx, ws); err != nil {
			return err
		}
	}

	return nil
}

// lockOf returns the lock on the state of a Workspace, and whether it is held.
func (w *workspaces) lockOf(ctx context.Context, ws *wanted) (*coordinationv1.Lease, bool, error) {
	state := strings.Split(ws.state(), "/")
	if state[0] != "kubernetes" {
		// The kernel releases the lock of a state on disk.
		return nil, false, nil
	}

	l := &coordinationv1.Lease{}
	if err := w.kube.Get(ctx, client.ObjectKey{Namespace: state[1], Name: "lock-tfstate-" + state[3] + "-" + state[2]}, l); err != nil {
		return nil, false, client.IgnoreNotFound(err)
	}

	return l, l.Spec.HolderIdentity != nil && *l.Spec.HolderIdentity != "", nil
}

// forceUnlock removes the lock on the state of a Workspace that is gone, as a person has to
// before it is restored: a lock that an instance left behind when it died is removed by
// the next instance only as long as the status of the Workspace names the host. It waits
// until there is no run with that state.
func (w *workspaces) forceUnlock(ctx context.Context, ws *wanted) error {
	return wait.Until(ctx, wait.Patience, func() error {
		l, held, err := w.lockOf(ctx, ws)
		if !held || err != nil {
			return err
		}

		for _, uid := range w.users(ws.state()) {
			busy, err := record.Busy(filepath.Join(w.dir, "locks"), uid)
			if err != nil {
				return err
			}

			if busy {
				return errors.Errorf("there is a run with the state %s", ws.state())
			}
		}

		// A run that begins now takes the lock and changes the version.
		return client.IgnoreNotFound(w.kube.Delete(ctx, l, client.Preconditions{UID: &l.UID, ResourceVersion: &l.ResourceVersion}))
	})
}

// users returns the UIDs of all Workspaces with the supplied state.
func (w *workspaces) users(state string) []string {
	w.mu.Lock()
	defer w.mu.Unlock()

	var uids []string

	for _, ws := range w.all {
		if ws.uid != "" && ws.state() == state {
			uids = append(uids, ws.uid)
		}
	}

	return uids
}
