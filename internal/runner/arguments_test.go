// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/internal/workdir"
	"github.com/crossplane-contrib/provider-terraform/test/filesystem"
	"github.com/crossplane-contrib/provider-terraform/test/program"
)

// TestArguments ensures which variables each run of each CLI gets, for each way to set them.
func TestArguments(t *testing.T) {
	t.Parallel()

	const (
		vars  = "-var-file=DIR/crossplane-provider-terraform-vars.tfvars"
		file  = "-var-file=DIR/crossplane-provider-terraform-0.tfvars.json"
		plan  = "plan -json -detailed-exitcode -input=false -lock=false"
		apply = "apply -json -input=false"
	)

	ways := map[string]struct {
		change func(s *subject)
		files  string // That each run gets which takes variables.

		// planArgs, applyArgs and destroyArgs are arguments of the Workspace.
		planArgs, applyArgs, destroyArgs string

		notInState bool // The place of the state depends on no variable.

		ownPlan  bool   // The apply makes one.
		applyEnv string // The arguments that an apply of a saved plan gets in the environment.
	}{
		"None": {change: func(*subject) {}},
		"Vars": {change: func(s *subject) { s.Vars = []commonv1beta1.Var{{Key: "a", Value: "b"}} }, files: vars},
		"VarMap": {
			change: func(s *subject) { s.VarMap = &runtime.RawExtension{Raw: []byte(`{"a": "b"}`)} }, files: file,
		},
		"VarFiles": {
			change: func(s *subject) { variables(s); s.Vars, s.VarFiles = nil, s.VarFiles[1:] }, files: file,
		},
		"All": {
			change: func(s *subject) { variables(s); s.VarMap = &runtime.RawExtension{Raw: []byte(`{}`)} },
			files:  vars + " -var-file=DIR/crossplane-provider-terraform-0.tfvars -var-file=DIR/crossplane-provider-terraform-1.tfvars.json -var-file=DIR/crossplane-provider-terraform-2.tfvars.json",
		},
		"NotInState": {
			change: func(s *subject) { s.Vars, s.Module = []commonv1beta1.Var{{Key: "a", Value: "b"}}, `variable "a" {}` }, files: vars, notInState: true,
		},
		"Env":       {change: environment("TF_VAR_a", "b")},
		"ArgsOfAll": {change: environment("TF_CLI_ARGS", "-var=a=b"), ownPlan: true},
		"ArgsOfPlan": {
			change:   environment("TF_CLI_ARGS_plan", `-parallelism=1 "-var=a=it's" --var-file f.tfvars -var`),
			applyEnv: ` '-var=a=it'\''s' '--var-file' 'f.tfvars' '-var'`,
		},
		"ArgsOfApply": {change: environment("TF_CLI_ARGS_apply", "-var=a=b"), ownPlan: true},
		"Arguments": {
			change: func(s *subject) {
				s.Vars = []commonv1beta1.Var{{Key: "a", Value: "b"}}
				s.PlanArgs, s.ApplyArgs, s.DestroyArgs = []string{"-var=a=p"}, []string{"-var=a=a"}, []string{"-var=a=d"}
			},
			files: vars, planArgs: "-var=a=p", applyArgs: "-var=a=a", destroyArgs: "-var=a=d", ownPlan: true,
		},
	}

	// Whether a run takes variables.
	clis := map[string]struct{ state, savedPlan bool }{
		"Terraform v1.5.7":      {},
		"Terraform v1.11.4":     {},
		"Terraform v1.15.0":     {},
		"OpenTofu v1.7.0":       {},
		"OpenTofu v1.8.0":       {state: true},
		"OpenTofu v1.10.9":      {state: true},
		"OpenTofu v1.11.0-rc1":  {state: true, savedPlan: true},
		"OpenTofu v1.12.6":      {state: true, savedPlan: true},
		"OpenTofu v2.0.0":       {state: true, savedPlan: true},
		"OpenTofu vdevelopment": {},
	}

	for cli, takes := range clis {
		for way, w := range ways {
			t.Run(cli+"/"+way, func(t *testing.T) {
				t.Parallel()

				p := newPlace(t)
				p.answer(t, "plan", planned)

				r := p.stubbed(t, firstUID, w.change, func(s *subject) {
					if !w.notInState {
						s.Module = "variable \"a\" {}\nterraform {\n  backend \"local\" {\n    path = var.a\n  }\n}\n"
					}
				})
				r.CLI = p.cli(t, "cli", cli)

				pl, err := r.Plan(t.Context(), false)
				if err != nil {
					t.Fatal(err)
				}

				_, applied := r.Apply(t.Context(), pl, nil, nil)
				path := pathIn(r, terraform.ErroredStateFile)

				expectError(t, "the runs", "", errors.Join(applied, callDestroy(t.Context(), r), callUnlock(t.Context(), r),
					os.WriteFile(path, nil, 0o600), r.PushState(t.Context(), path, nil), callDeleteWorkspace(t.Context(), r)))

				join := func(words ...string) string {
					return strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), " ")
				}
				only := func(takes bool) string { return map[bool]string{true: w.files}[takes] }
				inState := only(takes.state && !w.notInState)

				applyRun := join(apply, only(takes.savedPlan), w.applyArgs, "RECORDS/run.tfplan")
				if w.ownPlan {
					applyRun = join(apply, w.files, w.applyArgs, "-auto-approve")
				}

				want := []string{
					join(initRun, w.files),
					join(plan, w.files, w.planArgs, "-out=RECORDS/run.tfplan"),
					join(pullRun, inState),
					applyRun,
					join("destroy -json -auto-approve -input=false", w.files, w.destroyArgs),
					join("force-unlock -force -no-color", inState, "-- id"),
					join("state push -no-color", inState, "-- DIR/errored.tfstate"),
					join("workspace delete -no-color", inState, "-- ws"),
				}
				if diff := cmp.Diff(want, p.ran(t, r)); diff != "" {
					t.Errorf("runs: -want, +got:\n%s", diff)
				}

				wantEnv := ""
				if takes.savedPlan {
					wantEnv = w.applyEnv
				}

				if got := p.environs(t)[3]["TF_CLI_ARGS_apply"]; way != "ArgsOfApply" && got != wantEnv {
					t.Errorf("TF_CLI_ARGS_apply of an apply: want %q, got %q", wantEnv, got)
				}
			})
		}
	}
}

// encode returns the values of variables as JSON.
func encode(t *testing.T, values map[string]string) string {
	t.Helper()

	data, err := json.Marshal(values)
	if err != nil {
		t.Fatal(err)
	}

	return string(data)
}

// contentOf returns the values of variables in the syntax of a file.
func contentOf(t *testing.T, file string, values map[string]string) string {
	t.Helper()

	if strings.HasSuffix(file, ".json") {
		return encode(t, values)
	}

	var lines strings.Builder
	for name, value := range values {
		fmt.Fprintf(&lines, "%s = %q\n", name, value)
	}

	return lines.String()
}

// TestModuleValues ensures which value a variable gets that the module itself sets, too, in each of the files that
// a CLI loads by itself. Each variable is named after such a file and the way in which the Workspace sets it.
func TestModuleValues(t *testing.T) {
	t.Parallel()

	// env has the precedence that it has for the CLI.
	winners := map[string]string{"vars": "vars", "varfile": "varfile", "varmap": "varmap", "planargs": "planargs", "env": "module", "none": "module"}

	files := []string{"terraform.tfvars", "terraform.tfvars.json", "x.auto.tfvars", "x.auto.tfvars.json"}
	module, want := filesystem.Files{}, map[string]string{}
	values := map[string]map[string]string{}

	for way, winner := range winners {
		values[way] = map[string]string{}

		for n := range files {
			name := fmt.Sprintf("v%d_%s", n, way)
			values[way][name], want[name] = way, winner
			module["main.tf"] += fmt.Sprintf("variable %q {}\noutput %q { value = var.%s }\n", name, name, name)
		}
	}

	for n, file := range files {
		own := map[string]string{}
		for way := range winners {
			own[fmt.Sprintf("v%d_%s", n, way)] = "module"
		}

		module[file] = contentOf(t, file, own)
	}

	for name, path := range program.CLIs(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			p := newPlace(t)
			address := t.TempDir()
			filesystem.Write(t, address, module)

			r := p.stubbed(t, firstUID, remote(address), func(s *subject) {
				var args []string

				for v := range values["vars"] {
					s.Vars = append(s.Vars, commonv1beta1.Var{Key: v, Value: "vars"})
				}

				for v := range values["env"] {
					s.Env = append(s.Env, commonv1beta1.EnvVar{Name: "TF_VAR_" + v, Value: "env"})
				}

				for v := range values["planargs"] {
					args = append(args, "-var="+v+"=planargs")
				}

				s.Env = append(s.Env, commonv1beta1.EnvVar{Name: "TF_CLI_ARGS_plan", Value: strings.Join(args, " ")})
				s.VarMap = &runtime.RawExtension{Raw: []byte(encode(t, values["varmap"]))}
			})

			file := varFileName(9, true)
			r.Inputs.varFiles = append([]string{file}, r.Inputs.varFiles...)
			r.Inputs.config[file] = workdir.File{Data: []byte(encode(t, values["varfile"]))}

			cli, err := terraform.Find(t.Context(), path, terraform.Options{})
			if err != nil {
				t.Fatal(err)
			}

			r.CLI = cli

			pl, err := r.Plan(t.Context(), false)
			if err != nil {
				t.Fatal(err)
			}

			if !r.AppliesPlan() {
				t.Error("AppliesPlan(): want the plan that was made")
			}

			applied, err := r.Apply(t.Context(), pl, nil, nil)
			if err != nil {
				t.Fatal(err)
			}

			got := map[string]string{}
			for name, o := range applied.Outputs {
				got[name] = strings.Trim(string(o.Value), `"`)
			}

			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("values: -want, +got:\n%s", diff)
			}
		})
	}
}

// TestVariablesOfInit ensures that variables in the sources of modules reach init, and that another value fetches
// another module.
func TestVariablesOfInit(t *testing.T) {
	t.Parallel()

	tofu, ok := program.CLIs(t)["tofu"]
	if !ok {
		t.Skip("no tofu")
	}

	const text = `
variable "src" { type = string }

module "m" { source = var.src }

output "o" { value = module.m.o }
`

	cases := map[string]func(value string) func(s *subject){
		"Vars": func(value string) func(s *subject) {
			return func(s *subject) { s.Vars = []commonv1beta1.Var{{Key: "src", Value: value}} }
		},
		"VarMap": func(value string) func(s *subject) {
			return func(s *subject) { s.VarMap = &runtime.RawExtension{Raw: []byte(`{"src": "` + value + `"}`)} }
		},
		"Env": func(value string) func(s *subject) { return environment("TF_VAR_src", value) },
	}

	address := t.TempDir()
	filesystem.Write(t, address, filesystem.Files{"main.tf": text, "a/main.tf": `output "o" { value = "a" }`, "b/main.tf": `output "o" { value = "b" }`})

	for name, set := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			p := newPlace(t)

			cli, err := terraform.Find(t.Context(), tofu, terraform.Options{})
			if err != nil {
				t.Fatal(err)
			}

			// The second one changes the first, and the third one is another Workspace.
			for n, uid := range []string{firstUID, firstUID, secondUID} {
				value := []string{"a", "b", "b"}[n]
				r := p.stubbed(t, uid, remote(address), set("./"+value))
				r.CLI = cli

				pl, err := r.Plan(t.Context(), false)
				if err != nil {
					t.Fatal(err)
				}

				applied, err := r.Apply(t.Context(), pl, nil, nil)
				if err != nil {
					t.Fatal(err)
				}

				if got := string(applied.Outputs["o"].Value); got != `"`+value+`"` {
					t.Errorf("output in turn %d: want %q, got %s", n, value, got)
				}

				if err := r.Close(); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// TestVariablesOfState ensures that runs that use the state get variables that OpenTofu evaluates with the module.
func TestVariablesOfState(t *testing.T) {
	t.Parallel()

	tofu, ok := program.CLIs(t)["tofu"]
	if !ok {
		t.Skip("no tofu")
	}

	cli, err := terraform.Find(t.Context(), tofu, terraform.Options{})
	if err != nil {
		t.Fatal(err)
	}

	cases := map[string]string{
		"Constant":       "variable \"x\" {\n  type  = string\n  const = true\n}\nresource \"terraform_data\" \"a\" {\n  input = var.x\n}\n",
		"ModuleOfModule": "variable \"x\" { type = string }\nmodule \"c\" {\n  source = \"./c\"\n  src    = var.x\n}\nresource \"terraform_data\" \"a\" {}\n",
		"Default":        "variable \"x\" { default = \"./e\" }\nmodule \"c\" {\n  source = \"./c\"\n  src    = var.x\n}\nresource \"terraform_data\" \"a\" {}\n",
		"EmptyDefault":   "variable \"x\" { default = \"\" }\nmodule \"c\" {\n  source = \"./c\"\n  src    = var.x\n}\nresource \"terraform_data\" \"a\" {}\n",
		"ForEach":        "variable \"x\" { type = string }\nprovider \"terraform\" {\n  alias    = \"by\"\n  for_each = toset([var.x])\n}\nresource \"terraform_data\" \"a\" {\n  provider = terraform.by[var.x]\n}\n",
	}

	for name, main := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			address := t.TempDir()
			filesystem.Write(t, address, filesystem.Files{
				"main.tf": main, "c/main.tf": "variable \"src\" { type = string }\nmodule \"d\" { source = var.src }\n", "c/d/main.tf": "", "c/e/main.tf": "",
			})

			r := newPlace(t).stubbed(t, firstUID, remote(address), func(s *subject) {
				s.Vars = []commonv1beta1.Var{{Key: "x", Value: "./d"}}
			})
			r.CLI = cli

			pl, err := r.Plan(t.Context(), false)
			if err != nil {
				t.Fatal(err)
			}

			if _, err := r.ReadPlan(t.Context(), pl); err != nil {
				t.Errorf("ReadPlan(): %v", err)
			}

			if _, err := r.Apply(t.Context(), pl, nil, nil); err != nil {
				t.Fatal(err)
			}

			if st, err := r.State(t.Context()); err != nil || st.Managed != 1 {
				t.Errorf("State(): want one resource, got %+v, %v", st, err)
			}

			expectError(t, "the deletion", "", errors.Join(callDestroy(t.Context(), r), callDeleteWorkspace(t.Context(), r)))
		})
	}
}

func TestDestroyLacksVariables(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		plan, apply, destroy []string
		env                  []string
		want                 bool
	}{
		"None":        {plan: []string{"-parallelism=2"}},
		"Plan":        {plan: []string{"-var-file=a"}, want: true},
		"Apply":       {apply: []string{"--var", "a=b"}, destroy: []string{"-var=b=b"}, want: true},
		"OtherValue":  {apply: []string{"--var", "a=b"}, destroy: []string{"-var=a=c"}},
		"OtherForm":   {plan: []string{"-var-file", "./p.tfvars", "-var=a=b"}, destroy: []string{"--var-file=p.tfvars", "-var", "a=b"}},
		"Same":        {plan: []string{"-var-file=a"}, apply: []string{"-var-file=a"}, destroy: []string{"-var-file=a", "-refresh=false"}},
		"Environment": {env: []string{"TF_CLI_ARGS_plan=-var-file=a"}, want: true},
		"All":         {env: []string{"TF_CLI_ARGS=-var-file=a"}},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r := &Runner{Target: Target{Inputs: &Inputs{env: tc.env}}}
			p := &r.Inputs.parameters
			p.PlanArgs, p.ApplyArgs, p.DestroyArgs = tc.plan, tc.apply, tc.destroy

			if got := r.DestroyLacksVariables(); got != tc.want {
				t.Errorf("want %t, got %t", tc.want, got)
			}
		})
	}
}
