// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package terraform

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-terraform/test/filesystem"
)

func TestEnviron(t *testing.T) {
	t.Parallel()

	always := []string{"CHECKPOINT_DISABLE=1", "TF_INPUT=0", "TF_IN_AUTOMATION=1"}

	cases := map[string]struct {
		reason string
		base   []string
		extra  []string
		want   []string
	}{
		"Empty": {
			reason: "these settings always tell the CLI that it runs in automation",
			want:   always,
		},
		"Dropped": {
			reason: "a variable must not choose the state or the files of a run",
			base:   []string{"TF_WORKSPACE=x", "TF_DATA_DIR=x", "TF_INPUT=1", "TF_IN_AUTOMATION=", "CHECKPOINT_DISABLE="},
			extra:  []string{"TF_WORKSPACE=y", "TF_DATA_DIR=y"},
			want:   always,
		},
		"KeptFromBase": {
			reason: "the operator's settings for all runs stay",
			base:   []string{"TF_CLI_ARGS_plan=-parallelism=3", "TF_LOG=TRACE", "TF_PLUGIN_CACHE_DIR=/p", "HOME=/h"},
			want: []string{
				"CHECKPOINT_DISABLE=1", "HOME=/h", "TF_CLI_ARGS_plan=-parallelism=3",
				"TF_INPUT=0", "TF_IN_AUTOMATION=1", "TF_LOG=TRACE", "TF_PLUGIN_CACHE_DIR=/p",
			},
		},
		"LastWins": {
			reason: "extra takes precedence over base, and later over earlier",
			base:   []string{"A=1", "A=2", "B=1", "C=1"},
			extra:  []string{"B=2", "B=3", "C=", "D=a=b"},
			want:   []string{"A=2", "B=3", "C=", "CHECKPOINT_DISABLE=1", "D=a=b", "TF_INPUT=0", "TF_IN_AUTOMATION=1"},
		},
		"ExtraDecides": {
			reason: "extra may set variables that base may not",
			extra:  []string{"TF_INPUT=1"},
			want:   []string{"CHECKPOINT_DISABLE=1", "TF_INPUT=1", "TF_IN_AUTOMATION=1"},
		},
		"NotVariables": {
			reason: "entries that are not KEY=VALUE are dropped",
			base:   []string{"", "A", "=B"},
			want:   always,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if diff := cmp.Diff(tc.want, Environ(tc.base, tc.extra...)); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestForgetSelection ensures that a link in a module does not lead to another directory.
func TestForgetSelection(t *testing.T) {
	t.Parallel()

	outside := t.TempDir()
	filesystem.Write(t, outside, map[string]string{"environment": "old"})

	ws := Workspace{Dir: t.TempDir()}
	filesystem.Write(t, ws.Dir, map[string]string{".terraform": "-> " + outside})
	ws.forget(selection)

	if _, err := os.Stat(filepath.Join(outside, "environment")); err != nil {
		t.Errorf("want the file elsewhere to stay, got %v", err)
	}
}

func TestDeleteWorkspace(t *testing.T) {
	forEachCLI(t, func(t *testing.T, c *CLI) {
		ws := newWorkspace(t, map[string]string{"main.tf": `resource "terraform_data" "x" {}`})
		mustApply(t, c, ws)

		err := c.DeleteWorkspace(t.Context(), ws)
		if !IsNotEmpty(err) || !strings.HasPrefix(err.Error(), `Workspace is not empty: Workspace "ws" is currently tracking the following resource instances: - terraform_data.x `) {
			t.Errorf("want a workspace with resources to stay, got %v", err)
		}

		if _, err := c.Destroy(t.Context(), ws, nil, nil); err != nil {
			t.Fatalf("destroy: %v", err)
		}

		// The workspace is selected, as after `workspace new`.
		filesystem.Write(t, ws.Dir, map[string]string{".terraform/environment": "ws"})

		if err := c.DeleteWorkspace(t.Context(), ws); err != nil {
			t.Errorf("want an empty workspace to be deleted, got %v", err)
		}

		if left, _ := filepath.Glob(filepath.Join(ws.Dir, "terraform.tfstate.d/*")); len(left) > 0 {
			t.Errorf("want no state to be left, got %q", left)
		}

		for _, name := range []string{"ws", "never", "-force", "not/valid"} {
			ws.Name = name
			if err := c.DeleteWorkspace(t.Context(), ws); err != nil {
				t.Errorf("want success without workspace %q, got %v", name, err)
			}
		}

		filesystem.Write(t, ws.Dir, map[string]string{"main.tf": "terraform {\n  backend \"local\" {}\n}\n"})

		if err := c.DeleteWorkspace(t.Context(), ws); !NeedsInit(err) {
			t.Errorf("want an error that requires init, got %v", err)
		}
	})
}

func TestDeleteDefaultWorkspace(t *testing.T) {
	t.Parallel()

	var runs []string

	c := findStub(t, Options{Observe: func(op string, _ time.Duration, _ error) { runs = append(runs, op) }})
	for _, name := range []string{"", DefaultWorkspace} {
		if err := c.DeleteWorkspace(t.Context(), Workspace{Dir: t.TempDir(), Name: name}); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}

	if diff := cmp.Diff([]string{"version"}, runs); diff != "" {
		t.Errorf("want no run: -want, +got:\n%s", diff)
	}
}

// stateServer keeps one state, for the backend "http", which has no named
// workspaces.
func stateServer(t *testing.T) *httptest.Server {
	t.Helper()

	var (
		mu    sync.Mutex
		state []byte
	)

	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()

		switch {
		case r.Method == http.MethodPost:
			state, _ = io.ReadAll(r.Body)
		case state == nil:
			w.WriteHeader(http.StatusNotFound)
		default:
			_, _ = w.Write(state)
		}
	}))
	t.Cleanup(s.Close)

	return s
}

func TestBackendWithoutWorkspaces(t *testing.T) {
	forEachCLI(t, func(t *testing.T, c *CLI) {
		s := stateServer(t)

		ws := newWorkspace(t, map[string]string{"main.tf": `
terraform {
  backend "http" { address = "` + s.URL + `" }
}
resource "terraform_data" "x" {}
output "o" { value = "v" }`})
		if err := c.Init(t.Context(), ws, InitOptions{}); err != nil {
			t.Fatalf("init: %v", err)
		}

		if _, err := c.Plan(t.Context(), ws, PlanOptions{Out: filepath.Join(ws.Dir, "plan")}); err == nil || !strings.Contains(err.Error(), "workspaces not supported") {
			t.Errorf("want the CLI to say why there can be no plan, got %v", err)
		}

		if err := c.DeleteWorkspace(t.Context(), ws); err != nil {
			t.Errorf("want success without a workspace, got %v", err)
		}

		ws.Name = DefaultWorkspace
		if diff := cmp.Diff(&State{}, mustPull(t, c, ws)); diff != "" {
			t.Errorf("no state: -want, +got:\n%s", diff)
		}

		mustApply(t, c, ws)

		pulled := mustPull(t, c, ws)
		if pulled.Lineage == "" || pulled.Managed != 1 {
			t.Errorf("want what was applied, got %+v", pulled)
		}

		if diff := cmp.Diff(pulled, mustPlan(t, c, ws).Prior); diff != "" {
			t.Errorf("the prior state is not the one that is there: -pulled, +prior:\n%s", diff)
		}
	})
}
