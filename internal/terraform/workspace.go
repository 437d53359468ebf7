// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package terraform

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

// DefaultWorkspace always exists, and is the only one of a backend that has no named workspaces.
const DefaultWorkspace = "default"

// A Workspace is a root module directory and a named Terraform workspace, with what a run needs.
type Workspace struct {
	// Dir is the absolute path of the root module.
	Dir string
	// Name of the Terraform workspace, DefaultWorkspace if empty. It need not exist.
	Name string
	// Env is the complete environment of a run, as KEY=VALUE. See Environ.
	Env []string
	// Log, if not nil, gets the output of a run, line by line, in the form for people. During one
	// run it is never called by two goroutines at the same time.
	Log func(line string)
	// Redact, if not nil, hides secrets in the output of a run, before the output is cut,
	// collapsed or split into lines. It must ignore white space.
	Redact func(text string) string
}

// redacted returns text without secrets.
func (ws Workspace) redacted(text string) string {
	if ws.Redact == nil {
		return text
	}

	return ws.Redact(color.ReplaceAllString(text, "")) // A color would split a secret.
}

func (ws Workspace) name() string { return cmp.Or(ws.Name, DefaultWorkspace) }

// forgetSelection drops the workspace that was selected in this directory with `workspace
// select`: the selection would apply to runs without TF_WORKSPACE, and a selected workspace
// cannot be deleted. If it cannot be dropped, the next run reports the error.
func (ws Workspace) forgetSelection() {
	// A Root is necessary, because the module decides where .terraform points to.
	root, err := os.OpenRoot(ws.Dir)
	if err != nil {
		return
	}
	defer root.Close() //nolint:errcheck // Nothing was written.

	_ = root.Remove(".terraform/environment")
}

// Environ returns the environment of a run: base, then variables with which the CLI neither asks
// for input nor checks for new versions, then extra. The last value of a variable takes precedence.
// Each variable is there once, and the result is sorted.
//
// Variables that would change the state or the files of a run (TF_WORKSPACE, TF_DATA_DIR) are left
// out. base is the environment of this process. Its operator sets the rest, such as proxies, TF_LOG,
// TF_PLUGIN_CACHE_DIR, and TF_CLI_ARGS and similar variables: the CLI puts those before the
// arguments of the run, which therefore take precedence.
func Environ(base []string, extra ...string) []string {
	env := map[string]string{}

	for _, kv := range slices.Concat(base, []string{"TF_IN_AUTOMATION=1", "TF_INPUT=0", "CHECKPOINT_DISABLE=1"}, extra) {
		if key, _, ok := strings.Cut(kv, "="); ok && key != "" {
			env[key] = kv
		}
	}

	delete(env, "TF_WORKSPACE")
	delete(env, "TF_DATA_DIR")

	return slices.Sorted(maps.Values(env))
}

// DeleteWorkspace deletes the workspace, which must have no resources, and its state. It succeeds if
// the workspace does not or cannot exist, and if it is the default one, which always exists.
func (c *CLI) DeleteWorkspace(ctx context.Context, ws Workspace) error {
	if ws.name() == DefaultWorkspace {
		return nil
	}

	ws.forgetSelection()

	err := c.runLogged(ctx, ws, deleteWorkspaceCommand(ws.name()))
	if noWorkspace(err, ws.name()) {
		return nil
	}

	return err
}

// deleteWorkspaceCommand does not run in the workspace: the CLI does not delete its current
// workspace.
func deleteWorkspaceCommand(name string) command {
	return command{op: "workspace delete", args: []string{"workspace", "delete", "-no-color", "--", name}}
}

// IsNotEmpty reports whether err is the refusal to delete a workspace because there are
// resources in its state.
func IsNotEmpty(err error) bool {
	return anyError(err, func(_ *Error, d Diagnostic) bool { return d.says("Workspace is not empty") })
}

// noWorkspace reports whether the CLI, asked to delete a workspace, says that there is none.
// Terraform prints that without the form of a diagnostic.
func noWorkspace(err error, name string) bool {
	e := &Error{}
	if !errors.As(err, &e) || e.interrupted != nil {
		return false
	}

	said := oneLine(e.Stderr)

	return strings.Contains(said, fmt.Sprintf("Workspace %q doesn't exist", name)) ||
		strings.Contains(said, "workspaces not supported")
}
