// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/test/program"
)

// TestOrigins ensures that errors of the CLI name the field that is wrong, not the file that it was written to.
func TestOrigins(t *testing.T) {
	t.Parallel()

	key := &commonv1beta1.KeyReference{Namespace: "ns", Name: "o", Key: "k"}
	list := inline("# list\nvariable \"a\" {\n  type = list(string)\n}\n")

	large := inline("variable \"a\" {\n  type = list(string)\n}\n#" + strings.Repeat("x", terraform.MaxFile))

	cases := map[string]struct {
		reason string
		change []func(s *subject)
		want   string

		environ string // A variable of the provider.
	}{
		"VarFile": {
			reason: "It is not HCL.", want: "spec.forProvider.varFiles[0] (ConfigMap ns/o, key k), line 1: ",
			change: []func(*subject){list, func(s *subject) {
				s.VarFiles = []commonv1beta1.VarFile{{Source: commonv1beta1.VarFileSourceConfigMapKey, ConfigMapKeyReference: key}}
			}},
		},
		"OneValue": {
			reason: "It belongs into a variable of the environment.", change: []func(*subject){list, secretVarFile("o", commonv1beta1.FileFormatHCL)},
			want: "spec.forProvider.varFiles[0] (Secret ns/o, key k), line 1: Argument or block definition required: An argument or block definition is required here. To set an argument, use the equals sign \"=\" to introduce the argument value. " +
				"The key must hold a file with lines name = value. For one value, set env TF_VAR_<name> with secretKeyRef or configMapKeyRef",
		},
		"PaddedValue": {
			reason: "The end of a value in base64 looks like an argument.", change: []func(*subject){list, secretVarFile("padded", commonv1beta1.FileFormatHCL)},
			want: "an invalid expression token. The key must hold a file with lines name = value. For one value, ",
		},
		"ValueWithSign": {
			reason: "So does a password with an equals sign.", change: []func(*subject){list, secretVarFile("equals", commonv1beta1.FileFormatHCL)},
			want: "An argument definition must end with a newline. The key must hold a file with lines name = value. For one value, ",
		},
		"Phrase": {
			reason: "The CLI would show words of it, as the block that it is in.", change: []func(*subject){list, secretVarFile("phrase", commonv1beta1.FileFormatHCL)},
			want: "spec.forProvider.varFiles[0] (Secret ns/phrase, key k), line 1: Unclosed configuration block: ",
		},
		"Heredoc": {
			reason: "The last line of a file needs no line break: only the type is wrong.", change: []func(*subject){list, secretVarFile("heredoc", commonv1beta1.FileFormatHCL)},
			want: "The value of a is not suitable: list of string required",
		},
		"JSONVarFile": {
			reason: "Its text is not JSON.", want: "spec.forProvider.varFiles[0] (Secret ns/broken, key k), line 1: ",
			change: []func(*subject){list, secretVarFile("broken", commonv1beta1.FileFormatJSON)},
		},
		"Vars": {
			reason: "The line in the file means nothing.", want: `spec.forProvider.vars, key "a": `,
			change: []func(*subject){list, func(s *subject) { s.Vars = []commonv1beta1.Var{{Key: "a", Value: "[\nupper(\"x\"),\n]"}} }},
		},
		"LargeModule": {
			reason: "The type is not known, so that the list is text.", want: `(spec.forProvider.vars, key "a": the value was taken for text, because the file "main.tf" of the module has more than 2.0 MiB: set it in varmap or varFiles, or split the file)`,
			change: []func(*subject){large, func(s *subject) { s.Vars = []commonv1beta1.Var{{Key: "a", Value: `["b"]`}} }},
		},
		"VarMap": {
			reason: "It has no lines, either.", want: "spec.forProvider.varmap: ",
			change: []func(*subject){list, func(s *subject) { s.VarMap = &runtime.RawExtension{Raw: []byte(`{"variable": {"a": {}}}`)} }},
		},
		"Module":        {reason: "It is inline.", want: "spec.forProvider.module, line 2: ", change: []func(*subject){inline("#\n}")}},
		"Environment":   {reason: "Its text is not HCL.", want: "spec.forProvider.env TF_VAR_a, line 1: ", change: []func(*subject){list, environment("TF_VAR_a", "b,c")}},
		"OfProvider":    {reason: "It is not of the Workspace.", want: "the environment of the provider (TF_VAR_a, or -var in TF_CLI_ARGS_...):1: ", environ: "TF_VAR_a=b,c", change: []func(*subject){list}},
		"Option":        {reason: "An option takes precedence.", want: "spec.forProvider.planArgs -var a, line 1: ", change: []func(*subject){list, environment("TF_VAR_a", "[]"), func(s *subject) { s.PlanArgs = []string{"-var=a=b,c"} }}},
		"Fine":          {reason: "The option of another command is not wrong.", want: "spec.forProvider.env TF_VAR_a, line 1: ", change: []func(*subject){list, environment("TF_VAR_a", "b,c"), func(s *subject) { s.DestroyArgs = []string{"-var=a=[]"} }}},
		"OfCommand":     {reason: "A variable has options, too.", want: "spec.forProvider.env TF_CLI_ARGS_plan -var a, line 1: ", change: []func(*subject){list, environment("TF_CLI_ARGS_plan", "-var a=b,c")}},
		"OptionOfTwo":   {reason: "The value is the next word.", want: "spec.forProvider.planArgs -var a, line 1: ", change: []func(*subject){list, func(s *subject) { s.PlanArgs = []string{"-var", "a=b,c"} }}},
		"OptionOfVar":   {reason: "The variable has the name of the option.", want: "spec.forProvider.planArgs -var var, line 1: ", change: []func(*subject){inline("variable \"var\" {\n  type = list(string)\n}"), func(s *subject) { s.PlanArgs = []string{"-var", "var=b,c"} }}},
		"Configuration": {reason: "It is not HCL.", want: "spec.configuration of the ProviderConfig, line 2: ", change: []func(*subject){configuration("#\n}")}},
		"Backend":       {reason: "The backend has no such setting.", want: "spec.backendFile of the ProviderConfig, line 1: ", change: []func(*subject){partialBackend, func(s *subject) { s.config.BackendFile = new("nonsense = 1") }, inline("terraform {\n  backend \"local\" {}\n}")}},
		"Credentials":   {reason: "The CLI loads a file of this name.", want: `spec.credentials of the ProviderConfig, filename "terraform.tfvars", line 1: `, change: []func(*subject){credentials("terraform.tfvars")}},
		"Declaration":   {reason: "A text may name a file, too.", want: "declared at spec.configuration of the ProviderConfig:", change: []func(*subject){list, configuration("variable \"a\" {}")}},
	}

	for cliName, path := range program.CLIs(t) {
		for name, tc := range cases {
			t.Run(cliName+"/"+name, func(t *testing.T) {
				t.Parallel()

				p := newPlace(t)
				r := p.stubbed(t, firstUID, tc.change...)

				cli, err := terraform.Find(t.Context(), path, terraform.Options{})
				if err != nil {
					t.Fatal(err)
				}

				r.CLI = cli
				r.Environ = append(r.Environ, tc.environ)

				err = callPlan(t.Context(), r)
				expectError(t, tc.reason, tc.want, err)

				if err != nil && (strings.Contains(err.Error(), "crossplane") || strings.Contains(err.Error(), filepath.Base(r.Dir.Path()))) {
					t.Errorf("\n%s\nwant no name of a file of the provider, got %v", tc.reason, err)
				}
			})
		}
	}
}
