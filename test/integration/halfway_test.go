// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// TestHalfWay fails in the middle of an apply, in a way that makes the next plan fail, too. The status shows
// what exists.
func TestHalfWay(t *testing.T) {
	t.Parallel()

	const precondition = `
  precondition {
    condition     = terraform_data.first.output == "second"
    error_message = "This is not the second."
  }
`

	cases := map[string]struct{ reason, module string }{
		"Resource": {reason: "The second resource cannot be created.", module: `
resource "terraform_data" "second" {
  lifecycle {` + precondition + `}
}`},
		"Output": {reason: "An output fails its check.", module: `
output "second" {
  value = 2` + precondition + `}`},
	}

	for cli, use := range map[string]func(t *testing.T) (*cluster, string, string, *instance){"OpenTofu": useOpenTofu, "Terraform": useTerraform} {
		for name, tc := range cases {
			t.Run(cli+name, func(t *testing.T) {
				t.Parallel()

				c, ns, shard, _ := use(t)

				cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, "half-way"))
				ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withModule(`
resource "terraform_data" "first" {
  input = "first"
}`+tc.module))

				expectCondition(t, c, ws, xpv2.TypeReady, corev1.ConditionFalse, "The last apply failed: see Synced")
				expectReason(t, c, ws, xpv2.TypeReady, xpv2.ReasonUnavailable)
				expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, "This is not the second.")

				if s := ws.GetObservation().State; s == nil || s.Resources != 1 || s.Lineage == "" {
					t.Errorf("%s\nwant one resource in the status, got %+v", tc.reason, s)
				}

				expectEvent(t, c, ws, "AppliedChanges", "Failed: 1 added, 0 changed, 0 destroyed: create ")

				c.remove(t, ws)
				expectGone(t, c, ws)
			})
		}
	}
}

// TestHalfWayWithoutState fails in the middle of a first apply, in places that have no state before it. The Workspace
// knows what it has created there: another place is refused, and an older Workspace that creates with the same external
// name in a place of its own does not keep it from going on.
func TestHalfWayWithoutState(t *testing.T) {
	t.Parallel()

	const failing = `
output "checked" {
  value = 1
  precondition {
    condition     = terraform_data.evidence.id == ""
    error_message = "This is not ready."
  }
}
`

	place := func(t *testing.T, http bool) configSpec {
		t.Helper()

		if !http {
			return withoutBackend()
		}

		server := httptest.NewServer(&stateServer{})
		t.Cleanup(server.Close)

		return withHTTPBackend(server.URL)
	}

	cases := map[string]struct {
		reason string
		http   bool
		move   func(t *testing.T, c *cluster, ws workspace.Workspace) // To another place.
	}{
		"HTTP": {reason: "There is another backend.", http: true, move: func(t *testing.T, c *cluster, ws workspace.Workspace) {
			t.Helper()

			cfg := c.createConfig(t, namespacedScope, ws.GetNamespace(), place(t, true))
			c.patch(t, ws, map[string]any{"spec": map[string]any{
				"providerConfigRef": map[string]any{"kind": "ProviderConfig", "name": cfg.GetName()}, "forProvider": map[string]any{"initArgs": []string{"-reconfigure"}},
			}})
		}},
		"Local": {reason: "There is another external name.", move: func(t *testing.T, c *cluster, ws workspace.Workspace) {
			t.Helper()
			c.annotate(t, ws, meta.AnnotationKeyExternalName, "another")
		}},
	}

	eachCLI(t, func(t *testing.T, cli string) {
		t.Helper()

		for name, tc := range cases {
			t.Run(name, func(t *testing.T) {
				t.Parallel()

				c, ns, shard, _ := useCommon(t, cli)
				external := unique("half-way")

				if tc.http {
					external = "default"
					older := newWorkspace(namespacedScope, ns, inShard(shard), withConfig(c.createConfig(t, namespacedScope, ns, place(t, true))),
						withEvidence(t, "gated.tf", newEvidence(t)))
					meta.SetExternalName(older, external)
					c.create(t, older)
					expectCondition(t, c, older, xpv2.TypeReady, corev1.ConditionFalse, "Applying: ")
				}

				e := newEvidence(t)
				cfg := c.createConfig(t, namespacedScope, ns, place(t, tc.http))
				ws := newWorkspace(namespacedScope, ns, inShard(shard), withConfig(cfg), withEvidence(t, "evidence.tf", e),
					withModule(moduleFile(t, "evidence.tf")+failing))
				meta.SetExternalName(ws, external)
				c.create(t, ws)
				expectCondition(t, c, ws, xpv2.TypeReady, corev1.ConditionFalse, "The last apply failed: see Synced")

				if s := ws.GetObservation().State; s == nil || s.Resources != 1 || s.Lineage == "" {
					t.Errorf("want one resource in the status, got %+v", s)
				}

				tc.move(t, c, ws)
				c.changeModule(t, ws, moduleFile(t, "evidence.tf"))
				expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, "Nothing was changed. Bring the state back")

				c.annotate(t, ws, meta.AnnotationKeyExternalName, external)
				c.patch(t, ws, map[string]any{"spec": map[string]any{"providerConfigRef": map[string]any{"kind": "ProviderConfig", "name": cfg.GetName()}}})
				expectReady(t, c, ws)
				c.remove(t, ws)
				expectGone(t, c, ws)

				if diff := cmp.Diff([]string{"created", "destroyed"}, e.lines()); diff != "" {
					t.Errorf("%s: what was done: -want, +got:\n%s", tc.reason, diff)
				}
			})
		}
	})
}
