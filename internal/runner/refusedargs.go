// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"strconv"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/environ"
)

// checkArgs returns an error if one of the arguments of commands, or of those in the supplied environment of the
// runs, is refused. A deletion plans nothing.
func (in *Inputs) checkArgs(env []string, deletion bool) error {
	type source struct {
		name    string
		command string // Empty for all commands.
		words   []string
	}

	p := in.parameters
	sources := []source{
		{"spec.forProvider.initArgs", "init", p.InitArgs},
		{"spec.forProvider.planArgs", "plan", p.PlanArgs},
		{"spec.forProvider.applyArgs", "apply", p.ApplyArgs},
		{"spec.forProvider.destroyArgs", "destroy", p.DestroyArgs},
	}

	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		if command, ok := strings.CutPrefix(name, "TF_CLI_ARGS"); ok {
			sources = append(sources, source{"the environment variable " + name, strings.TrimPrefix(command, "_"), environ.Words(value)})
		}
	}

	for _, s := range sources {
		plans, runs := false, true // Whether a plan, or an apply, has the arguments, and whether a command that runs has them.

		switch s.command {
		case "plan", "apply":
			plans, runs = !deletion, !deletion
		case "destroy":
			runs = deletion
		}

		for _, word := range s.words {
			// No program can have such an argument.
			if strings.Contains(word, "\x00") {
				return errors.Errorf("cannot use the argument %.100q in %s: it contains a NUL byte", word, s.name)
			}

			if name, remedy := refusedArg(word, plans, runs); remedy != "" {
				return errors.Errorf(`cannot use the argument "-%s" in %s: %s`, name, s.name, remedy)
			}
		}
	}

	return nil
}

const (
	// The CLI uses path for the Terraform workspace "default" only.
	usePath = `configure workspace_dir in a backend "local" instead, or path if the external name is "default"`

	copyByHand  = "it would write a state without a check whose it is. Copy the state by hand, with its lineage (state pull, state push), and use -reconfigure instead until the Workspace is Synced"
	doesNothing = "remove it: nothing would be done"
	readsJSON   = "remove it: the provider reads what the CLI prints as JSON. The log of the provider has the text of each run"
)

// refusedArgs has what to do instead of the arguments with which a command would write or remove a state without a check whose it is.
// The provider checks only the owner of the state in the backend, after init.
// A command that plans must not make changes without end, either: an apply makes its own plan with such an argument.
// And a command that runs must not succeed without doing anything, or without saying what.
var refusedArgs = map[string]struct { //nolint:gochecknoglobals // It is a constant.
	remedy string
	plans  bool // It is refused only if a plan or an apply has it.
	runs   bool // It is refused only if a command that runs has it.
	off    bool // It is refused only if its value is false.
}{
	"state":         {remedy: usePath},
	"state-out":     {remedy: usePath},
	"backup":        {remedy: usePath},
	"migrate-state": {remedy: copyByHand},
	"force-copy":    {remedy: copyByHand},
	// Of "workspace delete" and "state push".
	"force":     {remedy: "remove it: it deletes or replaces a state that has resources"},
	"json-into": {remedy: readsJSON},

	"generate-config-out": {plans: true, remedy: "the generated file is lost with the directory, and then what was imported would be destroyed. Write the resource block into the module"},
	"replace":             {plans: true, remedy: "each poll, or each later change, would replace the resource again. To replace it once, change a value in its lifecycle.replace_triggered_by"},
	"invoke":              {plans: true, remedy: "each poll would invoke the action again. Use action_trigger in the lifecycle of a resource"},

	"help":    {runs: true, remedy: doesNothing},
	"h":       {runs: true, remedy: doesNothing},
	"version": {runs: true, remedy: doesNothing},
	"v":       {runs: true, remedy: doesNothing},
	"json":    {runs: true, off: true, remedy: readsJSON},
	// The exit code is what tells that there are changes.
	"detailed-exitcode": {runs: true, off: true, remedy: "remove it: no change would ever be applied"},
}

// refusedArg returns the name of an argument, and what to do instead if it is refused in such a command.
func refusedArg(word string, plans, runs bool) (name, remedy string) {
	// No backup is harmless.
	if !strings.HasPrefix(word, "-") || word == "-backup=-" {
		return "", ""
	}

	name, value, _ := environ.Option(word)
	// No value of an option begins with one. People write them as for a shell.
	if runs && strings.IndexAny(value, `"'`) == 0 {
		return name, "remove the quotation marks around its value: there is no shell that removes them"
	}

	on, err := strconv.ParseBool(value)

	refused := refusedArgs[name]
	if refused.plans && !plans || refused.runs && !runs || refused.off && (err != nil || on) {
		return "", ""
	}

	return name, refused.remedy
}
