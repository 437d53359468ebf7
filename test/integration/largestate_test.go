// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	namespacedv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/namespaced/v1beta1"
)

// largeValues are resources whose values cannot be compressed. The module has the variable dir.
const largeValues = `
resource "terraform_data" "large" {
  count = 12
  input = file("${var.dir}/large-${count.index}")
}
`

func (e evidence) writeLarge(t *testing.T, size int) {
	t.Helper()

	for i := range 12 {
		text := strings.Builder{}
		for text.Len() < size {
			text.WriteString(rand.Text())
		}

		e.write(t, fmt.Sprintf("large-%d", i), text.String())
	}
}

// refuseLarge answers writes of Secrets that are larger than the limit, as the API server does.
func refuseLarge(limit int64) middleware {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.ContentLength <= limit || !strings.Contains(r.URL.Path, "/secrets") {
			next.ServeHTTP(w, r)

			return
		}

		refuseWith(w, http.StatusRequestEntityTooLarge, metav1.StatusReasonRequestEntityTooLarge, fmt.Sprintf("Request entity too large: limit is %d", limit))
	}
}

// TestLargeState has a Workspace with a state that is larger than what its backend takes. OpenTofu meets
// the limit of the API server. Newer versions of Terraform distribute a state among Secrets: Terraform meets the
// limit of a proxy.
func TestLargeState(t *testing.T) {
	t.Parallel()

	const suffix = "large"

	cases := map[string]struct {
		scope scope
		size  int // Of each value.
		opts  func(t *testing.T, c *cluster) []instanceOption
	}{
		"OpenTofu": {scope: namespacedScope, size: 200 << 10, opts: func(*testing.T, *cluster) []instanceOption { return nil }},
		"Terraform": {scope: clusterScope, size: 10 << 10, opts: func(t *testing.T, c *cluster) []instanceOption {
			t.Helper()

			return []instanceOption{withTerraform(), withCLIKubeconfig(startProxy(t, c, refuseLarge(64<<10)).kubeconfig)}
		}},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			c := shared.sharded.started(t)
			ns, shard := c.namespace(t), unique("shard")
			i := startInstance(t, c, append(tc.opts(t, c), withShard(shard))...)
			small := moduleFile(t, "evidence.tf")

			e := newEvidence(t)
			e.writeLarge(t, tc.size)
			ws := c.createWorkspace(t, tc.scope, ns, inShard(shard), withConfig(c.createConfig(t, tc.scope, ns, withBackend(ns, suffix))), withEvidence(t, "evidence.tf", e))
			expectReady(t, c, ws)

			grow := func(more string) {
				c.changeModule(t, ws, small+largeValues+more)
				expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, "Request entity too large", "errored.tfstate", "set another backend in the ProviderConfig")
				expectReason(t, c, ws, xpv2.TypeReady, xpv2.ReasonUnavailable)
				expectErroredState(t, i, ws, true)
			}

			grow("")
			grow("\nresource \"terraform_data\" \"more\" {}\n")
			eventually(t, func() error {
				c.get(t, ws)

				if s := ws.GetObservation().State; s == nil || s.Resources != 13 {
					return errors.Errorf("want the resources of the kept state in the status, got %+v", s)
				}

				return nil
			})
			expectErroredState(t, i, ws, true)

			// A plan from the state in the backend would create the large values, and destroy nothing.
			c.changeModule(t, ws, small)
			expectReady(t, c, ws)
			expectEvent(t, c, ws, "SavedState")
			expectErroredState(t, i, ws, false)

			if s := ws.GetObservation().State; s.Resources != 1 {
				t.Errorf("want a state with one resource, got %+v", s)
			}

			grow("")

			states := filepath.Join(t.TempDir(), "states")
			elsewhere := fmt.Sprintf("terraform {\n  backend \"local\" {\n    workspace_dir = %q\n  }\n}\n", states)
			other := c.createConfig(t, tc.scope, ns, configSpec{Configuration: &elsewhere})

			ref := map[string]any{"name": other.GetName()}
			if tc.scope == namespacedScope {
				ref["kind"] = namespacedv1beta1.ProviderConfigKind
			}

			c.patch(t, ws, map[string]any{"spec": map[string]any{"providerConfigRef": ref}})
			expectReady(t, c, ws)
			expectErroredState(t, i, ws, false)

			if _, err := os.Stat(filepath.Join(states, ws.GetName(), "terraform.tfstate")); err != nil {
				t.Errorf("want the state in the other backend: %v", err)
			}

			c.remove(t, ws)
			expectGone(t, c, ws)
			expectDone(t, e, "created", "destroyed")

			e = newEvidence(t)
			e.writeLarge(t, tc.size)
			ws = c.createWorkspace(t, tc.scope, ns, inShard(shard), withConfig(c.createConfig(t, tc.scope, ns, withBackend(ns, suffix))), withEvidence(t, "evidence.tf", e))
			expectReady(t, c, ws)
			grow("")
			c.remove(t, ws)
			expectGone(t, c, ws)
			expectDone(t, e, "created", "destroyed")
			expectGone(t, c, stateSecret(ws, ns, suffix))
		})
	}
}
