// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// TestSupersededState kills an instance that has an unsaved state. Another one, with
// another disk, creates everything again if a person accepts that. When the Workspace comes back to the first disk,
// the state there must not replace the one of the second instance.
func TestSupersededState(t *testing.T) {
	t.Parallel()

	c := shared.sharded.started(t)
	ns, one, two := c.namespace(t), unique("shard"), unique("shard")
	o := newOutage(t, c, "/secrets")
	a := startInstance(t, c, withShard(one), withShortLease(), withCLIKubeconfig(o.kubeconfig))
	b := startInstance(t, c, withShard(two), withShortLease())

	cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, "superseded"))
	ws, e := c.createGated(t, namespacedScope, ns, inShard(one), withConfig(cfg))

	o.begin()
	e.write(t, "gate", "")
	expectErroredState(t, a, ws, true)
	unsaved := expectRemembered(t, c, ws)
	a.kill(t)
	o.end()

	// It may have died with the lock. The next instance would wait until that is old: it has another disk.
	c.patch(t, newLease(ns, lockOf(ws, "superseded")), map[string]any{"spec": map[string]any{"holderIdentity": nil}})

	c.relabel(t, ws, two)
	// It would create everything again.
	expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, "is an old copy: expected serial ", "of lineage "+unsaved)
	expectServedBy(t, b, ws)
	expectDone(t, e, "created")

	_, loss, _ := strings.Cut(ws.GetCondition(xpv2.TypeSynced).Message, workspace.AcceptLostStateAnnotationKey+"=")
	c.annotate(t, ws, workspace.AcceptLostStateAnnotationKey, loss)
	expectReady(t, c, ws)
	expectDone(t, e, "created", "created")
	c.annotate(t, ws, requestedAt, "now")
	lineage := expectRemembered(t, c, ws)

	again := startInstance(t, c, withShard(one), withShortLease(), withRoot(a.root))
	c.relabel(t, ws, one)
	c.annotate(t, ws, requestedAt, "after the move")
	expectEvent(t, c, ws, "UnsavedState", "errored.tfstate.superseded-", "by hand")
	expectServedBy(t, again, ws)
	expectErroredState(t, again, ws, false)
	expectReady(t, c, ws)
	expectDone(t, e, "created", "created")

	if s := ws.GetObservation().State; s.Lineage != lineage || s.Resources != 1 {
		t.Errorf("want the state with lineage %s, have %+v", lineage, s)
	}
}
