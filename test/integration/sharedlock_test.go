// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// TestSharedLock lets a Workspace that only observes the state of another one fail while
// the other one changes it. The lock was made during its own run and on its own host, but
// it does not belong to it.
func TestSharedLock(t *testing.T) {
	t.Parallel()

	const suffix = "shared-lock"

	c, one, shard, _ := useOpenTofu(t)
	two := c.namespace(t)

	cfg := newClusterConfig(withBackend(one, suffix))
	c.create(t, cfg)

	e := newEvidence(t)
	opts := []workspaceOption{inShard(shard), withConfig(cfg), withEvidence(t, "evidence.tf", e)}
	owner := c.createWorkspace(t, namespacedScope, one, opts...)
	expectReady(t, c, owner)

	observer := newTwin(owner, two, opts...)
	observer.SetManagementPolicies(policyObserve())
	c.create(t, observer)
	expectReady(t, c, observer)

	// The next plan of the observer takes long, and fails in the end.
	reached, fail := make(chan struct{}), make(chan struct{})
	reach := sync.OnceFunc(func() { close(reached) })
	p := startProxy(t, c, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if !strings.Contains(r.URL.Path, "/secrets") {
			next.ServeHTTP(w, r)

			return
		}

		reach()
		<-fail
		refuse(w, http.StatusInternalServerError, "InternalError")
	})

	c.patch(t, observer, map[string]any{"spec": map[string]any{"forProvider": map[string]any{
		"env": []map[string]any{{"name": "KUBE_CONFIG_PATH", "value": p.kubeconfig}},
	}}})
	<-reached

	gated := newEvidence(t)
	c.patch(t, owner, map[string]any{"spec": map[string]any{"forProvider": map[string]any{
		"module": moduleFile(t, "gated.tf"),
		"vars":   []map[string]any{{"key": "dir", "value": string(gated)}},
	}}})
	expectDone(t, gated, "created")
	lock := expectLeaseHeld(t, c, one, lockOf(owner, suffix))

	close(fail)
	expectCondition(t, c, observer, xpv2.TypeSynced, corev1.ConditionFalse, "refused by a test")
	p.become(transparent)
	eventually(t, func() error {
		c.get(t, observer)

		if s := observer.GetCondition(xpv2.TypeSynced); s.Status != corev1.ConditionTrue || s.ObservedGeneration != observer.GetGeneration() {
			return errors.Errorf("there was no further observation: %s", describe(s))
		}

		return nil
	})

	if have := expectLeaseHeld(t, c, one, lockOf(owner, suffix)); have != lock {
		t.Errorf("the owner works with lock %q, but the state has lock %q", lock, have)
	}

	gated.write(t, "gate", "")
	expectReady(t, c, owner)
	expectUnlocked(t, c, owner, one, suffix)
}
