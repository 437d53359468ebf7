// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package terraform

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestRefusedArguments ensures that an error names the field whose arguments the CLI refuses, and gives no advice that
// only people at a command line can follow.
func TestRefusedArguments(t *testing.T) {
	commands := map[string]func(t *testing.T, c *CLI, ws Workspace, args ...string) error{
		"init": func(t *testing.T, c *CLI, ws Workspace, args ...string) error {
			t.Helper()

			return c.Init(t.Context(), ws, InitOptions{Args: args})
		},
		"plan": func(t *testing.T, c *CLI, ws Workspace, args ...string) error {
			t.Helper()

			_, err := c.Plan(t.Context(), ws, PlanOptions{Args: args, Out: filepath.Join(ws.Dir, "plan")})

			return err
		},
		"apply": func(t *testing.T, c *CLI, ws Workspace, args ...string) error {
			t.Helper()

			_, err := c.Apply(t.Context(), ws, ApplyOptions{Args: args})

			return err
		},
		"destroy": func(t *testing.T, c *CLI, ws Workspace, args ...string) error {
			t.Helper()

			_, err := c.Destroy(t.Context(), ws, args, nil)

			return err
		},
	}

	cases := map[string]struct {
		args []string
		want string
	}{
		"Unknown":  {args: []string{"-foo"}, want: "flag provided but not defined: -foo"},
		"TwoWords": {args: []string{"-lock-timeout 1s"}, want: "flag provided but not defined: -lock-timeout 1s"},
		"Value":    {args: []string{"-lock=maybe"}, want: `invalid boolean value "maybe" for -lock: parse error`},
		"Empty":    {args: []string{""}, want: `one is empty, or neither begins with "-" nor is the value of the one before it`},
		"Boolean":  {args: []string{"-lock", "false"}, want: `one is empty, or neither begins with "-" nor is the value of the one before it`},
	}

	forEachCLI(t, func(t *testing.T, c *CLI) {
		t.Run("destroy/Mode", func(t *testing.T) {
			t.Parallel()

			const want = "spec.forProvider.destroyArgs: Refused argument: Invalid mode option: "
			if err := commands["destroy"](t, c, newWorkspace(t, map[string]string{"main.tf": ""}), "-destroy"); err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("want %q, got %v", want, err)
			}
		})

		for op, run := range commands {
			for name, tc := range cases {
				// A destroy takes this word for a plan, and refuses that.
				if op == "destroy" && (name == "Empty" || name == "Boolean") {
					continue
				}

				t.Run(op+"/"+name, func(t *testing.T) {
					t.Parallel()

					err := run(t, c, newWorkspace(t, map[string]string{"main.tf": ""}), tc.args...)

					// This one does not say what is wrong.
					if op == "init" && c.Product == Terraform {
						tc.want = "one of them is unknown, or lacks a value or has a wrong one"
					}

					want := "spec.forProvider." + op + "Args: Refused argument: " + tc.want
					if err == nil || err.Error() != want {
						t.Errorf("%q: want %q, got %v", strings.Join(tc.args, " "), want, err)
					}
				})
			}
		}

		err := commands["plan"](t, c, newWorkspace(t, map[string]string{"main.tf": ""}), "-var", "foo")
		if err == nil || !strings.HasPrefix(err.Error(), `spec.forProvider.planArgs: Refused argument: The given -var option "foo" is not correctly specified`) {
			t.Errorf("-var foo: want the argument and its field, got %v", err)
		}
	})
}

// TestRefusedEnvironment ensures that an error names the variable whose arguments the CLI refuses, and that a command on the
// state gets none that it does not know.
func TestRefusedEnvironment(t *testing.T) {
	forEachCLI(t, func(t *testing.T, c *CLI) {
		ws := newWorkspace(t, map[string]string{"main.tf": ""})
		ws.Env = append(ws.Env, "TF_CLI_ARGS=-foo")

		_, err := c.Plan(t.Context(), ws, PlanOptions{Out: filepath.Join(ws.Dir, "plan")})
		if err == nil || err.Error() != "spec.forProvider.planArgs or the environment variable TF_CLI_ARGS: Refused argument: flag provided but not defined: -foo" {
			t.Errorf("TF_CLI_ARGS: want the argument, got %v", err)
		}

		if _, err := c.PullState(t.Context(), ws); err != nil {
			t.Errorf("TF_CLI_ARGS: want the state to be read, got %v", err)
		}

		ws.Env = append(ws.Env, "TF_CLI_ARGS_state_pull=-foo")
		if _, err := c.PullState(t.Context(), ws); err == nil || err.Error() != "the environment variable TF_CLI_ARGS_state_pull: Refused argument: flag provided but not defined: -foo" {
			t.Errorf("TF_CLI_ARGS_state_pull: want the argument, got %v", err)
		}
	})
}

// TestArgumentsOfFiles has arguments that name files which do not exist.
func TestArgumentsOfFiles(t *testing.T) {
	const remedy = " Its path is relative to spec.forProvider.entrypoint"

	forEachCLI(t, func(t *testing.T, c *CLI) {
		ws := newWorkspace(t, map[string]string{"main.tf": ""})

		_, err := c.Plan(t.Context(), ws, PlanOptions{Args: []string{"-var-file=env/prod.tfvars"}, Out: filepath.Join(ws.Dir, "plan")})
		if err == nil || !strings.HasPrefix(err.Error(), "spec.forProvider.planArgs: ") || !strings.HasSuffix(err.Error(), remedy) {
			t.Errorf("plan: want the field and how to correct it, got %v", err)
		}

		err = c.Init(t.Context(), newWorkspace(t, map[string]string{"main.tf": "terraform {\n  backend \"local\" {}\n}\n"}), InitOptions{Args: []string{"-backend-config=env/prod.hcl"}})
		if err == nil || !strings.HasPrefix(err.Error(), "spec.forProvider.initArgs: ") || !strings.HasSuffix(err.Error(), remedy) {
			t.Errorf("init: want the field and how to correct it, got %v", err)
		}
	})
}
