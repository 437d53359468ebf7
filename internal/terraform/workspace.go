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
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/crossplane-contrib/provider-terraform/internal/process"
)

const opDeleteWorkspace = "workspace delete"

// DefaultWorkspace always exists, and is the only one of a backend that has no named workspaces.
const DefaultWorkspace = "default"

// NameSymbols are the characters besides ASCII letters and digits that the name of a workspace may have.
const NameSymbols = "-_.~$&+:=@"

// ValidName reports whether the CLI accepts the name of a workspace, which becomes a part of a path or a URL
// in most backends. The CLI also accepts the names "." and "..", with which a backend would keep the state
// in a directory that belongs to other workspaces.
func ValidName(name string) bool {
	return name == url.PathEscape(name) && name != "." && name != ".."
}

// A Workspace is a root module directory and a named Terraform workspace, with what a run needs.
type Workspace struct {
	Dir  string   // The absolute path of the root module.
	Name string   // Of the Terraform workspace, DefaultWorkspace if empty. It need not exist.
	Env  []string // The complete environment, as KEY=VALUE. See Environ.
	// Mark, if not empty, is that of the processes of each run.
	Mark process.Mark
	// Log, if not nil, gets each line of output for people. One run makes no concurrent calls.
	Log func(line string)
	// Redact, if not nil, hides secrets in the output of a run, before the output is cut,
	// collapsed or split into lines. It must ignore white space.
	Redact func(text string) string
	// Origin, if not nil, returns the field that a file in Dir was written from, and the line of it that people
	// know, or 0. It returns no field for other files. Without a line it is called with 0.
	Origin func(file string, line int) (field string, fieldLine int)
}

// redacted returns text without secrets.
func (ws Workspace) redacted(text string) string {
	if ws.Redact == nil {
		return text
	}

	return ws.Redact(escapes.ReplaceAllString(text, "")) // A color would split a secret.
}

func (ws Workspace) name() string { return cmp.Or(ws.Name, DefaultWorkspace) }

// Records of init below .terraform. A selected workspace would apply to runs without TF_WORKSPACE, and cannot be deleted.
const (
	selection     = "environment"
	backendRecord = "terraform.tfstate"
)

// forget drops a record of init. If that fails, the next run reports it.
func (ws Workspace) forget(name string) {
	// A Root is necessary, because the module decides where .terraform points to.
	root, err := os.OpenRoot(ws.Dir)
	if err != nil {
		return
	}
	defer root.Close() //nolint:errcheck // Nothing was written.

	_ = root.Remove(".terraform/" + name)
}

// Environ returns the environment of a run, sorted: base, then variables with which the CLI neither asks
// for input nor checks for new versions, then extra. The last value of a variable takes precedence.
//
// Variables that would change the state or the files of a run are left out. The operator of this process
// sets the rest, such as proxies and TF_LOG. The arguments of a run take precedence over TF_CLI_ARGS.
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

// DeleteWorkspace deletes the workspace, which must have no resources, and its state. It does nothing if
// the workspace does not or cannot exist, or is the default one, which always exists. args are further
// arguments.
func (c *CLI) DeleteWorkspace(ctx context.Context, ws Workspace, args ...string) error {
	if ws.name() == DefaultWorkspace {
		return nil
	}

	ws.forget(selection)

	err := c.runLogged(ctx, ws, deleteWorkspaceCommand(ws.name(), args))
	if noWorkspace(err, ws.name()) {
		return nil
	}

	return err
}

// deleteWorkspaceCommand does not run in the workspace: the CLI does not delete its current one.
func deleteWorkspaceCommand(name string, args []string) command {
	return command{op: opDeleteWorkspace, args: slices.Concat([]string{"workspace", "delete", "-no-color"}, args, []string{"--", name})}
}

// IsNotEmpty reports whether err is the refusal to delete a workspace with resources.
func IsNotEmpty(err error) bool { return says(err, "Workspace is not empty") }

// noWorkspace reports whether a workspace to delete does not exist.
func noWorkspace(err error, name string) bool {
	e, ok := errors.AsType[*Error](err)

	return ok && e.interrupted == nil && wrote(err, fmt.Sprintf("Workspace %q doesn't exist", name), "workspaces not supported")
}
