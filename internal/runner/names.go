// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"fmt"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
)

// kubernetesNames describes what KubernetesBackend.fits accepts.
const kubernetesNames = `at most 63 lowercase letters, digits, "-" and ".", with a letter or a digit at both ends and on both sides of each "."`

// checkName returns an error if the CLI refuses the name of the Terraform workspace, whatever its backend.
// It would name neither the value nor the annotation.
func (r *Runner) checkName() error {
	if terraform.ValidName(r.Name) {
		return nil
	}

	return errors.Errorf("%s: it may have only ASCII letters, digits, and any of %s, and must not be \".\" or \"..\"", r.badName(), terraform.NameSymbols)
}

func (r *Runner) badName() string {
	return fmt.Sprintf("the Terraform workspace cannot have the name %.100q, with %d characters. Set the annotation %s to another name",
		r.Name, utf8.RuneCountInString(r.Name), meta.AnnotationKeyExternalName)
}

// checkBackend returns an error if the backend that init has recorded cannot keep a state with the name of
// the Terraform workspace. A kubernetes backend uses it in the names of a Secret and a Lease, and as the
// value of a label. The CLI would show what the API server says about these.
func (r *Runner) checkBackend() error {
	b := r.KubernetesBackend()
	if b.Suffix == "" || b.fits(r.Name) {
		return nil
	}

	if !b.fits(terraform.DefaultWorkspace) {
		return b.badSuffix()
	}

	return errors.Errorf("%s: the kubernetes backend takes %s", r.badName(), kubernetesNames)
}

// badSuffix is the error of a suffix that does not fit with any name.
func (b KubernetesBackend) badSuffix() error {
	return errors.Errorf("cannot use the secret_suffix %.100q of the kubernetes backend: it takes %s. Set another one", b.Suffix, kubernetesNames)
}

// fits says whether the API server accepts the objects of the named Terraform workspace. The suffix is the value of a label, too.
func (b KubernetesBackend) fits(name string) bool {
	return len(validation.IsDNS1123Subdomain(b.Secret(name))) == 0 && len(validation.IsValidLabelValue(name)) == 0 && len(validation.IsValidLabelValue(b.Suffix)) == 0
}

// Secret returns the name of the Secret with the state of the named Terraform workspace.
func (b KubernetesBackend) Secret(name string) string { return "tfstate-" + name + "-" + b.Suffix }
