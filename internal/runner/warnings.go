// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	"github.com/crossplane-contrib/provider-terraform/internal/environ"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
)

// warnings returns what only init warns of: its output is not shown otherwise.
func (r *Runner) warnings() terraform.Warnings {
	record, err := readBackend(r.run.Dir)
	configured := r.Inputs.configuredBackend()

	var d terraform.Diagnostic

	switch {
	case err != nil || r.usual != nil:
		return terraform.Warnings{}
	case r.Inputs.backend && record.Type == "":
		d = terraform.Diagnostic{
			File: r.Inputs.origins[backendFile].field, Summary: "No backend",
			Detail: "neither spec.configuration nor the module has a backend block, so that the state is on the disk of this instance only",
		}
	case configured != "" && configured != record.Type:
		d = terraform.Diagnostic{
			File: r.Inputs.origins[configurationFile].field, Summary: "Another backend",
			Detail: fmt.Sprintf("an override file of the module, such as backend_override.tf, replaces the backend %q with %q, where the state is now", configured, record.Type),
		}
	default:
		return terraform.Warnings{}
	}

	return terraform.Warnings{First: []terraform.Diagnostic{d}}
}

// warnOfInputs warns of variables of the Workspace that no run gets, see terraform.Environ, for which people expect another state, of
// files that no CLI reads, of variables that a destroy does not get, and of values that a state cannot have: with them, each plan may
// find a change.
func (r *Runner) warnOfInputs() terraform.Warnings {
	var w terraform.Warnings

	warn := func(field, summary, detail string) {
		w.First = append(w.First, terraform.Diagnostic{File: field, Summary: summary, Detail: detail})
	}

	for _, kv := range r.Inputs.env {
		if name, value, _ := strings.Cut(kv, "="); strings.HasPrefix(name, "TF_VAR_") && !utf8.ValidString(value) {
			warn("spec.forProvider.env "+name, "Not UTF-8", "a state has another value, so that each plan may find a change. Save it as UTF-8, or encode it with base64, and use base64decode in the module")
		}
	}

	for _, v := range []struct{ name, usual, instead string }{
		{"TF_WORKSPACE", r.Name, fmt.Sprintf("the Terraform workspace is %q. To use another one, set the annotation %s", r.Name, meta.AnnotationKeyExternalName)},
		{"TF_DATA_DIR", "", "the provider chooses the data directory"},
	} {
		if value, ok := environ.Lookup(r.Inputs.env, v.name); ok && value != v.usual {
			warn("spec.forProvider.env "+v.name, "No effect", v.instead)
		}
	}

	if r.DestroyLacksVariables() {
		warn("spec.forProvider.destroyArgs", "Variables without their values", "planArgs, applyArgs or TF_CLI_ARGS_... set variables with -var or -var-file, and a deletion uses their defaults, perhaps in another region. Add these arguments")
	}

	if missing := r.missingConfig(); missing != nil {
		w.First = append(w.First, *missing)
	}

	// With this variable, people choose a file themselves.
	if _, ok := environ.Lookup(r.Inputs.env, configFileVariable); ok {
		return w
	}

	const otherName = "for each CLI, the name must be " + cliConfigFile

	for _, f := range []struct{ name, instead string }{
		{".tofurc", otherName},
		{"terraform.rc", otherName},
		{"tofu.rc", otherName},
		{"credentials.tfrc.json", "the CLI does not read it here: write its tokens into blocks credentials of " + cliConfigFile},
	} {
		if _, ok := r.Inputs.config[f.name]; ok {
			warn(r.Inputs.origins[f.name].field, "No effect", f.instead)
		}
	}

	return w
}

const configFileVariable = "TF_CLI_CONFIG_FILE"

// missingConfig returns a warning if the variable names a file that does not exist, or nil. The CLI goes on without it: an init then asks
// the public registry.
func (r *Runner) missingConfig() *terraform.Diagnostic {
	name, _ := environ.Lookup(r.run.Env, configFileVariable)
	if name == "" {
		return nil
	}

	file := name
	if !filepath.IsAbs(file) {
		file = filepath.Join(r.run.Dir, file)
	}

	if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}

	place := "environment variable " + configFileVariable + " of the provider"
	if _, ok := environ.Lookup(r.Inputs.env, configFileVariable); ok {
		place = "spec.forProvider.env " + configFileVariable
	}

	return &terraform.Diagnostic{
		File: place, Summary: "No such file",
		Detail: fmt.Sprintf("the CLI runs without its configuration, because %q does not exist: give it as %s in spec.credentials of the ProviderConfig", r.Inputs.secrets.Text(name), cliConfigFile),
	}
}

// otherChanges warns of an apply that has made other changes than the plan, because each has its own arguments. Nothing
// else would tell why each poll plans the same changes again.
func (r *Runner) otherChanges(planned, made terraform.Summary) terraform.Warnings {
	p := r.Inputs.parameters
	if planned == made || r.AppliesPlan() || slices.Equal(p.PlanArgs, p.ApplyArgs) {
		return terraform.Warnings{}
	}

	return terraform.Warnings{First: []terraform.Diagnostic{{
		File: "spec.forProvider.planArgs and applyArgs", Summary: "Other changes than planned",
		Detail: fmt.Sprintf("the plan had %d to add, %d to change and %d to destroy, and the apply made %d, %d and %d. It does not use planArgs: each poll plans the rest again. Give both the same arguments",
			planned.Add, planned.Change, planned.Destroy, made.Add, made.Change, made.Destroy),
	}}}
}
