// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
)

// TestMisuse has inputs of which the CLI says something that a Workspace does not show, or that only people at a
// command line understand.
func TestMisuse(t *testing.T) {
	t.Parallel()

	const resource = "resource \"terraform_data\" \"a\" {}\n"

	cases := map[string]struct {
		reason   string
		config   configSpec
		files    tree // If not nil, the module is the directory m of a repository.
		called   tree // If not nil, the module calls the directory m of a repository.
		module   string
		planArgs []string
		env      []commonv1beta1.EnvVar
		vars     []commonv1beta1.Var
		rc       string // A file .terraformrc.
		synced   string // The message of the condition, if it is False.
		warning  string
		only     string // The CLI that has the error, if the other one has not.
	}{
		"Argument": {
			reason: "Two words are in one entry.", module: resource, planArgs: []string{"-target terraform_data.a"},
			synced: "spec.forProvider.planArgs: Refused argument: flag provided but not defined: -target terraform_data.a",
		},
		"QuotedArgument": {
			reason: "It is written as for a shell.", module: resource, planArgs: []string{`-target="terraform_data.a"`},
			synced: `cannot use the argument "-target" in spec.forProvider.planArgs: remove the quotation marks around its value`,
		},
		"MissingConfig": {
			reason: "The CLI runs without its configuration.", module: resource, env: []commonv1beta1.EnvVar{{Name: "TF_CLI_CONFIG_FILE", Value: "/no/rc"}},
			warning: `spec.forProvider.env TF_CLI_CONFIG_FILE: No such file: the CLI runs without its configuration, because "/no/rc" does not exist: `,
		},
		"MissingConfigInInit": {
			reason: "Init cannot ask the mirror of that configuration.", env: []commonv1beta1.EnvVar{{Name: "TF_CLI_CONFIG_FILE", Value: "/no/rc"}},
			module: "terraform {\n  required_providers {\n    a = { source = \"localhost:1/a/a\" }\n  }\n}\n",
			synced: `(spec.forProvider.env TF_CLI_CONFIG_FILE: No such file: the CLI runs without its configuration, because "/no/rc" does not exist: `,
		},
		"TestsOfModule": {
			reason: "The module that they call is not in the repository.", only: "tofu",
			files:  tree{"m/main.tf": resource, "m/tests/a.tftest.hcl": "run \"a\" {\n  module {\n    source = \"./testing/setup\"\n  }\n}\n"},
			synced: `(no run needs the tests of a module: write "-test-directory=none" into spec.forProvider.initArgs)`,
		},
		"TestsInModule": {
			reason: "They are for another product.", only: "tofu",
			files:  tree{"m/main.tf": resource, "m/a.tftest.hcl": "test {\n  parallel = true\n}\n"},
			synced: `(no run needs the tests of a module: remove them, or move them to its directory tests and `,
		},
		"ArgumentValue": {
			reason: "The value is no address.", module: resource, planArgs: []string{"-target=terraform_data.a[b]"},
			synced: `spec.forProvider.planArgs: Refused argument: Invalid target "terraform_data.a[b]": `,
		},
		"ArgumentsExclude": {
			reason: "One of the arguments makes the other one useless.", module: resource, planArgs: []string{"-refresh-only", "-refresh=false"},
			synced: "spec.forProvider.planArgs: Refused argument: Incompatible refresh options: ",
		},
		"BackendFile": {
			reason: "Nothing configures a backend.", module: resource, config: configSpec{BackendFile: new("secret_suffix = \"a\"\n")},
			warning: "spec.backendFile of the ProviderConfig: No backend: ",
		},
		"BackendBlock": {
			reason: "The field has no blocks.", module: resource, config: configSpec{Configuration: new("terraform {\n  backend \"http\" {}\n}\n"), BackendFile: new("terraform {\n  backend \"http\" {}\n}\n")},
			synced: "spec.backendFile of the ProviderConfig, line 1: Unsupported block type: Blocks of type \"terraform\" are not expected here: this field has the arguments of the backend only. Put blocks into spec.configuration.",
		},
		"BackendOverride": {
			reason: "A file of the module replaces the backend.", config: configSpec{Configuration: new("terraform {\n  backend \"http\" {\n    address = \"http://localhost:1\"\n  }\n}\n")},
			files:   tree{"m/main.tf": resource, "m/backend_override.tf": "terraform {\n  backend \"local\" {}\n}\n"},
			warning: `spec.configuration of the ProviderConfig: Another backend: an override file of the module, such as backend_override.tf, replaces the backend "http" with "local"`,
		},
		"BackendField": {
			reason: "The backend needs a value.", module: resource, config: configSpec{Configuration: new("terraform {\n  backend \"consul\" {}\n}\n")},
			synced: `"path": required field is not set: set it in the backend block, or in spec.backendFile of the ProviderConfig`,
		},
		"BackendOutside": {
			reason: "The backend uses neither the credentials of the pod nor a file.", module: resource,
			config: configSpec{Configuration: new("terraform {\n  backend \"kubernetes\" {\n    secret_suffix = \"a\"\n  }\n}\n")},
			env:    []commonv1beta1.EnvVar{{Name: "KUBE_CONFIG_PATH"}},
			synced: "no configuration has been provided: if it is for the kubernetes backend, set in_cluster_config = true there, or config_path with a file in spec.credentials of the ProviderConfig",
		},
		"Azure": {
			reason: "There are no credentials.", module: resource,
			config: configSpec{Configuration: new("terraform {\n  backend \"azurerm\" {\n    resource_group_name = \"a\"\n    storage_account_name = \"abc\"\n    container_name = \"abc\"\n    key = \"a\"\n  }\n}\n")},
			synced: ": set ARM_CLIENT_ID, ARM_TENANT_ID and ARM_CLIENT_SECRET in env, or the fields of a workload identity",
		},
		"LineBreak": {
			reason: "Tools add a line break to the values of Secrets.", module: resource,
			config: configSpec{Configuration: new("terraform {\n  backend \"s3\" {\n    bucket = \"a\"\n    key = \"a\"\n    region = \"us-east-1\"\n    skip_credentials_validation = true\n  }\n}\n")},
			env:    []commonv1beta1.EnvVar{{Name: "AWS_ACCESS_KEY_ID", Value: "a"}, {Name: "AWS_SECRET_ACCESS_KEY", Value: "b"}, {Name: "AWS_SESSION_TOKEN", Value: "c\n"}},
			synced: "(spec.forProvider.env AWS_SESSION_TOKEN ends with a line break: remove it from the value)",
		},
		"LineBreakInVariable": {
			reason: "A validation refuses it.", module: "variable \"stage\" {\n  type = string\n  validation {\n    condition = can(regex(\"^[a-z]+$\", var.stage))\n    error_message = \"Must be one word.\"\n  }\n}\n" + resource,
			env:    []commonv1beta1.EnvVar{{Name: "TF_VAR_stage", Value: "prod\n"}},
			synced: "(spec.forProvider.env TF_VAR_stage ends with a line break: remove it from the value)",
		},
		"LineBreakOfYAML": {
			reason: "YAML adds one, too.", module: "variable \"stage\" {\n  type = string\n  validation {\n    condition = can(regex(\"^[a-z]+$\", var.stage))\n    error_message = \"Must be one word.\"\n  }\n}\n" + resource,
			vars:   []commonv1beta1.Var{{Key: "stage", Value: "prod\n"}},
			synced: `(the value of stage in spec.forProvider.vars ends with a line break: in YAML, write "value: |-" for text without one)`,
		},
		"LocalModule": {
			reason: "An inline module has no directories.", module: "module \"db\" { source = \"./modules/rds\" }\n",
			synced: "(an inline module is one file: call a module of a repository or a registry, or put it into a repository and set spec.forProvider.source to Remote)",
		},
		"FileBeside": {
			reason: "Nor has it other files.", module: "output \"o\" { value = templatefile(\"${path.module}/user_data.tpl\", {}) }\n",
			synced: "(an inline module is one file: write the text of the other one into it, ",
		},
		"OpenedFile": {
			reason: "Some functions say it in another way.", module: "output \"o\" { value = filebase64sha256(\"lambda.zip\") }\n",
			synced: "(an inline module is one file: write the text of the other one into it, ",
		},
		"Folded": {
			reason: "YAML has folded the lines to one.", module: "variable \"a\" { type = string default = \"b\" }\n",
			synced: `(the module has lost its line breaks: in YAML, write "module: |" for text with line breaks)`,
		},
		"FoldedBlocks": {
			reason: "The first item of the block is a block.", module: "terraform { required_providers { time = { source = \"hashicorp/time\" } } }\n",
			synced: `(the module has lost its line breaks: in YAML, write "module: |" for text with line breaks)`,
		},
		"FoldedIndented": {
			reason: "YAML keeps the breaks of lines that have more indentation.", module: "variable \"a\" {\n  default = \"b\"\n} output \"o\" {\n  value = 1\n}\n",
			synced: `(the module has lost its line breaks: in YAML, write "module: |" for text with line breaks)`,
		},
		"FoldedConfiguration": {
			reason: "So is the text of a ProviderConfig.", module: resource, config: configSpec{Configuration: new("locals {\n  b = 1\n} locals {\n  c = 1\n}\n")},
			synced: `(spec.configuration of the ProviderConfig has lost its line breaks: in YAML, write "|" instead of ">" in front of it)`,
		},
		"FoldedBackendFile": {
			reason: "So is that of the backend.", module: resource,
			config: configSpec{Configuration: new("terraform {\n  backend \"http\" {}\n}\n"), BackendFile: new("address = \"http://localhost:1\" skip_cert_verification = true\n")},
			synced: `(spec.backendFile of the ProviderConfig has lost its line breaks: in YAML, write "|" instead of ">" in front of it)`,
		},
		"NestedEncryption": {
			reason: "A resource may have such a block, another one in another version.", module: "resource \"terraform_data\" \"x\" {\n  encryption {}\n}\n",
			synced: `spec.forProvider.module, line 2: resource "terraform_data" "x": Unsupported block type: Blocks of type "encryption" are not expected here.`,
		},
		"Validation": {
			reason: "The CLI shows the variable only as the text of its line.",
			files:  tree{"m/main.tf": "variable \"size\" {\n  default = 1\n  validation {\n    condition     = var.size > 1\n    error_message = \"Must be more.\"\n  }\n}\n"},
			synced: `main.tf:1: variable "size": Invalid value for variable: Must be more. This was checked by the validation rule at main.tf:3,3-13. Correct size in spec.forProvider.vars, varmap or varFiles, or env TF_VAR_size`,
		},
		"Values": {
			reason: "Variables have no value because their values have errors.",
			files:  tree{"m/main.tf": "variable \"a\" {}\nvariable \"b\" {}\n", "m/terraform.tfvars": "a = \"${var.env}\"\nb = var.env\n"},
			synced: `cannot plan: terraform.tfvars:1: Variables not allowed: `,
		},
		"CLIConfig": {
			reason: "The CLI ignores a file that it cannot parse.", module: resource, rc: "plugin_cache_dir = a/b\n",
			warning: `CLI configuration: Error parsing spec.credentials of the ProviderConfig, filename ".terraformrc": `,
		},
		"Mirror": {
			reason: "People cannot correct what they do not see.", module: "resource \"time_static\" \"a\" {}\n",
			rc:     "provider_installation {\n  filesystem_mirror {\n    path = \"/no/such/mirror\"\n  }\n}\n",
			synced: "cannot search /no/such/mirror: ",
		},
		"LockFile": {
			reason: "It selects a version that does not exist.",
			files:  tree{"m/main.tf": "resource \"time_static\" \"a\" {}\n", "m/.terraform.lock.hcl": lockFileOf("registry.terraform.io") + lockFileOf("registry.opentofu.org")},
			synced: `version 0.0.1, which .terraform.lock.hcl selects, is not available: correct that file of the module, or add "-upgrade" to spec.forProvider.initArgs`,
		},
		"Format": {
			reason: "A module in JSON needs a format.", module: `{"resource": {"terraform_data": {"a": {}}}}`,
			synced: "the module begins like JSON: set spec.forProvider.inlineFormat to JSON",
		},
		"Replace": {
			reason: "Each poll would have a change.", module: resource, planArgs: []string{"-replace=terraform_data.a"},
			synced: `cannot use the argument "-replace" in spec.forProvider.planArgs: each poll, or each later change, would replace the resource again`,
		},
		"Environment": {
			reason: "The value of a list is text.", module: "variable \"list\" { type = list(string) }\n", env: []commonv1beta1.EnvVar{{Name: "TF_VAR_list", Value: "a,b"}},
			synced: "spec.forProvider.env TF_VAR_list, line 1: ",
		},
		"IgnoredEnv": {
			reason: "The annotation chooses the Terraform workspace.", module: resource, env: []commonv1beta1.EnvVar{{Name: "TF_WORKSPACE", Value: "other"}},
			warning: "spec.forProvider.env TF_WORKSPACE: No effect: the Terraform workspace is ",
		},
		"FileOfCalled": {
			reason: "A module in the same repository reads its file as if it were the root module.",
			files:  tree{"m/main.tf": "module \"x\" { source = \"./iam\" }\n", "m/iam/main.tf": "output \"o\" { value = file(\"policy.json\") }\n", "m/iam/policy.json": "{}"},
			synced: "(a path begins in the directory of the root module: to read a file of the module that is called, write ${path.module}/ in front of its path, there)",
		},
		"FileOfPackage": {
			reason: "So does one of another repository.", called: tree{"m/main.tf": "output \"o\" { value = file(\"policy.json\") }\n", "m/policy.json": "{}"},
			synced: "(a path begins in the directory of the root module: to read a file of the module that is called, write ${path.module}/ in front of its path, there)",
		},
		"FileAbovePackage": {
			reason: "Another entrypoint is no remedy.", files: tree{}, called: tree{"m/main.tf": "output \"o\" { value = filebase64sha256(\"../x\") }\n", "x": ""},
			synced: "(a path begins in the directory of the root module: ",
		},
		"ModuleAbove": {
			reason: "A module is beside the directory that the address selects.", files: tree{"m/main.tf": "module \"c\" { source = \"../common\" }\n", "common/main.tf": resource},
			synced: `remove "//m" from spec.forProvider.module, and set spec.forProvider.entrypoint to "m"`,
		},
		"FileAbove": {
			reason: "So is a file.", files: tree{"m/main.tf": "output \"o\" { value = file(\"../x\") }\n", "x": ""},
			synced: `remove "//m" from spec.forProvider.module, and set spec.forProvider.entrypoint to "m"`,
		},
	}

	for cli, use := range map[string]func(*testing.T) (*cluster, string, string, *instance){"tofu": useOpenTofu, "terraform": useTerraform} {
		for name, tc := range cases {
			if tc.only != "" && tc.only != cli {
				continue
			}

			t.Run(name+"/"+cli, func(t *testing.T) {
				t.Parallel()

				c, ns, shard, _ := use(t)

				if tc.rc != "" {
					tc.config.Credentials = []commonv1beta1.ProviderCredentials{secretCredentials(".terraformrc", c.secretKey(t, ns, tc.rc))}
				}

				if tc.called != nil {
					tc.module = fmt.Sprintf("module \"x\" { source = %q }\n", "git::file://"+newRepository(t, filepath.Join(t.TempDir(), "called"), tc.called).dir+"//m")

					if tc.files != nil {
						tc.files = tree{"m/main.tf": tc.module}
					}
				}

				opts := []workspaceOption{
					inShard(shard), withConfig(c.createConfig(t, namespacedScope, ns, tc.config)), withModule(tc.module),
					withParameters(func(p *commonv1beta1.ModuleParameters) { p.PlanArgs, p.Vars = tc.planArgs, tc.vars }),
				}

				if tc.files != nil {
					repo := newRepository(t, filepath.Join(t.TempDir(), "repo"), tc.files)
					opts = append(opts, withSource(commonv1beta1.ModuleSourceRemote, "git::file://"+repo.dir+"//m"))
				}

				ws := c.createReferring(t, namespacedScope, ns, references{env: tc.env}, opts...)

				if tc.synced != "" {
					expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, tc.synced)

					return
				}

				expectReady(t, c, ws)
				eventually(t, func() error {
					c.get(t, ws)

					if have := ws.GetObservation().Warnings; !slices.ContainsFunc(have, func(w string) bool { return strings.HasPrefix(w, tc.warning) }) {
						return errors.Errorf("%s: want the warning %q, got %q", tc.reason, tc.warning, have)
					}

					return nil
				})
			})
		}
	}
}

// lockFileOf returns the entry of a dependency lock file for a version of a provider that does not exist.
func lockFileOf(registry string) string {
	return fmt.Sprintf("provider \"%s/hashicorp/time\" {\n  version = \"0.0.1\"\n}\n", registry)
}
