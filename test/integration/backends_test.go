// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// A stateServer keeps one state, as the http backend wants it. That backend has
// no named workspaces. It is safe for concurrent use.
type stateServer struct {
	mu    sync.Mutex
	state []byte

	// holder of the lock, as JSON.
	holder []byte
	locks  int
}

func (s *stateServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()

	body, err := io.ReadAll(r.Body)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)

		return
	}

	switch r.Method {
	case http.MethodGet:
		if s.state == nil {
			w.WriteHeader(http.StatusNotFound)

			return
		}

		_, _ = w.Write(s.state)
	case http.MethodPost:
		s.state = body
	case http.MethodDelete:
		s.state = nil
	case "LOCK":
		if s.holder != nil {
			w.WriteHeader(http.StatusLocked)
			_, _ = w.Write(s.holder)

			return
		}

		s.holder = body
		s.locks++
	case "UNLOCK":
		s.holder = nil
	default:
		w.WriteHeader(http.StatusMethodNotAllowed)
	}
}

// expectResources fails the test unless the state has the supplied number of resources and
// is not locked.
func (s *stateServer) expectResources(t *testing.T, want int) {
	t.Helper()
	eventually(t, func() error {
		s.mu.Lock()
		defer s.mu.Unlock()

		state := struct {
			Resources []any `json:"resources"`
		}{}
		if err := json.Unmarshal(s.state, &state); err != nil {
			return errors.Wrapf(err, "cannot read state %q", s.state)
		}

		if len(state.Resources) != want || s.holder != nil || s.locks == 0 {
			return errors.Errorf("want %d resources and a lock that was held before, got %d resources, holder %q after %d locks", want, len(state.Resources), s.holder, s.locks)
		}

		return nil
	})
}

// withHTTPBackend is a ProviderConfig that keeps the state at the supplied URL.
func withHTTPBackend(url string) configSpec {
	configuration := fmt.Sprintf(`
terraform {
  backend "http" {
    address        = %[1]q
    lock_address   = %[1]q
    unlock_address = %[1]q
  }
}
`, url)

	return configSpec{Configuration: &configuration}
}

// TestBackendWithoutWorkspaces keeps the state where there are no named workspaces:
// the Workspace has to be the default one.
func TestBackendWithoutWorkspaces(t *testing.T) {
	t.Parallel()

	c, ns, shard, _ := useTerraform(t)

	states := &stateServer{}

	server := httptest.NewServer(states)
	defer server.Close()

	e := newEvidence(t)
	cfg := c.createConfig(t, clusterScope, ns, withHTTPBackend(server.URL))
	ws := newWorkspace(clusterScope, ns, inShard(shard), withConfig(cfg), withEvidence(t, "evidence.tf", e))
	meta.SetExternalName(ws, "default")
	c.create(t, ws)
	expectReady(t, c, ws)
	expectOutputs(t, c, ws, map[string]string{"greeting": `"hello"`})
	states.expectResources(t, 1)

	c.changeVars(t, ws, commonv1beta1.Var{Key: "dir", Value: string(e)}, commonv1beta1.Var{Key: "greeting", Value: "bye"})
	expectOutputs(t, c, ws, map[string]string{"greeting": `"bye"`})
	expectReady(t, c, ws)

	c.remove(t, ws)
	expectGone(t, c, ws)
	expectDone(t, e, "created", "destroyed")
	states.expectResources(t, 0)

	// With any other name the backend fails, and the error says how to fix it.
	named := c.createWorkspace(t, clusterScope, ns, inShard(shard), withConfig(cfg), withModule(moduleFile(t, "outputs.tf")))
	expectCondition(t, c, named, xpv2.TypeSynced, corev1.ConditionFalse, "workspaces not supported", `set annotation crossplane.io/external-name to "default"`)
	expectReadable(t, named.GetCondition(xpv2.TypeSynced))
	states.expectResources(t, 0)
}

// TestStateWithoutLineage has a state that another program has made: its owner cannot be known.
func TestStateWithoutLineage(t *testing.T) {
	t.Parallel()
	eachCLI(t, func(t *testing.T, cli string) {
		t.Helper()

		c, ns, shard, _ := useCommon(t, cli)

		const found = `{"version": 4, "serial": 7, "lineage": "%s", "resources": [{"mode": "managed", "type": "terraform_data", "name": "found",
			"provider": "provider[\"terraform.io/builtin/terraform\"]", "instances": [{"attributes": {"id": "i"}}]}]}`

		states := &stateServer{state: fmt.Appendf(nil, found, "")}

		server := httptest.NewServer(states)
		defer server.Close()

		e := newEvidence(t)
		ws := newWorkspace(clusterScope, ns, inShard(shard), withConfig(c.createConfig(t, clusterScope, ns, withHTTPBackend(server.URL))), withEvidence(t, "evidence.tf", e))
		meta.SetExternalName(ws, "default")
		c.create(t, ws)
		expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, `the state of Terraform workspace "default" has no lineage`, "new UUID")

		states.mu.Lock()
		states.state = fmt.Appendf(nil, found, "5c2eb2a4-3c6c-4f0e-9d3c-3f6b8f6f3b52")
		states.mu.Unlock()

		c.request(t, ws)
		expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, "the plan would destroy 1 resource (terraform_data.found)")

		if done := e.lines(); len(done) > 0 {
			t.Errorf("want nothing to be created, got %q", done)
		}
	})
}

// TestNeighbour has two Workspaces with one external name in two backends that have no state before the first apply, as
// each backend "http" has only the Terraform workspace "default". The older one was never planned again.
func TestNeighbour(t *testing.T) {
	t.Parallel()

	eachCLI(t, func(t *testing.T, cli string) {
		t.Helper()

		c, _, shard, _ := useCommon(t, cli)
		create := func() (workspace.Workspace, evidence) {
			server := httptest.NewServer(&stateServer{})
			t.Cleanup(server.Close)

			ns, e := c.namespace(t), newEvidence(t)
			ws := newWorkspace(namespacedScope, ns, inShard(shard), withConfig(c.createConfig(t, namespacedScope, ns, withHTTPBackend(server.URL))), withEvidence(t, "evidence.tf", e))
			meta.SetExternalName(ws, "default")
			c.create(t, ws)
			expectReady(t, c, ws)

			return ws, e
		}

		older, _ := create()
		c.annotate(t, older, meta.AnnotationKeyReconciliationPaused, "true")

		ws, e := create()
		c.changeVars(t, ws, commonv1beta1.Var{Key: "dir", Value: string(e)}, commonv1beta1.Var{Key: "greeting", Value: "bye"})
		expectOutputs(t, c, ws, map[string]string{"greeting": `"bye"`})
		expectReady(t, c, ws)
		c.remove(t, ws)
		expectGone(t, c, ws)

		if diff := cmp.Diff([]string{"created", "destroyed"}, e.lines()); diff != "" {
			t.Errorf("what was done: -want, +got:\n%s", diff)
		}
	})
}
