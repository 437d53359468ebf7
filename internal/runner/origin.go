// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/environ"
	"github.com/crossplane-contrib/provider-terraform/internal/vars"
	"github.com/crossplane-contrib/provider-terraform/internal/workdir"
)

// An origin is what a file beside the module was written from.
type origin struct {
	field string
	lines bool // Its lines are those of the field.

	// rendered is the file if vars.Render has made it.
	rendered []byte
}

// origin returns what people have written where the CLI sees a line of a file: a field, and the line of it, or
// 0. It returns no field for files of a module that was fetched.
func (in *Inputs) origin(file string, line int) (field string, fieldLine int) {
	// The CLI calls the text of an option and of an environment variable so.
	if name, ok := strings.CutPrefix(file, "<value for var."); ok {
		return in.originOfVariable(strings.TrimSuffix(name, ">")), line
	}

	o := in.origins[file]

	if key := vars.KeyAt(o.rendered, line); key != "" {
		return fmt.Sprintf("%s, key %q", o.field, key), 0
	}

	if !o.lines {
		line = 0
	}

	return o.field, line
}

// unwritten returns the error of a Sync with the message, or with the field of the file that has the name of a directory.
func (in *Inputs) unwritten(err error, message string) error {
	var directory *workdir.DirectoryError
	if !errors.As(err, &directory) {
		return errors.Wrap(err, message)
	}

	field, _ := in.origin(path.Base(directory.Name), 0)

	return errors.Wrap(directory, "cannot write "+field)
}

// originOfVariable returns where the text of a variable comes from. In a plan, which most often reports it, planArgs take
// precedence over the environment.
func (in *Inputs) originOfVariable(name string) string {
	p := in.parameters
	sets := func(words []string) bool { return slices.Contains(namesOfVariables(words), "var="+name) }

	_, inEnv := environ.Lookup(in.env, "TF_VAR_"+name)

	switch {
	case sets(p.PlanArgs):
		return "spec.forProvider.planArgs -var " + name
	case inEnv:
		return "spec.forProvider.env TF_VAR_" + name
	case sets(p.DestroyArgs):
		return "spec.forProvider.destroyArgs -var " + name
	case sets(p.ApplyArgs):
		return "spec.forProvider.applyArgs -var " + name
	case sets(p.InitArgs):
		return "spec.forProvider.initArgs -var " + name
	}

	for _, kv := range in.env {
		if variable, value, _ := strings.Cut(kv, "="); strings.HasPrefix(variable, "TF_CLI_ARGS") && sets(environ.Words(value)) {
			return "spec.forProvider.env " + variable + " -var " + name
		}
	}

	return "the environment of the provider (TF_VAR_" + name + ", or -var in TF_CLI_ARGS_...)"
}
