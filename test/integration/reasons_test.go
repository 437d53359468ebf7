// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"net/http/httptest"
	"testing"

	corev1 "k8s.io/api/core/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

const (
	connectReason = "CannotConnectToProvider"
	observeReason = "CannotObserveExternalResource"
)

// expectFailure waits until the Workspace is not Synced because of a failure of the step
// with the supplied reason, and has an event with the same message.
func expectFailure(t *testing.T, c *cluster, ws workspace.Workspace, reason, text string) {
	t.Helper()

	expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, text)
	eventually(t, func() error {
		events, err := c.eventsOf(t, ws)
		if err != nil {
			return err
		}

		for _, e := range events {
			if e.Reason == reason && e.Message == ws.GetCondition(xpv2.TypeSynced).Message {
				return nil
			}
		}

		return errors.Errorf("Workspace %q has no event %s", ws.GetName(), reason)
	})
}

// TestReasons fails in every way before and during a plan. The reasons are the same as in
// all earlier versions, because users have alerts on them.
func TestReasons(t *testing.T) {
	t.Parallel()

	c, ns, shard, _ := useTerraform(t)

	cfg := c.createConfig(t, namespacedScope, ns, withoutBackend())
	create := func(t *testing.T, opts ...workspaceOption) workspace.Workspace {
		t.Helper()

		return c.createWorkspace(t, namespacedScope, ns, append([]workspaceOption{inShard(shard), withConfig(cfg)}, opts...)...)
	}

	absent := configMapVars(&keyReference{Namespace: ns, Name: "absent", Key: "key"}, nil)

	cases := map[string]struct {
		opts   []workspaceOption
		reason string
		text   string
	}{
		"Fetch": {opts: []workspaceOption{withSource(commonv1beta1.ModuleSourceRemote, "file:///no/such/directory")}, reason: connectReason, text: "cannot fetch module"},
		"Init":  {opts: []workspaceOption{withModule("terraform {\n  backend \"nonsense\" {}\n}\n")}, reason: connectReason, text: "nonsense"},
		"Var":   {opts: []workspaceOption{withModule(`output "a" { value = 1 }`), withVar("undeclared", "1")}, reason: observeReason, text: `declares no variable "undeclared"`},
		"Plan":  {opts: []workspaceOption{withModule(moduleFile(t, "invalid.tf"))}, reason: observeReason, text: "cannot plan"},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			expectFailure(t, c, create(t, tc.opts...), tc.reason, tc.text)
		})
	}

	t.Run("VarFile", func(t *testing.T) {
		t.Parallel()

		ws := c.createReferring(t, namespacedScope, ns, references{varFiles: []commonv1beta1.VarFile{absent}}, inShard(shard), withConfig(cfg), withModule(`output "a" { value = 1 }`))
		expectFailure(t, c, ws, observeReason, "varFiles[0]")
	})

	// A plan that requests an init, which then fails.
	t.Run("InitAgain", func(t *testing.T) {
		t.Parallel()

		ws := create(t, withModule(`output "a" { value = 1 }`), onlyHere())
		expectReady(t, c, ws)
		c.changeModule(t, ws, `module "a" { source = "./nowhere" }`)
		expectFailure(t, c, ws, connectReason, "cannot initialize")
	})

	// A backend that is removed after init.
	t.Run("Backend", func(t *testing.T) {
		t.Parallel()

		backend := httptest.NewServer(&stateServer{})
		defer backend.Close()

		remote := c.createConfig(t, namespacedScope, ns, withHTTPBackend(backend.URL))
		ws := newWorkspace(namespacedScope, ns, inShard(shard), withConfig(remote), withModule(`output "a" { value = 1 }`))
		meta.SetExternalName(ws, "default")
		c.create(t, ws)
		expectReady(t, c, ws)

		backend.Close()
		c.annotate(t, ws, "example.org/refresh", "1")
		expectFailure(t, c, ws, connectReason, "error loading state")
	})
}
