// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"slices"
	"strconv"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/environ"
)

// checkArgs returns an error if one of the arguments of commands, or of those in the supplied environment of the
// runs, is refused. A deletion plans nothing.
func (in *Inputs) checkArgs(env []string, deletion bool) error {
	type source struct {
		name  string
		words []string
		plans bool // A plan has the arguments, or an apply.
		runs  bool // A command that runs has the arguments.
	}

	p := in.parameters

	// Variables of commands that do not run.
	ofPlans, unused := []string{"TF_CLI_ARGS_plan", "TF_CLI_ARGS_apply"}, []string{"TF_CLI_ARGS_destroy"}
	if deletion {
		unused = ofPlans
	}

	sources := []source{
		{name: "spec.forProvider.initArgs", words: p.InitArgs, runs: true},
		{name: "spec.forProvider.planArgs", words: p.PlanArgs, plans: !deletion, runs: !deletion},
		{name: "spec.forProvider.applyArgs", words: p.ApplyArgs, plans: !deletion, runs: !deletion},
		{name: "spec.forProvider.destroyArgs", words: p.DestroyArgs, runs: deletion},
	}

	for _, kv := range env {
		if name, value, _ := strings.Cut(kv, "="); strings.HasPrefix(name, "TF_CLI_ARGS") {
			sources = append(sources, source{name: "the environment variable " + name, words: environ.Words(value), plans: !deletion && slices.Contains(ofPlans, name), runs: !slices.Contains(unused, name)})
		}
	}

	for _, s := range sources {
		for _, word := range s.words {
			// No program can have such an argument.
			if strings.Contains(word, "\x00") {
				return errors.Errorf("cannot use the argument %.100q in %s: it contains a NUL byte", word, s.name)
			}

			name, remedy := refusedArg(word, s.plans)
			if remedy == "" && s.runs {
				name, remedy = idleArg(word)
			}

			if remedy != "" {
				return errors.Errorf(`cannot use the argument "-%s" in %s: %s`, name, s.name, remedy)
			}
		}
	}

	return nil
}

const readsJSON = "remove it: the provider reads what the CLI prints as JSON. The log of the provider has the text of each run"

// idleArg returns the name of an argument with which a command would succeed without doing anything, or without saying what, and
// what to do instead.
func idleArg(word string) (name, remedy string) {
	if !strings.HasPrefix(word, "-") {
		return "", ""
	}

	name, value, _ := strings.Cut(strings.TrimLeft(word, "-"), "=")

	switch name {
	case "help", "h", "version", "v":
		return name, "remove it: nothing would be done"
	case "json":
		if on, err := strconv.ParseBool(value); err == nil && !on {
			return name, readsJSON
		}
	case "detailed-exitcode":
		// The exit code is what tells that there are changes.
		if on, err := strconv.ParseBool(value); err == nil && !on {
			return name, "remove it: no change would ever be applied"
		}
	}

	return "", ""
}

// refusedArg returns the name of an argument, and what to do instead if a command with it would write or remove a
// state without a check whose it is. The provider checks only the owner of the state in the backend, after init.
// A command that plans must not make changes without end, either: an apply makes its own plan with such an argument.
func refusedArg(word string, plans bool) (name, remedy string) {
	// No backup is harmless.
	if !strings.HasPrefix(word, "-") || word == "-backup=-" {
		return "", ""
	}

	name, _, _ = strings.Cut(strings.TrimLeft(word, "-"), "=")

	switch name {
	case "state", "state-out", "backup":
		// The CLI uses path for the Terraform workspace "default" only.
		return name, `configure workspace_dir in a backend "local" instead, or path if the external name is "default"`
	case "migrate-state", "force-copy":
		return name, "it would write a state without a check whose it is. Copy the state by hand, with its lineage (state pull, state push), and use -reconfigure instead until the Workspace is Synced"
	case "force": // Of "workspace delete" and "state push".
		return name, "remove it: it deletes or replaces a state that has resources"
	case "json-into":
		return name, readsJSON
	case "generate-config-out":
		if plans {
			return name, "the generated file is lost with the directory, and then what was imported would be destroyed. Write the resource block into the module"
		}
	case "replace":
		if plans {
			return name, "each poll, or each later change, would replace the resource again. To replace it once, change a value in its lifecycle.replace_triggered_by"
		}
	case "invoke":
		if plans {
			return name, "each poll would invoke the action again. Use action_trigger in the lifecycle of a resource"
		}
	}

	return "", ""
}
