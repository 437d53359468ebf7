// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"fmt"
	"io/fs"
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

	switch {
	case terraform.IsNewBackend(err):
		return errors.Errorf("%w: the state of the Workspace is in the directory %s, because there was no backend. Remove the backend again. Or copy the state to it, and move terraform.tfstate and terraform.tfstate.d out of that directory", err, r.run.Dir)
	case terraform.LacksBackendFields(err):
		return errors.Errorf("%w: set it in the backend block, or in spec.backendFile of the ProviderConfig", err)
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

// explainModule adds the remedy to the error of a run whose credentials or variables end with a line break, or have an unknown type, whose inline module is something
// else or cannot be used, or that misses a file or a directory above the module, such as "../common", if only a directory of
// what was downloaded is the module.
func (r *Runner) explainModule(err error) error {
	if err == nil {
		return nil
	}

	p := r.Inputs.parameters

	if remedy := r.endsWithLine(err); remedy != "" {
		return errors.Errorf("%w (%s)", err, remedy)
	}

	if remedy := r.hasUnknownType(err); remedy != "" {
		return errors.Errorf("%w (%s)", err, remedy)
	}

	if mistaken := module.Mistaken(p); mistaken != "" {
		return errors.Errorf("%w (%s)", err, mistaken)
	}

	if r.CLI.Product == terraform.OpenTofu && (terraform.NeedsInit(err) || terraform.MissesModule(err)) && r.initUsesWorkspace() {
		return errors.Errorf("%w (the backend or the source of a module refers to terraform.workspace, which is %q in init: use a variable instead)", err, terraform.DefaultWorkspace)
	}

	if field := r.foldedField(err); field != "" {
		return errors.Errorf("%w (%s has lost its line breaks: in YAML, write \"|\" instead of \">\" in front of it)", err, field)
	}

	if p.Source == commonv1beta1.ModuleSourceInline {
		return explainInline(err, p.Module, r.CLI)
	}

	m := subdirectory.FindStringSubmatch(p.Module)
	if m == nil || p.Source != commonv1beta1.ModuleSourceRemote || !terraform.MissesParent(err) {
		return err
	}

	return errors.Errorf("%w: only the directory %q is the module. For the files beside it, remove %q from spec.forProvider.module, and set spec.forProvider.entrypoint to %q",
		err, m[1], "//"+m[1], path.Join(m[1], p.Entrypoint))
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

// foldedField returns the field of the ProviderConfig whose text has lost its line breaks, if that may be the cause of the error, or "".
func (r *Runner) foldedField(err error) string {
	for _, name := range []string{configurationFile, backendFile} {
		if terraform.MissesLineBreak(err, name) && isFolded(string(r.Inputs.config[name].Data)) {
			return r.Inputs.origins[name].field
		}
	}

	return ""
}

// initUsesWorkspace says whether the module in the entrypoint refers to terraform.workspace where init evaluates it.
func (r *Runner) initUsesWorkspace() bool {
	uses := false

	_ = r.readModule(func(dir fs.FS) error {
		entries, err := fs.ReadDir(dir, ".")
		for _, name := range r.CLI.Files(entries) {
			src, _ := fs.ReadFile(dir, name)
			uses = uses || terraform.InitUsesWorkspace(src, name)
		}

		return err
	})

	return uses
}

// explainInline adds the remedy to the error of a run whose inline module needs other files, or has lost its line breaks.
func explainInline(err error, text string, cli *terraform.CLI) error {
	const oneFile, inRepository = "an inline module is one file", "put it into a repository and set spec.forProvider.source to Remote"

	switch {
	case terraform.MissesLineBreak(err, "main.tf") && strings.Contains(text, "provider::") && !cli.Since(terraform.OpenTofu, "1.7.0") && !cli.Since(terraform.Terraform, "1.8.0"):
		return errors.Errorf("%w (other versions or products have functions of providers, and spec.forProvider.cli chooses one)", err)
	case terraform.MissesModule(err):
		return errors.Errorf("%w (%s: call a module of a repository or a registry, or %s)", err, oneFile, inRepository)
	case terraform.MissesFile(err):
		return errors.Errorf("%w (%s: write the text of the other one into it, give that in spec.credentials of the ProviderConfig if it is secret, or %s)", err, oneFile, inRepository)
	case terraform.MissesLineBreak(err, "main.tf") && isFolded(text):
		return errors.Errorf("%w (the module has lost its line breaks: in YAML, write \"module: |\" for text with line breaks)", err)
	default:
		return err
	}
}

// afterBlock matches the end of a block that another one of the module follows on the same line.
var afterBlock = regexp.MustCompile(`\}[ \t]+(?:resource|data|variable|output|locals|module|provider|terraform)\b[^\n]*\{`)

// isFolded says whether the text is like one that YAML has folded: it is one line, or only its more indented lines are lines.
func isFolded(text string) bool {
	return !strings.Contains(strings.TrimSpace(text), "\n") || afterBlock.MatchString(text)
}
