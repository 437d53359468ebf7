// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package terraform

import (
	"archive/zip"
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/crossplane-contrib/provider-terraform/test/filesystem"
)

// emptyMirror returns an environment in which the CLI gets providers from an empty directory
// instead of a registry.
func emptyMirror(t *testing.T) []string {
	t.Helper()
	dir := t.TempDir()

	rc := filepath.Join(dir, "rc")
	if err := os.WriteFile(rc, []byte(`provider_installation { filesystem_mirror { path = "`+dir+`" } }`), 0o600); err != nil {
		t.Fatal(err)
	}

	return Environ([]string{"PATH=" + os.Getenv("PATH")}, "TF_CLI_CONFIG_FILE="+rc)
}

func TestInit(t *testing.T) {
	forEachCLI(t, func(t *testing.T, c *CLI) {
		ws := newWorkspace(t, map[string]string{
			"main.tf": "terraform {\n  backend \"local\" {}\n}\n",
			"config":  `path = "mine.tfstate"`,
		})
		ws.Name = DefaultWorkspace

		var log []string

		ws.Log = func(line string) { log = append(log, line) }

		if _, err := c.Plan(t.Context(), ws, PlanOptions{Out: filepath.Join(ws.Dir, "plan")}); !NeedsInit(err) {
			t.Fatalf("want the plan to need an init, got %v", err)
		}

		if err := c.Init(t.Context(), ws, InitOptions{BackendConfigFile: filepath.Join(ws.Dir, "config")}); err != nil {
			t.Fatalf("init: %v", err)
		}

		if text := strings.Join(log, "\n"); !strings.Contains(text, "has been successfully initialized!") {
			t.Errorf("want the output of init, got %q", text)
		}

		filesystem.Write(t, ws.Dir, map[string]string{"outputs.tf": `output "a" { value = 1 }`})
		mustApply(t, c, ws)

		if _, err := os.Stat(filepath.Join(ws.Dir, "mine.tfstate")); err != nil {
			t.Errorf("want the backend to be configured by the file: %v", err)
		}

		filesystem.Write(t, ws.Dir, map[string]string{"main.tf": "terraform {\n  backend \"local\" { path = \"other\" }\n}\n"})

		_, err := c.Plan(t.Context(), ws, PlanOptions{Out: filepath.Join(ws.Dir, "plan")})
		if !NeedsInit(err) {
			t.Errorf("want the plan to need an init after the backend has changed, got %v", err)
		}

		err = c.Init(t.Context(), ws, InitOptions{})
		if !IsBackendChange(err) || NeedsInit(err) || !strings.HasPrefix(err.Error(), "Backend configuration changed: ") {
			t.Errorf("want init to refuse to lose the old state, got %v", err)
		}

		if err := c.Init(t.Context(), ws, InitOptions{Args: []string{"-reconfigure"}}); err != nil {
			t.Errorf("want arguments to reach the CLI, got %v", err)
		}

		filesystem.Write(t, ws.Dir, map[string]string{"main.tf": "terraform {\n  backend \"local\" { path = \"third\" }\n}\n"})

		if err := c.Init(t.Context(), ws, InitOptions{Reconfigure: true}); err != nil {
			t.Errorf("want init to forget the old backend, got %v", err)
		}
	})
}

// TestInitOfNewBackend has a state in the directory, of a time without a backend.
func TestInitOfNewBackend(t *testing.T) {
	forEachCLI(t, func(t *testing.T, c *CLI) {
		for _, file := range []string{"terraform.tfstate", "terraform.tfstate.d/a/terraform.tfstate"} {
			ws := newWorkspace(t, map[string]string{
				"main.tf": "terraform {\n  backend \"local\" {\n    path = \"new\"\n  }\n}\n",
				file:      `{"version":4,"serial":1,"lineage":"l","outputs":{"o":{"value":1,"type":"number"}},"resources":[]}`,
			})

			const want = "init does not copy the state to the new backend"

			err := c.Init(t.Context(), ws, InitOptions{})
			if !IsNewBackend(err) || !IsBackendChange(err) || err.Error() != want {
				t.Errorf("%s: want %q without advice that cannot be followed, got %v", file, want, err)
			}
		}
	})
}

// TestInitWithoutBackend removes the backend of a directory. The refusal names the way out, which works.
func TestInitWithoutBackend(t *testing.T) {
	forEachCLI(t, func(t *testing.T, c *CLI) {
		ws := newWorkspace(t, map[string]string{
			"main.tf":    `output "a" { value = 1 }`,
			"backend.tf": "terraform {\n  backend \"local\" {\n    path = \"there\"\n  }\n}\n",
		})
		if err := c.Init(t.Context(), ws, InitOptions{}); err != nil {
			t.Fatal(err)
		}

		if err := os.Remove(filepath.Join(ws.Dir, "backend.tf")); err != nil {
			t.Fatal(err)
		}

		if err := c.Init(t.Context(), ws, InitOptions{}); !IsBackendChange(err) || !strings.Contains(err.Error(), `add "-reconfigure" to spec.forProvider.initArgs`) {
			t.Errorf("want the refusal to leave the state behind, got %v", err)
		}

		if err := c.Init(t.Context(), ws, InitOptions{Args: []string{"-reconfigure"}}); err != nil {
			t.Fatal(err)
		}

		if _, err := c.Plan(t.Context(), ws, PlanOptions{Out: filepath.Join(t.TempDir(), "plan")}); err != nil {
			t.Errorf("want a plan without the backend, got %v", err)
		}
	})
}

// TestVariableInBackendFile ensures that the refusal does not advise to escape the variable: all would get one state then.
func TestVariableInBackendFile(t *testing.T) {
	forEachCLI(t, func(t *testing.T, c *CLI) {
		ws := newWorkspace(t, map[string]string{
			"main.tf":     "variable \"v\" { default = \"x\" }\nterraform {\n  backend \"local\" {}\n}\n",
			"a.tfbackend": "path = \"${var.v}/state\"\n",
		})
		err := c.Init(t.Context(), ws, InitOptions{BackendConfigFile: "a.tfbackend"})

		switch {
		case c.Product == OpenTofu && err != nil:
			t.Error(err)
		case c.Product == Terraform && (err == nil || !strings.Contains(err.Error(), "Variables may not be used here: write the value itself, in quotes.")):
			t.Errorf("want the remedy, got %v", err)
		}
	})
}

func TestInitForgetsTheSelection(t *testing.T) {
	forEachCLI(t, func(t *testing.T, c *CLI) {
		ws := newWorkspace(t, map[string]string{
			"main.tf":                "terraform {\n  backend \"local\" {}\n}\n",
			".terraform/environment": "old",
			"terraform.tfstate.d/old/terraform.tfstate": `{"version":4,"serial":1,"lineage":"l","outputs":{},"resources":[]}`,
		})
		if err := c.Init(t.Context(), ws, InitOptions{}); err != nil {
			t.Fatalf("init: %v", err)
		}

		if b, err := os.ReadFile(filepath.Join(ws.Dir, ".terraform/environment")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("want no workspace to be selected, got %q, %v", b, err)
		}
	})
}

func TestInitOfInvalidConfiguration(t *testing.T) {
	forEachCLI(t, func(t *testing.T, c *CLI) {
		ws := newWorkspace(t, map[string]string{"main.tf": "output \"a\" { value =\n}\n"})
		err := c.Init(t.Context(), ws, InitOptions{})

		want := `main.tf:1: output "a": Invalid expression: Expected the start of an expression, but found an invalid expression token.`
		if err == nil || err.Error() != want {
			t.Errorf("want %q, got %v", want, err)
		}
	})
}

// TestInitOfMissingSubdirectory has a module whose repository lacks the directory in its source. The CLIs
// do not say which one it is.
func TestInitOfMissingSubdirectory(t *testing.T) {
	forEachCLI(t, func(t *testing.T, c *CLI) {
		archive := filepath.Join(t.TempDir(), "archive.zip")

		files := &bytes.Buffer{}
		z := zip.NewWriter(files)

		if err := errors.Join(z.AddFS(fstest.MapFS{"network/main.tf": {}}), z.Close(), os.WriteFile(archive, files.Bytes(), 0o600)); err != nil {
			t.Fatal(err)
		}

		ws := newWorkspace(t, map[string]string{
			"main.tf":        "module \"parent\" {\n  source = \"./parent\"\n}\n",
			"parent/main.tf": "module \"child\" {\n  source = \"" + archive + "//nowhere\"\n}\n",
		})
		err := c.Init(t.Context(), ws, InitOptions{})

		want := `module "parent.child": Failed to expand subdir globs: subdir "nowhere" not found`
		if err == nil || err.Error() != want {
			t.Errorf("want %q, got %v", want, err)
		}
	})
}

func TestNeedsInit(t *testing.T) {
	forEachCLI(t, func(t *testing.T, c *CLI) {
		t.Run("Module", func(t *testing.T) {
			ws := newWorkspace(t, map[string]string{
				"main.tf":   `module "m" { source = "./m" }`,
				"m/main.tf": `output "a" { value = 1 }`,
			})
			if _, err := c.Plan(t.Context(), ws, PlanOptions{Out: filepath.Join(ws.Dir, "plan")}); !NeedsInit(err) || NeedsStateInit(err) {
				t.Fatalf("want the plan to need an init, got %v", err)
			}

			if err := c.Init(t.Context(), ws, InitOptions{}); err != nil {
				t.Fatalf("init: %v", err)
			}

			mustPlan(t, c, ws)
		})
		t.Run("Provider", func(t *testing.T) {
			ws := newWorkspace(t, map[string]string{"main.tf": `resource "time_static" "x" {}`})
			if _, err := c.Plan(t.Context(), ws, PlanOptions{Out: filepath.Join(ws.Dir, "plan")}); !NeedsInit(err) || NeedsStateInit(err) {
				t.Errorf("want the plan to need an init, got %v", err)
			}
		})
		t.Run("ProviderOfTheState", func(t *testing.T) {
			const state = `{"version":4,"serial":1,"lineage":"l","outputs":{},"resources":[{"mode":"managed","type":"time_static","name":"x",
				"provider":"provider[\"registry.example.org/hashicorp/time\"]","instances":[{"schema_version":0,"attributes":{"id":"x"}}]}]}`

			ws := newWorkspace(t, map[string]string{"main.tf": "", "terraform.tfstate.d/ws/terraform.tfstate": state})

			ws.Env = emptyMirror(t)
			if _, err := c.Plan(t.Context(), ws, PlanOptions{Out: filepath.Join(ws.Dir, "plan")}); !NeedsInit(err) || !NeedsStateInit(err) {
				t.Errorf("want the plan to need an init for the state, got %v", err)
			}

			if _, err := c.Destroy(t.Context(), ws, nil, nil); !NeedsInit(err) || !NeedsStateInit(err) {
				t.Errorf("want the destroy to need an init for the state, got %v", err)
			}

			if err := c.Init(t.Context(), ws, InitOptions{}); err != nil {
				t.Errorf("want init to know nothing of the state, got %v", err)
			}
			// The mirror is empty. The attempt to use it proves that init has read the state.
			err := c.Init(t.Context(), ws, InitOptions{State: true})
			if err == nil || !strings.Contains(err.Error(), "registry.example.org/hashicorp/time") {
				t.Errorf("want init to get the provider of the state, got %v", err)
			}
		})
	})
}
