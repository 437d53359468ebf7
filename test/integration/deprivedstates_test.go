// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// undeletedState cannot delete the state of a deleted Workspace.
func undeletedState(t *testing.T, d *deprived) {
	t.Helper()

	ws, e := d.create(t, keptState)
	expectReady(t, d.c, ws)

	d.takeAway(t)
	d.c.remove(t, ws)
	inSynced(`cannot delete resource "secrets"`)(t, d, ws)

	d.giveBack(t)
	expectGone(t, d.c, ws)
	expectStates(t, d.c, d.states, d.ns)
	expectDone(t, e, "created", "destroyed")
}

// leftLeases cannot delete the Lease that was the lock on a deleted state. That does not keep the
// Workspace: nothing holds the lock.
func leftLeases(t *testing.T, d *deprived) {
	t.Helper()

	ws := deletedAnyway(t, d)
	expectGone(t, d.c, stateSecret(ws, d.states, d.ns))
	expectUnlocked(t, d.c, ws, d.states, d.ns)
}

// defaultState cannot find out whether a backend has other states than the empty one that init has
// made. That one stays.
func defaultState(t *testing.T, d *deprived) {
	t.Helper()

	deletedAnyway(t, d)
	expectStates(t, d.c, d.states, d.ns, "default")
}

// deletedAnyway creates and deletes a Workspace. The missing right is logged, and does not keep the
// Workspace.
func deletedAnyway(t *testing.T, d *deprived) workspace.Workspace {
	t.Helper()

	ws, e := d.create(t, keptState)
	expectReady(t, d.c, ws)

	d.takeAway(t)
	d.c.remove(t, ws)
	d.expectLogged(t)
	expectGone(t, d.c, ws)
	expectDone(t, e, "created", "destroyed")

	return ws
}

// orphanLock has an instance that is killed while its CLI makes a state. No command of the CLI
// removes that lock, and the next instance cannot remove it without the right.
func orphanLock(t *testing.T, d *deprived) {
	t.Helper()

	reached := make(chan struct{})
	reach := sync.OnceFunc(func() { close(reached) })
	p := startProxy(t, d.c, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}

		// The state of the workspace default is made by init, before that of the Workspace.
		if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/secrets") || bytes.Contains(body, []byte("tfstate-default-")) {
			r.Body = io.NopCloser(bytes.NewReader(body))
			next.ServeHTTP(w, r)

			return
		}

		reach()
		<-r.Context().Done()
	})

	d.start(t, withCLIKubeconfig(p.kubeconfig))

	ws, e := d.create(t, keptState)

	<-reached
	expectLeaseHeld(t, d.c, d.states, lockOf(ws, d.ns))
	d.i.kill(t)

	// The next process on this host knows that this one has ended, and takes the Lease at once.
	d.takeAway(t)
	d.start(t, withRoot(d.i.root))
	inSynced("cannot release Lease")(t, d, ws)

	d.giveBack(t)
	d.c.request(t, ws)
	expectEvent(t, d.c, ws, "RemovedOrphanLock")
	expectReady(t, d.c, ws)
	expectUnlocked(t, d.c, ws, d.states, d.ns)
	expectDone(t, e, "created")
}
