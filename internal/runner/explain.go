// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/module"
	"github.com/crossplane-contrib/provider-terraform/internal/regular"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
)

// explainInit adds to the error of an init what a person can do, or which state it could not read: without
// InitOptions.State, it is not that of the Workspace.
func (r *Runner) explainInit(err error) error {
	b := r.KubernetesBackend()
	missing := r.missingConfig()

	switch {
	case terraform.IsNewBackend(err):
		return errors.Errorf("%w: the state of the Workspace is in the directory %s: before, there was no backend, or one of type local. Remove the new backend, or restore the old one. Or copy the state to the new one, and move terraform.tfstate and terraform.tfstate.d out of that directory", err, r.run.Dir)
	case terraform.LacksBackendFields(err):
		return errors.Errorf("%w: set it in the backend block, or in spec.backendFile of the ProviderConfig", err)
	case missing != nil:
		return errors.Errorf("%w (%s)", err, missing)
	case !terraform.CannotReadStateInInit(err) || terraform.IsLocked(err) || terraform.HasInvalidHeader(err):
		return err
	case b.Suffix != "" && !b.fits(terraform.DefaultWorkspace):
		return b.badSuffix()
	case terraform.LacksRight(err):
		return errors.Errorf("%w: %s", err, grantRights)
	}

	remedy := ""
	if terraform.HasOtherEncryption(err) {
		remedy = ": Workspaces with different state encryptions, or without one, need different backends, such as a secret_suffix of their own. If the encryption was changed, and no Workspace has the external name default, delete that state"
	}

	return errors.Errorf("%w. This is %s, which each init reads%s", err, r.describeState(terraform.DefaultWorkspace), remedy)
}

// grantRights is what a person can do about a right that the kubernetes backend lacks.
const grantRights = "grant the provider all rights on Secrets and Leases in that namespace, or set another namespace in the backend of the ProviderConfig"

// explainState adds to the error of a run which state it could not read.
func (r *Runner) explainState(err error) error {
	if terraform.IsLocked(err) {
		return err
	}

	remedy := ""

	switch {
	case terraform.LacksRight(err):
		remedy = ": " + grantRights
	case terraform.HasOtherEncryption(err):
		remedy = ": the state encryption of the module needs the method that the state was written with, as its fallback, until an apply with changes has written the state again"
	}

	return errors.Errorf("%w (%s%s)", err, r.describeState(r.Name), remedy)
}

// describeState says where the state of the named Terraform workspace is.
func (r *Runner) describeState(name string) string {
	text := fmt.Sprintf("the state of the Terraform workspace %q of the backend", name)
	if b := r.KubernetesBackend(); b.Suffix != "" {
		text += fmt.Sprintf(", in the Secret %s/%s", b.Namespace, b.Secret(name))
	}

	return text
}

// subdirectory matches the part of an address of a module that selects a directory, unless it is a pattern.
var subdirectory = regexp.MustCompile(`[^:/]//([^?*\[]+)(?:\?|$)`)

// explainModule adds to the error of a run the remedy for a mistake in the module or its inputs, if one is known.
func (r *Runner) explainModule(err error) error {
	if err == nil {
		return nil
	}

	p := r.Inputs.parameters

	remedy := cmp.Or(r.endsWithLine(err), r.hasUnknownType(err), module.Mistaken(p), r.refersToWorkspace(err), r.lostLineBreaks(err), replacesTainted(err), readsTests(err))
	if remedy == "" && p.Source == commonv1beta1.ModuleSourceInline {
		remedy = r.needsMoreThanInline(err)
	}

	if remedy != "" {
		return errors.Errorf("%w (%s)", err, remedy)
	}

	m := subdirectory.FindStringSubmatch(p.Module)

	switch {
	// Only a directory of what was downloaded is the module, and it refers to one such as "../common".
	case m != nil && p.Source == commonv1beta1.ModuleSourceRemote && terraform.MissesParent(err):
		return errors.Errorf("%w: only the directory %q is the module. For the files beside it, remove %q from spec.forProvider.module, and set spec.forProvider.entrypoint to %q",
			err, m[1], "//"+m[1], path.Join(m[1], p.Entrypoint))
	case terraform.MissesPathModule(err):
		return errors.Errorf("%w (a path begins in the directory of the root module: to read a file of the module that is called, write ${path.module}/ in front of its path, there)", err)
	default:
		return err
	}
}

// endsWithLine returns the remedy if a value ends with a line break that may be the cause of the error, or "".
func (r *Runner) endsWithLine(err error) string {
	names, keys := r.Inputs.endingWithLine()
	if !terraform.HasInvalidHeader(err) && !terraform.IsRefused(err) {
		names = slices.DeleteFunc(names, func(name string) bool {
			variable, ok := strings.CutPrefix(name, "TF_VAR_")

			return !ok || !terraform.IsInvalid(err, variable)
		})
	}

	keys = slices.DeleteFunc(keys, func(key string) bool { return !terraform.IsInvalid(err, key) })

	switch {
	case len(names) > 0:
		return fmt.Sprintf("spec.forProvider.env %s ends with a line break: remove it from the value", strings.Join(names, ", "))
	case len(keys) > 0:
		return fmt.Sprintf("the value of %s in spec.forProvider.vars ends with a line break: in YAML, write \"value: |-\" for text without one", strings.Join(keys, ", "))
	default:
		return ""
	}
}

// hasUnknownType returns the remedy if a value is not of the type that a file declares that is too large to be parsed, or "". It was
// written as text, as which another type may take it.
func (r *Runner) hasUnknownType(err error) string {
	for _, v := range r.Inputs.parameters.Vars {
		if !terraform.IsUnsuitable(err, v.Key) {
			continue
		}

		declared, _ := r.declared() // If it cannot be read, the CLI says so.
		if file := declared.TooLarge(v.Key); file != "" {
			return fmt.Sprintf("spec.forProvider.vars, key %q: the value was taken for text, because the file %q of the module has more than %s: set it in varmap or varFiles, or split the file",
				v.Key, file, regular.Size(terraform.MaxFile))
		}
	}

	return ""
}

// lostLineBreaks returns the remedy if a field of the ProviderConfig has lost its line breaks, and that may be the cause of the error, or "".
func (r *Runner) lostLineBreaks(err error) string {
	for _, name := range []string{configurationFile, backendFile} {
		if terraform.MissesLineBreak(err, name) && isFolded(string(r.Inputs.config[name].Data)) {
			return r.Inputs.origins[name].field + ` has lost its line breaks: in YAML, write "|" instead of ">" in front of it`
		}
	}

	return ""
}

// replacesTainted returns the remedy if a plan would destroy a resource that is protected, and that may be the cause, or "". The CLI does not
// say why.
func replacesTainted(err error) string {
	if !terraform.IsProtected(err) {
		return ""
	}

	return "if its creation or a provisioner has failed before, it is tainted, and a plan replaces it: to keep it, untaint it in the state by hand. If it was changed outside of Terraform, ignore_changes keeps the change"
}

// readsTests returns the remedy if init could not read the tests of the module, which no run needs, or "".
func readsTests(err error) string {
	switch name := terraform.TestFile(err); {
	case name == "":
		return ""
	case strings.Contains(name, "/"):
		return `no run needs the tests of a module: write "-test-directory=none" into spec.forProvider.initArgs`
	default:
		return `no run needs the tests of a module: remove them, or move them to its directory tests and write "-test-directory=none" into spec.forProvider.initArgs`
	}
}

// refersToWorkspace returns the remedy if the module refers to terraform.workspace where init evaluates it, and that may be the cause of
// the error, or "".
func (r *Runner) refersToWorkspace(err error) string {
	if r.CLI.Product != terraform.OpenTofu || !terraform.NeedsInit(err) && !terraform.MissesModule(err) {
		return ""
	}

	refers := false
	_ = r.eachFile(func(name string, src []byte, _ error) { refers = refers || terraform.InitUsesWorkspace(src, name) })

	if !refers {
		return ""
	}

	return fmt.Sprintf("the backend or the source of a module refers to terraform.workspace, which is %q in init: use a variable instead", terraform.DefaultWorkspace)
}

// needsMoreThanInline returns the remedy if an inline module needs other files or another CLI, or has lost its line breaks, or "".
func (r *Runner) needsMoreThanInline(err error) string {
	const oneFile, inRepository = "an inline module is one file: ", "put it into a repository and set spec.forProvider.source to Remote"

	text := r.Inputs.parameters.Module

	switch {
	case terraform.MissesLineBreak(err, "main.tf") && strings.Contains(text, "provider::") && !r.CLI.Since(terraform.OpenTofu, "1.7.0") && !r.CLI.Since(terraform.Terraform, "1.8.0"):
		return "other versions or products have functions of providers, and spec.forProvider.cli chooses one"
	case terraform.MissesModule(err):
		return oneFile + "call a module of a repository or a registry, or " + inRepository
	case terraform.MissesFile(err):
		return oneFile + "write the text of the other one into it, give that in spec.credentials of the ProviderConfig if it is secret, or " + inRepository
	case terraform.MissesLineBreak(err, "main.tf") && isFolded(text):
		return `the module has lost its line breaks: in YAML, write "module: |" for text with line breaks`
	default:
		return ""
	}
}

// afterBlock matches the end of a block that another one of the module follows on the same line.
var afterBlock = regexp.MustCompile(`\}[ \t]+(?:resource|data|variable|output|locals|module|provider|terraform)\b[^\n]*\{`)

// isFolded says whether the text is like one that YAML has folded: it is one line, or only its more indented lines are lines.
func isFolded(text string) bool {
	return !strings.Contains(strings.TrimSpace(text), "\n") || afterBlock.MatchString(text)
}
