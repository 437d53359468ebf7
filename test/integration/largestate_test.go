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
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
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

// grow changes the module so that the state becomes too large for its backend, and waits until the status says so.
func grow(t *testing.T, c *cluster, i *instance, ws workspace.Workspace, module string) {
	t.Helper()

	c.changeModule(t, ws, module)
	expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, "Request entity too large", "errored.tfstate", "set another backend in the ProviderConfig")
	expectReason(t, c, ws, xpv2.TypeReady, xpv2.ReasonUnavailable)
	expectErroredState(t, i, ws, true)
}

// TestLargeState has a Workspace with a state that is larger than what its backend takes, which a proxy limits.
func TestLargeState(t *testing.T) {
	t.Parallel()

	const suffix = "large"

	cases := map[string]struct {
		scope scope
		opts  []instanceOption
	}{
		"OpenTofu":  {scope: namespacedScope},
		"Terraform": {scope: clusterScope, opts: []instanceOption{withTerraform()}},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			c := shared.sharded.started(t)
			ns, shard := c.namespace(t), unique("shard")
			i := startInstance(t, c, append(tc.opts, withShard(shard), withCLIKubeconfig(startProxy(t, c, refuseLarge(64<<10)).kubeconfig))...)
			small := moduleFile(t, "evidence.tf")
			large := small + largeValues

			e := newEvidence(t)
			e.writeLarge(t, 10<<10)
			ws := c.createWorkspace(t, tc.scope, ns, inShard(shard), withConfig(c.createConfig(t, tc.scope, ns, withBackend(ns, suffix))), withEvidence(t, "evidence.tf", e))
			expectReady(t, c, ws)

			grow(t, c, i, ws, large)
			grow(t, c, i, ws, large+"\nresource \"terraform_data\" \"more\" {}\n")
			eventually(t, func() error {
				c.get(t, ws)

				if s := ws.GetObservation().State; s == nil || s.Resources != 14 {
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

			grow(t, c, i, ws, large)

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
		})
	}
}

// TestLargeStateOfServer has a state that is larger than what the API server takes. The deletion destroys what it has.
func TestLargeStateOfServer(t *testing.T) {
	t.Parallel()

	const suffix = "large"

	c := shared.sharded.started(t)
	ns, shard := c.namespace(t), unique("shard")
	i := startInstance(t, c, withShard(shard))

	e := newEvidence(t)
	e.writeLarge(t, 200<<10)
	ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(c.createConfig(t, namespacedScope, ns, withBackend(ns, suffix))), withEvidence(t, "evidence.tf", e))
	expectReady(t, c, ws)
	grow(t, c, i, ws, moduleFile(t, "evidence.tf")+largeValues)
	c.remove(t, ws)
	expectGone(t, c, ws)
	expectDone(t, e, "created", "destroyed")
	expectGone(t, c, stateSecret(ws, ns, suffix))
}
