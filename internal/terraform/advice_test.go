// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package terraform

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestAdvice has what the CLIs say. TestPlanFails has what they say in a run.
func TestAdvice(t *testing.T) {
	t.Parallel()

	cases := map[string]struct{ cli, here string }{
		"Variable": {
			cli:  "The root module input variable \"region\" is not set, and has no default value. Use a -var or -var-file command line argument to provide a value for this variable.",
			here: `The root module input variable "region" is not set, and has no default value: set region in spec.forProvider.vars, varmap or varFiles, or env TF_VAR_region.`,
		},
		"Value": {
			cli:  "The given value is not suitable for var.replicas declared at main.tf:4,1-20: a number is required.",
			here: "The value of replicas is not suitable: a number is required. Correct replicas in spec.forProvider.vars, varmap or varFiles, or in a file .tfvars of the module or in spec.credentials of the ProviderConfig",
		},
		"SensitiveValue": {
			cli:  "The given value is not suitable for var.port, which is sensitive: a number is required. Invalid value defined at crossplane-provider-terraform-vars.tfvars:3,8-22.",
			here: "The value of port is not suitable: a number is required. Correct port in spec.forProvider.vars, varmap or varFiles, or in a file .tfvars of the module or in spec.credentials of the ProviderConfig",
		},
		"ValueForInit": {
			cli:  "Failed to request input from user for variable var.src",
			here: "Failed to request input from user for variable var.src: init needs a value, too: set src in spec.forProvider.vars, varmap or varFiles, or env TF_VAR_src, not in planArgs",
		},
		"ValueOfOption": {
			cli:  "Unsuitable value for var.n set using -var=\"n=...\": a number is required.",
			here: "The value of n in an option -var, in spec.forProvider.planArgs, applyArgs or destroyArgs, or in env TF_CLI_ARGS_..., is not suitable: a number is required.",
		},
		"NoConfigPath": {
			cli:  "Failed to get existing workspaces: Get \"http://localhost/api/v1/namespaces/default/secrets?labelSelector=tfstate%3Dtrue\": dial tcp 127.0.0.1:80: connect: connection refused",
			here: "Failed to get existing workspaces: Get \"http://localhost/api/v1/namespaces/default/secrets?labelSelector=tfstate%3Dtrue\": dial tcp 127.0.0.1:80: connect: connection refused: config_path of the kubernetes backend names no file here: set in_cluster_config = true, or give the file in spec.credentials of the ProviderConfig",
		},
		"NoCluster": {
			cli:  "Post \"http://localhost/api/v1/namespaces\": dial tcp [::1]:80: connect: connection refused",
			here: "Post \"http://localhost/api/v1/namespaces\": dial tcp [::1]:80: connect: connection refused: the provider block has no address of a cluster, or one of a resource that does not exist yet, or any more: set it, and put the cluster into another Workspace",
		},
		"NoClusterOfHelm": {
			cli:  "Kubernetes cluster unreachable: Get \"http://localhost:8080/version\": dial tcp 127.0.0.1:8080: connect: connection refused",
			here: "Kubernetes cluster unreachable: Get \"http://localhost:8080/version\": dial tcp 127.0.0.1:8080: connect: connection refused: the provider block has no address of a cluster, or one of a resource that does not exist yet, or any more: set it, and put the cluster into another Workspace",
		},
		"OtherServer": {
			cli:  "Get \"http://localhost:8080/health\": dial tcp 127.0.0.1:8080: connect: connection refused",
			here: "Get \"http://localhost:8080/health\": dial tcp 127.0.0.1:8080: connect: connection refused",
		},
		"ValueOfEnv": {
			cli:  "Unsuitable value for var.v set using the TF_VAR_v environment variable: a number is required.",
			here: "The value of TF_VAR_v, in spec.forProvider.env or the environment of the provider, is not suitable, or ends with a line break: a number is required.",
		},
		"Now": {
			cli:  "x509: certificate has expired or is not yet valid: current time 2026-11-29T00:33:14Z is after 2026-01-01T00:00:00Z",
			here: "x509: certificate has expired or is not yet valid: the current time is after 2026-01-01T00:00:00Z",
		},
		"TemporaryName": {cli: "Error opening a gzip reader for /tmp/getter1387278421/archive", here: "Error opening a gzip reader for /tmp/getter/archive"},
		"GitRefused": {
			cli:  "fatal: Authentication failed for 'https://git.example.org/m/'",
			here: "fatal: Authentication failed for 'https://git.example.org/m/': correct the first entry for this host, or for the user in the address, in .git-credentials, in spec.credentials of the ProviderConfig, or the user and token in the address",
		},
		"GitPage": {
			cli:  "fatal: https://git.example.org/m/info/refs not valid: is this a git repository?",
			here: "fatal: https://git.example.org/m/info/refs not valid: is this a git repository? the server has sent a web page, perhaps because it asks for credentials",
		},
		"UnlockByHand": {
			cli:  "In this scenario, please call the \"force-unlock\" command to unlock the state manually. This is a very dangerous operation since if it is done erroneously it could result in two people modifying state at the same time. Only call this command if you're certain that the unlock above failed and that no one else is holding a lock.",
			here: "In this scenario, if nothing holds the lock and the provider does not remove it, remove it where the state is stored.",
		},
		"RequestID": {
			cli:  "operation error S3: ListObjectsV2, https response error StatusCode: 403, RequestID: ED53A1, HostID: aGE/b+c==, api error InvalidAccessKeyId: The key does not exist.",
			here: "operation error S3: ListObjectsV2, https response error StatusCode: 403, api error InvalidAccessKeyId: The key does not exist.",
		},
		"RequestIDOfTerraform": {
			cli:  "InvalidAccessKeyId: The key does not exist.\n\tstatus code: 403, request id: CFA8, host id: aGE/b+c==",
			here: "InvalidAccessKeyId: The key does not exist. status code: 403",
		},
		"TraceID": {
			cli:  "AADSTS7000215: Invalid client secret provided. Trace ID: 5b6c-00 Correlation ID: 7d8e-11 Timestamp: 2026-11-28 10:00:00Z",
			here: "AADSTS7000215: Invalid client secret provided.",
		},
		"EncodedMessage": {
			cli:  "You are not authorized to perform this operation. Encoded authorization failure message: 4Ab-x_9",
			here: "You are not authorized to perform this operation. Encoded authorization failure message: ...",
		},
		"Password": {
			cli:  `parse "postgres://tf:x": invalid port ":x" after host`,
			here: `parse "postgres://tf:x": invalid port ":x" after host: if it is the password, write the signs # / ? @ : in it as %23, %2F, %3F, %40, %3A`,
		},
		"Azure": {
			cli:  `Error building ARM Config: please ensure you have installed Azure CLI version 2.0.79 or newer. Error parsing json result from the Azure CLI: launching Azure CLI: exec: "az": executable file not found in $PATH.`,
			here: `Error building ARM Config: no credentials are set: set ARM_CLIENT_ID, ARM_TENANT_ID and ARM_CLIENT_SECRET in env, or the fields of a workload identity. launching Azure CLI: exec: "az": executable file not found in $PATH.`,
		},
		"InCluster": {
			cli:  "invalid configuration: no configuration has been provided, try setting KUBERNETES_MASTER environment variable",
			here: "invalid configuration: no configuration has been provided: if it is for the kubernetes backend, set in_cluster_config = true there, or config_path with a file in spec.credentials of the ProviderConfig; otherwise configure the provider block",
		},
		"Condition": {
			cli:  "This check failed, but has an invalid error message as described in the other accompanying messages.",
			here: "This check failed, and its error_message cannot be shown, for example because it refers to a sensitive value.",
		},
		"Version": {
			cli:  "This configuration does not support Terraform version 1.5.7. To proceed, either choose another supported Terraform version or\nupdate this version constraint. Version constraints are normally set for good reason, so updating the constraint may lead to other errors or unexpected behavior.",
			here: "This configuration does not support Terraform version 1.5.7. Update this version constraint, or choose another version in spec.forProvider.cli",
		},
		"VersionOfTofu": {
			cli:  "This module is not compatible with OpenTofu v1.12.6.\n\nTo proceed, either choose another supported OpenTofu version or update this version constraint. Version constraints are normally set for good reason, so updating the constraint may lead to other errors or unexpected behavior.",
			here: "This module is not compatible with OpenTofu v1.12.6. Update this version constraint, or choose another version in spec.forProvider.cli",
		},
		"MistypedArgument": {cli: `An argument named "for_each" is not expected here. Did you mean "for"?`, here: `An argument named "for_each" is not expected here. Did you mean "for"?`},
		"SimilarFunction": {
			cli:  `There is no function named "urldecode". Did you mean "urlencode"?`,
			here: `There is no function named "urldecode": other versions or products may have it, and spec.forProvider.cli chooses one.`,
		},
		"MistypedFunction": {cli: `There is no function named "jon". Did you mean "join"?`, here: `There is no function named "jon". Did you mean "join"?`},
		"OwnRequestID":     {cli: "certificate request id: 42 was denied", here: "certificate request id: 42 was denied"},
		"NewerProvider": {
			cli:  "The provider argument name \"for_each\" is reserved for use by Terraform in a\nfuture version.",
			here: `The provider argument name "for_each" is reserved: newer versions or OpenTofu may have it, and spec.forProvider.cli chooses one.`,
		},
		"NewerValidation": {
			cli:  "The condition for variable \"b\" can only refer to the variable itself, using\nvar.b.",
			here: `The condition for variable "b" can only refer to the variable itself, using var.b: newer versions take others, too, and spec.forProvider.cli chooses one.`,
		},
		"NewerFunction": {
			cli:  `There is no function named "templatestring".`,
			here: `There is no function named "templatestring": other versions or products may have it, and spec.forProvider.cli chooses one.`,
		},
		"NoProvider": {
			cli: `To work with time_static.a its original provider configuration at provider["registry.terraform.io/hashicorp/time"].east is required, but it has been removed. ` +
				"This occurs when a provider configuration is removed while objects created by that provider still exist in the state. Re-add the provider configuration to destroy time_static.a, after which you can remove the provider configuration again.",
			here: `To work with time_static.a its original provider configuration at provider["registry.terraform.io/hashicorp/time"].east is required: add a provider block, with the alias that it names, to the module or to spec.configuration of the ProviderConfig. ` +
				"If time_static.a is to be destroyed, after that you can remove the provider configuration again.",
		},
		"ProviderOfCall": {
			cli: `To work with module.m.time_static.a (orphan) its original provider configuration at module.m.provider["registry.opentofu.org/hashicorp/time"] is required, but it has been removed. ` +
				"This occurs when a provider configuration is removed while objects created by that provider still exist in the state. Re-add the provider configuration to destroy module.m.time_static.a (orphan), after which you can remove the provider configuration again.",
			here: `To work with module.m.time_static.a (orphan) its original provider configuration at module.m.provider["registry.opentofu.org/hashicorp/time"] is required: that module is not called any more, or has no such provider block any more. ` +
				"Restore it. If module.m.time_static.a (orphan) is to be destroyed, then remove the resource there and leave the provider block, and remove the call after that.",
		},
		"NoRoom": {
			cli: "The errors shown above prevented OpenTofu from writing the updated state to\nthe configured backend and from creating a local backup file. As a fallback,\nthe raw state data is printed above as a JSON object.\n\n" +
				"To retry writing this state, copy the state data (from the first { to the last } inclusive) and save it into a local file called errored.tfstate, then run the following command:\n    tofu state push errored.tfstate\n",
			here: "The errors shown above prevented OpenTofu from writing the updated state to the configured backend and from creating a local backup file. The provider has the state in memory, and saves it as soon as there is room. Do not restart it before",
		},
		"Undeclared": {
			cli:  "If you meant to use this value, add a \"variable\" block to the configuration.\n\nTo silence these warnings, use TF_VAR_... environment variables to provide certain \"global\" settings to all configurations in your organization. To reduce the verbosity of these warnings, use the -compact-warnings option.",
			here: `If you meant to use this value, add a "variable" block to the configuration.`,
		},
		"Upgrade": {
			cli:  "To update the locked dependency selections to match a changed configuration, run:\n  tofu init -upgrade",
			here: `To update the locked dependency selections to match a changed configuration, add "-upgrade" to spec.forProvider.initArgs`,
		},
		"ReadOnly": {
			cli:  "but the lock file is read-only. To use and record these requirements,\nrun \"tofu init\" without the \"-lockfile=readonly\" flag.",
			here: `but the lock file is read-only. To use and record these requirements, remove "-lockfile=readonly" from spec.forProvider.initArgs or env TF_CLI_ARGS_init.`,
		},
		"MustUpgrade": {
			cli:  "does not match configured version constraint; must use terraform init -upgrade to allow selection of new versions",
			here: `does not match configured version constraint; must add "-upgrade" to spec.forProvider.initArgs to allow selection of new versions`,
		},
		"Init": {
			cli:  `This module is not yet installed. Run "tofu init" to install all modules required by this configuration.`,
			here: "This module is not yet installed. The provider runs init with spec.forProvider.initArgs to install all modules required by this configuration.",
		},
		"Missing": {
			cli:  "that provider isn't available. You may be able to install it automatically by running:\n  tofu init",
			here: "that provider isn't available. The provider runs init with spec.forProvider.initArgs",
		},
		"InitBackend": {cli: `Backend initialization required, please run "tofu init"`, here: "Backend initialization required"},
		"InitLock": {
			cli:  "required by this configuration but no version is selected\n\nTo make the initial dependency selections that will initialize the dependency lock file, run:\n  terraform init",
			here: "required by this configuration but no version is selected",
		},
		"Checksums": {
			cli:  "recorded in the dependency lock file, run tofu init to ensure all providers are correctly installed",
			here: "recorded in the dependency lock file",
		},
		"Backend": {
			cli:  "which may require migrating existing state.\n\nIf you wish to attempt automatic migration of the state, use \"terraform init -migrate-state\".\nIf you wish to store the current configuration with no changes to the state, use \"terraform init -reconfigure\".",
			here: `which may require migrating existing state. Restore the old backend, in the ProviderConfig, the module or spec.forProvider.initArgs. Or copy the state to the new one (if only credentials, or the CLI or its version, have changed, there is nothing to copy), and add "-reconfigure" to spec.forProvider.initArgs until the Workspace is Synced.`,
		},
		"LegacyAddress": {
			cli:  "This configuration or its associated state refers to the unqualified provider \"time\".\n\nYou must complete the Terraform 0.13 upgrade process before upgrading to later versions.",
			here: `This configuration or its associated state refers to the unqualified provider "time". The state has an address of Terraform 0.12. Where the module and this backend are, run an init of Terraform, although it fails, and then "terraform state replace-provider -- -/NAME NAMESPACE/NAME".`,
		},
		"LegacyNamespace": {
			cli:  "The legacy provider namespace \"-\" can be used only with hostname registry.opentofu.org.",
			here: `The state has an address of Terraform 0.12. Where the module and this backend are, run an init of Terraform, although it fails, and then "terraform state replace-provider -- -/NAME NAMESPACE/NAME".`,
		},
		"BackendOfInit": {
			cli:  "Reason: Backend configuration block has changed\n\nThe \"backend\" is the interface that OpenTofu uses to store state,\nperform operations, etc. If this message is showing up, it means that the\nOpenTofu configuration you're using is using a custom configuration for\nthe OpenTofu backend.\n\nPlease run \"tofu init\" with either the \"-reconfigure\" or \"-migrate-state\" flags to\nuse the current configuration.\n\nIf the change reason above is incorrect, please verify your configuration\nhasn't changed and try again.",
			here: "Reason: Backend configuration block has changed: init has used another one. Remove -backend=false from spec.forProvider.initArgs, and set variables in the backend block in spec.forProvider.vars, varmap, varFiles or env TF_VAR_..., not in planArgs",
		},
		"Login": {
			cli:  "Run the following command to generate a token for app.terraform.io:\n    terraform login",
			here: "Set a token for app.terraform.io in a file .terraformrc in spec.credentials of the ProviderConfig",
		},
		"LoginElsewhere": {
			cli:  "Run the following command to generate a token for tfe.example.org:\n    tofu login tfe.example.org",
			here: "Set a token for tfe.example.org in a file .terraformrc in spec.credentials of the ProviderConfig",
		},
		"Target": {
			cli:  "To work around this, use the -target option to first apply only the resources that the count depends on.",
			here: "To work around this, use the option -target in spec.forProvider.planArgs and applyArgs to first apply only the resources that the count depends on.",
		},
		"TargetOfCount": {
			cli:  "To work around this, use the -target argument to first apply only the resources that the count depends on.",
			here: "To work around this, use the option -target in spec.forProvider.planArgs and applyArgs to first apply only the resources that the count depends on.",
		},
		"TargetOfKeys": {
			cli:  "Alternatively, you could use the -target planning option to first apply only the resources that the for_each value depends on",
			here: "Alternatively, you could use the option -target in spec.forProvider.planArgs and applyArgs to first apply only the resources that the for_each value depends on",
		},
		"Exclude": {
			cli:  "Alternatively, you could use the planning option -exclude=null_resource.a to first apply without this object",
			here: "Alternatively, you could use in spec.forProvider.planArgs and applyArgs the option -exclude=null_resource.a to first apply without this object",
		},
		"Incomplete": {
			cli:  "Run the following command to verify that no other changes are pending:\n    tofu plan\n\t\nNote that",
			here: "Remove it from spec.forProvider.planArgs and applyArgs when the changes are made. Note that",
		},
		"Port": {
			cli:  "dial tcp: lookup registry.example.org on [::1]:53: read udp [::1]:49972->[::1]:53: read: connection refused; read udp 10.0.0.7:43805->10.0.0.10:53: i/o timeout",
			here: "dial tcp: lookup registry.example.org on [::1]:53: read udp [::1]:53: read: connection refused; read udp 10.0.0.10:53: i/o timeout",
		},
		"Lock": {
			cli:  "Please resolve the issue above and try\nagain. For most commands, you can disable locking with the \"-lock=false\"\nflag, but this is not recommended.",
			here: "Please resolve the issue above and try again.",
		},
		"Unlock": {
			cli:  "In this scenario, please call the \"force-unlock\" command to unlock the\nstate manually.",
			here: "In this scenario, if nothing holds the lock and the provider does not remove it, remove it where the state is stored.",
		},
		"CredentialsOfGit": {
			cli:  "/usr/bin/git exited with 128: Cloning into '.terraform/modules/net'...\nfatal: could not read Username for 'https://example.org': No such device or address",
			here: "/usr/bin/git exited with 128: fatal: cannot sign in to 'https://example.org': the repository does not exist, or needs an entry for this host, and for the user in the address, in a file .git-credentials in spec.credentials of the ProviderConfig",
		},
		"CredentialsOfGitWithoutPrompt": {
			cli:  "fatal: could not read Password for 'https://me@example.org': terminal prompts disabled",
			here: "fatal: cannot sign in to 'https://me@example.org': the repository does not exist, or needs an entry for this host, and for the user in the address, in a file .git-credentials in spec.credentials of the ProviderConfig",
		},
		"Migration": {
			cli:  "Can't ask approval for state migration when interactive input is disabled.",
			here: "init does not copy the state to the new backend",
		},
		"MigrationOfOpenTofu": {cli: "Error asking for state migration action: input is disabled", here: "init does not copy the state to the new backend"},
		"Input":               {cli: "Please remove the \"-input=false\" option and try again.", here: ""},
		"ForceCopy":           {cli: "If non-interactive operation is desired, consider adding the \"-force-copy\" option. Otherwise, please remove the \"-input=false\" option and try again.", here: ""},
		"NoAzure":             {cli: "No valid azure auth methods found", here: "No valid azure auth methods found: " + withoutAzureCLI},
		"WarningsOfAzure": {
			cli:  "Please see above warnings for details about what each auth method needs to properly work.",
			here: "What each method needs follows.",
		},
		"NoSchema": {
			cli:  "no schema available for cloud_thing.a[\"x y\"] while reading state; this is a bug in OpenTofu and should be reported",
			here: "no schema available while reading state: " + newerProvider,
		},
		"NewerSchema": {
			cli:  "The current state of cloud_thing.a was created by a newer provider version than is currently selected. Upgrade the cloud provider to work with this state.",
			here: "The current state of cloud_thing.a was created by a newer provider version than is selected: " + newerProvider + ".",
		},
		"EncryptedState": {
			cli:  "The state file does not have a \"version\" attribute, which is required to identify the format version.",
			here: "The state file does not have a \"version\" attribute, which is required to identify the format version: if OpenTofu has encrypted it, only OpenTofu can read it (spec.forProvider.cli), with that encryption.",
		},
		"SpaceInDSN": {
			cli:  `missing "=" after "secr\"et9" in connection info string"`,
			here: "a value in the connection string (conn_str, or env PG_CONN_STR) has a space: put it in single quotes",
		},
		"LockedBySomebody": {
			cli:  "Error message: HTTP remote state already locked, failed to unmarshal body\nLock Info:\n  ID:        8dfc1e4a\n  Who:       root@vm\n",
			here: "Error message: the state is locked, and the server of the backend http does not say by whom. If nothing holds it any more, remove the lock there",
		},
		"WebPage": {
			cli:  "The state file could not be parsed as JSON: syntax error at byte offset 1.",
			here: "What is there is no state: it may be damaged or, with the backend http, address or credentials lead to a web page.",
		},
		"KeyOfGit": {
			cli:  "git@example.org: Permission denied (publickey).\r\nfatal: Could not read from remote repository.",
			here: "git@example.org: Permission denied (publickey): the repository does not exist, or needs a key in the parameter sshkey of the address; fatal: Could not read from remote repository.",
		},
		"OwnerOfRepository": {
			cli:  "fatal: detected dubious ownership in repository at '/repos/m'\nTo add an exception for this directory, call:\n\n\tgit config --global --add safe.directory /repos/m",
			here: "fatal: detected dubious ownership in repository at '/repos/m': it belongs to another user, make the user of the provider its owner",
		},
		"KeyOfProvisioner": {
			cli:  "Error running command 'ssh host': exit status 255. Output: me@host: Permission denied (publickey).",
			here: "Error running command 'ssh host': exit status 255. Output: me@host: Permission denied (publickey).",
		},
		"GitOfProvisioner": {
			cli:  "Error running command 'git clone git@host:x': exit status 128. Output: Permission denied (publickey).\nfatal: Could not read from remote repository.",
			here: "Error running command 'git clone git@host:x': exit status 128. Output: Permission denied (publickey). fatal: Could not read from remote repository.",
		},
		"PasswordOfOther": {cli: "SASL: Authentication failed for 'admin'", here: "SASL: Authentication failed for 'admin'"},
		"NameOfUser":      {cli: `A managed resource "terraform_data" "getter2" has not been declared`, here: `A managed resource "terraform_data" "getter2" has not been declared`},
		"UndeclaredArgument": {
			cli:  "A variable named \"x\" was assigned on the command line, but the root module does not declare a variable of that name.",
			here: "A variable named \"x\" was assigned by an option -var in spec.forProvider.planArgs, applyArgs or destroyArgs, but the root module does not declare a variable of that name.",
		},
		"Unsaved": {
			cli:  "Running \"tofu apply\" again at this point will create a forked state, making it harder to recover.\n\nTo retry writing this state, use the following command:\n    tofu state push errored.tfstate\n",
			here: "The provider saves this file before the next plan",
		},
		"SelectedVersion": {
			cli:  "Could not resolve provider hashicorp/time: the previously-selected version 0.0.1 is no longer available",
			here: `Could not resolve provider hashicorp/time: version 0.0.1, which .terraform.lock.hcl selects, is not available: correct that file of the module, or add "-upgrade" to spec.forProvider.initArgs`,
		},
		"Default": {
			cli:  "default workspace not supported\nYou can create a new workspace with the \"workspace new\" command.",
			here: "default workspace not supported Set the annotation crossplane.io/external-name to another name.",
		},
		"Targeted": {
			cli:  "The plan was created with the -target option in effect, so some changes requested in the configuration may have been ignored and the output values may not be fully updated. Run the following command to verify that no other changes are pending:\n    terraform plan",
			here: "The plan was created with the -target option in effect, so it may leave out changes. Remove it from spec.forProvider.planArgs and applyArgs when the changes are made.",
		},
		"NotMoved": {
			cli:  "Terraform tried to adjust resource instance addresses in the prior state based on change information recorded in the configuration, but some adjustments did not succeed due to existing objects already at the intended addresses:\n  - terraform_data.c could not move to terraform_data.b\n  - terraform_data.e[\"x y\"] could not move to terraform_data.d\n\nTerraform has planned to destroy these objects. If Terraform's proposed changes aren't appropriate, you must first resolve the conflicts using the \"terraform state\" subcommands and then create a new plan.",
			here: `The plan destroys what cannot move, because its new address exists: terraform_data.c could not move to terraform_data.b - terraform_data.e["x y"] could not move to terraform_data.d. To keep it, correct the moved block, or the state by hand`,
		},
		"NotMovedOfTofu": {
			cli:  "OpenTofu tried to adjust resource instance addresses in the prior state based on change information recorded in the configuration, but some adjustments did not succeed due to existing objects already at the intended addresses:\n  - terraform_data.c could not move to terraform_data.b\n\nOpenTofu has planned to destroy these objects. If OpenTofu's proposed changes aren't appropriate, you must first resolve the conflicts using the \"tofu state\" subcommands and then create a new plan.",
			here: "The plan destroys what cannot move, because its new address exists: terraform_data.c could not move to terraform_data.b. To keep it, correct the moved block, or the state by hand",
		},
		"NoLifecycleOfTofu": {
			cli:  "It is recommended for each 'removed' block configured to have also the 'lifecycle' block defined. By not specifying if the resource should be destroyed or not, could lead to unwanted behavior.",
			here: "The resource is not destroyed, it only leaves the state. If that is intended, add lifecycle { destroy = false }, otherwise true.",
		},
		"Excluding": {
			cli:  "Could not retrieve the list of available versions for provider hashicorp/time: no available releases match the given constraints ~> 0.9.0, >= 0.14.0",
			here: "Could not retrieve the list of available versions for provider hashicorp/time: no available releases match the given constraints ~> 0.9.0, >= 0.14.0: if they exclude each other, change required_providers of the module and of the modules that it calls",
		},
		"ExcludingNewer": {
			cli:  "no available releases match the given constraints ~> 0.9.0, >= 0.14.0\n\nTo see which modules are currently depending on hashicorp/time and what versions are specified, run the following command:\n    terraform providers",
			here: "no available releases match the given constraints ~> 0.9.0, >= 0.14.0: if they exclude each other, change required_providers of the module and of the modules that it calls",
		},
		"ExcludingOfTofu": {
			cli:  "Could not resolve provider hashicorp/time: no available releases match the given constraints ~> 0.9.0,\n>= 0.14.0",
			here: "Could not resolve provider hashicorp/time: no available releases match the given constraints ~> 0.9.0, >= 0.14.0: if they exclude each other, change required_providers of the module and of the modules that it calls",
		},
		"OneConstraint": {
			cli:  "Could not resolve provider hashicorp/time: no available releases match the given constraints ~> 0.9.0",
			here: "Could not resolve provider hashicorp/time: no available releases match the given constraints ~> 0.9.0",
		},
		"ScriptOfProvisioner": {
			cli:  `error executing "/tmp/terraform_108402416.sh": Process exited with status 3`,
			here: `error executing "/tmp/terraform.sh": Process exited with status 3`,
		},
		"ScriptOnWindows": {
			cli:  `"C:/Temp/terraform_108402416.cmd" exit status: 3`,
			here: `"C:/Temp/terraform.cmd" exit status: 3`,
		},
		"Providers": {
			cli:  "Did you intend to use x/y? To see which modules are currently depending on x/z, run the following command:\n    tofu providers",
			here: "Did you intend to use x/y?",
		},
		"RequestOfAzure": {
			cli:  "AuthorizationFailure: This request is not authorized. RequestId:5b6c-00 Time:2026-11-30T22:16:22.4120393Z, and on\\nRequestId:5b6c-01\\nTime:2026-11-30T22:16:23Z",
			here: "AuthorizationFailure: This request is not authorized., and on",
		},
		"LeaseOfAzure": {
			cli:  "Error message: 2 errors occurred:\n\t* state blob is already locked\n\t* blob metadata \"terraformlockid\" was empty\n\n\n\nTerraform acquires a state lock to protect the state from being written\nby multiple users at the same time. Please resolve the issue above and try\nagain.",
			here: "Error message: the lease of the blob locks the state, and the backend azurerm does not say who holds it. If nothing holds it any more, break the lease",
		},
		"LeaseOfAzureInTofu": {
			cli:  "Error message: state blob is already locked\nblob metadata \"terraformlockid\" was empty\n\nOpenTofu acquires a state lock to protect the state",
			here: "Error message: the lease of the blob locks the state, and the backend azurerm does not say who holds it. If nothing holds it any more, break the lease",
		},
		"ProviderOfState": {
			cli:  "provider registry registry.opentofu.org does not have a provider named registry.opentofu.org/terraform-providers/time\n\nAll modules should specify their required_providers so that external consumers will get the correct providers when using a module.\n\nIf you believe this provider is missing from the registry, please submit a issue on the OpenTofu Registry https://github.com/opentofu/registry/issues/new/choose",
			here: "provider registry registry.opentofu.org does not have a provider named registry.opentofu.org/terraform-providers/time Correct its source in required_providers of each module that uses it. If none does, the state has it: replace it there by hand",
		},
		"OwnMirror": {
			cli:  "Error while installing hashicorp/time v0.14.2: cannot install existing provider directory /m/registry.opentofu.org/hashicorp/time/0.14.2/linux_amd64 to itself",
			here: "Error while installing hashicorp/time v0.14.2: plugin_cache_dir and a filesystem_mirror in .terraformrc are one directory: remove plugin_cache_dir",
		},
		"Import": {
			cli:  `associated with the provider's configured region or endpoint, or use "tofu apply" to create a new remote object for this resource.`,
			here: "associated with the provider's configured region or endpoint, or remove the import block to create a new remote object for this resource.",
		},
		"Generate": {
			cli:  "The target for the given import block does not exist. If you wish to automatically generate config for this resource, use the -generate-config-out option within tofu plan. Otherwise, make sure the target resource exists",
			here: "The target for the given import block does not exist. Make sure the target resource exists",
		},
		"PreventDestroy": {
			cli:  "has lifecycle.prevent_destroy set, but the plan calls for this resource to be destroyed. To avoid this error and continue with the plan, either disable lifecycle.prevent_destroy or reduce the scope of the plan using the -target flag.",
			here: "has lifecycle.prevent_destroy set, but the plan calls for this resource to be destroyed. To avoid this error and continue with the plan, disable lifecycle.prevent_destroy.",
		},
		"PreventDestroyOfTofu": {
			cli:  "has prevent_destroy set, but the plan calls for it to be destroyed.\n\nTo proceed, either disable prevent_destroy for this resource or exclude instances of this resource from this round using:\n    -exclude=\"terraform_data.x[\\\"a b\\\"]\"",
			here: "has prevent_destroy set, but the plan calls for it to be destroyed. To proceed, disable prevent_destroy for this resource",
		},
		"Forgotten": {
			cli:  "Refer to the original plan for more information.\n\nTo suppress this error for the future 'destroy' runs, you can add the CLI flag \"-suppress-forget-errors\".",
			here: "Refer to the original plan for more information. To suppress this error for the future 'destroy' runs, add \"-suppress-forget-errors\" to spec.forProvider.destroyArgs.",
		},
		"StateFlag": {
			cli:  "Error loading the state: unexpected EOF\n\nPlease ensure that your Terraform state exists and that you've\nconfigured it properly. You can use the \"-state\" flag to point\nTerraform at another state file.",
			here: "Error loading the state: unexpected EOF",
		},
		"StateFlagOfTofu": {
			cli:  "Please ensure that your OpenTofu state exists and that you've configured it properly. You can use the \"-state\" flag to point OpenTofu at another state file.\n\nCause: unexpected EOF",
			here: "Cause: unexpected EOF",
		},
		"GenerateExample": {
			cli:  "Otherwise, make sure the target resource exists within your configuration. For example:\n\n  terraform plan -generate-config-out=generated.tf",
			here: "Otherwise, make sure the target resource exists within your configuration.",
		},
		"Crash": {
			cli:  "failed to respond to the plugin.(*GRPCProvider).ApplyResourceChange call. The plugin logs may contain more details.",
			here: "failed to respond to the plugin.(*GRPCProvider).ApplyResourceChange call. It crashed or was killed, for example because the container of the provider has too little memory. What it was creating may exist without being in the state, and each retry would create another one: pause the Workspace, look for it, and import or remove it.",
		},
		"PluginKilledInRead": {
			cli:  "failed to respond to the plugin.(*GRPCProvider).ReadResource call. The plugin logs may contain more details.",
			here: "failed to respond to the plugin.(*GRPCProvider).ReadResource call. It crashed or was killed, for example because the container of the provider has too little memory.",
		},
		"OtherValueAfterCreate": {
			cli:  "produced an unexpected new value: .tag: was cty.StringVal(\"A\"), but now cty.StringVal(\"a\").\n\nThis is a bug in the provider, which should be reported in the provider's own issue tracker.",
			here: "produced an unexpected new value: .tag: was cty.StringVal(\"A\"), but now cty.StringVal(\"a\"). This is a bug in the provider, which should be reported in the provider's own issue tracker. If the resource is new, it is tainted, and each retry replaces it: write the value as the provider returns it, or pause the Workspace and untaint it.",
		},
		"UnknownAfterCreate": {
			cli:  "the provider still indicated an unknown value for a.b.tag. All values must be known after apply, so this is always a bug in the provider and should be reported in the provider's own repository.",
			here: "the provider still indicated an unknown value for a.b.tag. All values must be known after apply, so this is always a bug in the provider and should be reported in the provider's own repository. If the resource is new, it is tainted, and each retry replaces it: write the value as the provider returns it, or pause the Workspace and untaint it.",
		},
		"ExistsInAzure": {
			cli:  "a resource with the ID \"/x\" already exists - to be managed via Terraform this resource needs to be imported into the State. Please see the resource documentation for \"azurerm_x\" for more information.",
			here: "a resource with the ID \"/x\" already exists - to be managed via Terraform this resource needs to be imported into the State. Please see the resource documentation for \"azurerm_x\" for more information: write an import block with this ID into the module, or choose another name.",
		},
		"CloudName": {
			cli:  "error starting operation: workspace ws not found\n\nFor security, Terraform Cloud returns '404 Not Found' responses for resources\nfor resources that a user doesn't have access to, in addition to resources that\ndo not exist. If the resource does exist, please check the permissions of the provided token.",
			here: `error starting operation: workspace ws not found: set the annotation crossplane.io/external-name to the workspace of the block ("default" for a backend "remote" with name, and without the prefix), or check the rights of the token.`,
		},
		"RemoteName": {
			cli:  "error starting operation: workspace ws not found\n\nThe configured \"remote\" backend returns '404 Not Found' errors for resources\nthat do not exist, as well as for resources that a user doesn't have access\nto. If the resource does exist, please check the rights for the used token",
			here: `error starting operation: workspace ws not found: set the annotation crossplane.io/external-name to the workspace of the block ("default" for a backend "remote" with name, and without the prefix), or check the rights of the token`,
		},
		"CloudNameOfTofu": {
			cli:  "The workspace defined using the environment variable \"TF_WORKSPACE\" is not consistent with the workspace \"name\" in the configuration.\n\nThe 'workspaces' block configures how OpenTofu CLI maps its workspaces",
			here: `Set the annotation crossplane.io/external-name to the workspace that the block names`,
		},
		"CloudNoWorkspace": {
			cli:  "No existing workspaces.\n\nUse the \"tofu workspace\" command to create and select a new workspace.\nIf the backend already contains existing workspaces, you may need to update\nthe backend configuration.",
			here: "No existing workspaces. Create one there, and set the annotation crossplane.io/external-name to its name, without the prefix of the block. If there are some, correct the block.",
		},
		"CloudOtherWorkspace": {
			cli:  `Terraform failed to find workspace "ws" in organization o.`,
			here: `Terraform failed to find workspace "ws" in organization o. Set the annotation crossplane.io/external-name to the workspace that the block selects`,
		},
		"CloudOtherTags": {
			cli:  "OpenTofu failed to find workspace \"ws\" with the tags specified in your configuration:\n[a, b]",
			here: `OpenTofu failed to find workspace "ws" with the tags specified in your configuration: [a, b] Set the annotation crossplane.io/external-name to the workspace that the block selects`,
		},
		"CloudBackendFile": {
			cli:  "The -backend-config=... command line option is only for state backends, and is not applicable to Terraform Cloud-based configurations.\n\nTo change the set of workspaces associated with this configuration, edit the Cloud configuration block in the root module.",
			here: "spec.backendFile of the ProviderConfig, and -backend-config in spec.forProvider.initArgs, are only for a backend block: remove them",
		},
		"CloudBackendFileOfTofu": {
			cli:  "The -backend-config=... command line option is only for state backends, and is not applicable to cloud backend-based configurations.\n\nTo change the set of workspaces associated with this configuration, edit the Cloud configuration block in the root module.",
			here: "spec.backendFile of the ProviderConfig, and -backend-config in spec.forProvider.initArgs, are only for a backend block: remove them",
		},
		"Credentials": {
			cli:  `Could not download module "x" source code from "git::http://oauth2:s3cr3t-token@127.0.0.1:1/none.git" or https://ghp_0123456789abcdefghij@example.org/a, but ssh://git@example.org/b`,
			here: `Could not download module "x" source code from "git::http://127.0.0.1:1/none.git" or https://example.org/a, but ssh://git@example.org/b`,
		},
		"SignedAddress": {
			cli:  `Could not download module "vpc" (main.tf:1) source code from "https://r.example.org/s.zip?presign=sesame-1": bad response code: 403.`,
			here: `Could not download module "vpc" (main.tf:1) source code from "https://r.example.org/s.zip?presign=redacted": bad response code: 403.`,
		},
		"KeyInAddress": {
			cli:  `Could not download module "x" from "git::ssh://git@example.org/a.git?ref=v1&sshkey=LS0tLS1C": error downloading 'ssh://git@example.org/a.git?sshkey=LS0tLS1C'`,
			here: `Could not download module "x" from "git::ssh://git@example.org/a.git?ref=v1&sshkey=redacted": error downloading 'ssh://git@example.org/a.git?sshkey=redacted'`,
		},
		"MovedTarget": {
			cli:  `but your -target=... options do not fully cover all of those resource instances. To create a valid plan, either remove your -target=... options altogether or add the following additional target options: -target="terraform_data.a" Note that adding these options may include further changes.`,
			here: `but your -target=... options do not fully cover all of those resource instances. To create a valid plan, either remove -target from spec.forProvider.planArgs and applyArgs, or add to both, without the quotes: -target="terraform_data.a" Note that adding these options may include further changes.`,
		},
		"TemporaryFile": {
			cli:  `error when creating "/tmp/tf-0946c50d5a6b4806b3774fe12108adac/3504409961kubectl_manifest.yaml": ConfigMap "big" is invalid`,
			here: `error when creating "(temporary file)": ConfigMap "big" is invalid`,
		},
		"LinkInSentence": {
			cli:  "Could not download module \"x\" from (https://h.example.org/a?sig=b). Then",
			here: "Could not download module \"x\" from (https://h.example.org/a?sig=redacted). Then",
		},
		"LinkOfModule":    {cli: "The module is not allowed, see https://h.example.org/d?p=1#a", here: "The module is not allowed, see https://h.example.org/d?p=1#a"},
		"QueryOfResource": {cli: "Get https://c.example.org/v1?limit=5: EOF", here: "Get https://c.example.org/v1?limit=5: EOF"},
		"NoTokenOfRegistry": {
			cli:  `Failed to retrieve available versions for module "vpc" (main.tf:1) from r.example.org: error looking up module versions: 401 Unauthorized.`,
			here: `Failed to retrieve available versions for module "vpc" (main.tf:1) from r.example.org: error looking up module versions: 401 Unauthorized: set or correct the token for this host in a file .terraformrc in spec.credentials of the ProviderConfig.`,
		},
		"NotExecutable": {
			cli:  `failed to instantiate provider "registry.opentofu.org/a/b" to obtain schema: fork/exec .terraform/providers/registry.opentofu.org/a/b/1.0.0/linux_amd64/terraform-provider-b_v1.0.0: permission denied`,
			here: `failed to instantiate provider "registry.opentofu.org/a/b" to obtain schema: fork/exec .terraform/providers/registry.opentofu.org/a/b/1.0.0/linux_amd64/terraform-provider-b_v1.0.0: permission denied: the package has the program without the right to execute it, or the volume is mounted with noexec`,
		},
		"NoEqualsSign": {
			cli:  `The given -var option "foo" is not correctly specified. Must be a variable name and value separated by an equals sign, like -var="key=value".`,
			here: `The given -var option "foo" is not correctly specified. Must be a variable name and value separated by an equals sign, like -var=key=value.`,
		},
		"PasswordOfPlugin": {
			cli:  `cannot connect to "postgres://admin:sesame@db.example.org/x" or "https://ghp_0123456789012345678901@h.example.org", tell admin@example.org`,
			here: `cannot connect to "postgres://db.example.org/x" or "https://h.example.org", tell admin@example.org`,
		},
		"PortOfModule": {
			cli:  "Terraform failed to determine your intended installation method for remote\nmodule package \"ssh://git@h.example.org:org/repo.git?ref=v1\".\n\nIf you intended this as a path relative to the current module, use\n\"./ssh://git@h.example.org:org/repo.git?ref=v1\" instead. The \"./\" prefix\nindicates that the address is a relative filesystem path.",
			here: `Terraform failed to determine your intended installation method for remote module package "ssh://git@h.example.org:org/repo.git?ref=v1": it is not a valid URL. What follows "HOST:" is the number of a port: write ssh://git@HOST/PATH, or git@HOST:PATH without ssh://. Write % as %25`,
		},
		"URLOfModule": {
			cli:  "OpenTofu failed to determine your intended installation method for remote module package \"https://h.example.org/%zz\".\n\nIf you intended this as a path relative to the current module, use \"./https://h.example.org/%zz\" instead. The \"./\" prefix indicates that the address is a relative filesystem path.",
			here: `OpenTofu failed to determine your intended installation method for remote module package "https://h.example.org/%zz": it is not a valid URL. What follows "HOST:" is the number of a port. Write the signs # / ? @ : of a user or a password as %23 %2F %3F %40 %3A, and % as %25`,
		},
		"PasswordOfModule": {
			cli:  `remote module package "https://ci:pa/ss@h.example.org/r.git". If you intended this as a path relative to the current module, use "./https://ci:pa/ss@h.example.org/r.git" instead. OpenTofu failed to determine your intended installation method`,
			here: `remote module package "https://h.example.org/r.git": it is not a valid URL. What follows "HOST:" is the number of a port. Write the signs # / ? @ : of a user or a password as %23 %2F %3F %40 %3A, and % as %25`,
		},
		"PathOfModule": {
			cli:  `OpenTofu failed to determine your intended installation method for remote module package "modules/vpc". If you intended this as a path relative to the current module, use "./modules/vpc" instead.`,
			here: `OpenTofu failed to determine your intended installation method for remote module package "modules/vpc". If you intended this as a path relative to the current module, use "./modules/vpc" instead.`,
		},
		"PageOfModule": {
			cli:  `Could not download module "m" (main.tf:1) source code from "https://h.example.org/org/repo.git": error downloading 'https://h.example.org/org/repo.git': no source URL was returned`,
			here: `Could not download module "m" (main.tf:1) source code from "https://h.example.org/org/repo.git": the server offers no module there: use the address of an archive, or git:: and the address of a repository`,
		},
		"RefBeforeDirectory": {
			cli:  `Could not download module "m" (main.tf:1) source code from "git::https://h.example.org/r.git?ref=v1//sub": error downloading 'https://h.example.org/r.git?ref=v1%2F%2Fsub': /usr/bin/git exited with 1: error: pathspec 'v1//sub' did not match any file(s) known to git`,
			here: `Could not download module "m" (main.tf:1) source code from "git::https://h.example.org/r.git?ref=v1//sub": /usr/bin/git exited with 1: error: pathspec 'v1//sub' did not match any file(s) known to git: write //DIRECTORY before the "?"`,
		},
		"RefBeforeDirectoryOfTofu": {
			cli:  `source code from "git::https://h.example.org/r.git?ref=v1//sub": error downloading 'https://h.example.org/r.git?ref=v1%2F%2Fsub': invalid ref: "v1//sub"`,
			here: `source code from "git::https://h.example.org/r.git?ref=v1//sub": invalid ref: "v1//sub": write //DIRECTORY before the "?"`,
		},
		"OneSlash": {
			cli:  `source code from "git::https://h.example.org/r.git/sub?ref=v1": error downloading 'https://h.example.org/r.git/sub?ref=v1': /usr/bin/git exited with 128: fatal: could not read Username for 'https://h.example.org': terminal prompts disabled`,
			here: `source code from "git::https://h.example.org/r.git/sub?ref=v1": /usr/bin/git exited with 128: fatal: cannot sign in to 'https://h.example.org': the repository does not exist, or needs an entry for this host, and for the user in the address, in a file .git-credentials in spec.credentials of the ProviderConfig. Write //DIRECTORY after .git`,
		},
		"TwoSlashes": {
			cli:  `source code from "git::https://h.example.org/r.git//sub?ref=v1": error downloading 'https://h.example.org/r.git?ref=v1': /usr/bin/git exited with 128: fatal: repository 'https://h.example.org/r.git/' not found`,
			here: `source code from "git::https://h.example.org/r.git//sub?ref=v1": /usr/bin/git exited with 128: fatal: repository 'https://h.example.org/r.git/' not found`,
		},
		"BrowserAddress": {
			cli:  `Failed to expand subdir globs: subdir "tree/main/vpc" not found`,
			here: `Failed to expand subdir globs: subdir "tree/main/vpc" not found: write the address as HOST/OWNER/REPOSITORY//DIRECTORY?ref=REF`,
		},
		"OneSlashOfHost": {
			cli:  `Failed to expand subdir globs: subdir "vpc%253Fref=v1" not found`,
			here: `Failed to expand subdir globs: subdir "vpc%253Fref=v1" not found: write the address as HOST/OWNER/REPOSITORY//DIRECTORY?ref=REF`,
		},
		"SchemeOfTerragrunt": {
			cli:  `source code from "tfr:///terraform-aws-modules/vpc/aws?version=5.0.0": download not supported for scheme 'tfr'`,
			here: `source code from "tfr:///terraform-aws-modules/vpc/aws?version=5.0.0": download not supported for scheme 'tfr': for a module of a registry, write NAMESPACE/NAME/PROVIDER, and its version in the argument version`,
		},
		"SchemeOfTofu": {
			cli:  `source code from "oci://h.example.org/vpc": download not supported for scheme 'oci'`,
			here: `source code from "oci://h.example.org/vpc": download not supported for scheme 'oci': OpenTofu has it, and spec.forProvider.cli chooses one`,
		},
		"MissingAfterCreate": {
			cli:  "When applying changes to cloud_thing.a, provider \"provider[\\\"h/n/cloud\\\"]\" produced an unexpected new value: Root object was present, but now absent.\n\nThis is a bug in the provider, which should be reported in the provider's own issue tracker.",
			here: "When applying changes to cloud_thing.a, provider \"provider[\\\"h/n/cloud\\\"]\" produced an unexpected new value: Root object was present, but now absent. It may exist without being in the state, and each retry would create another one: pause the Workspace, look for it, and import or remove it. This is a bug in the provider, which should be reported in the provider's own issue tracker.",
		},
		"NothingAfterCreate": {
			cli:  "The resource may have been successfully created, but Terraform is not tracking it. Applying the configuration again with no other action may result in duplicate resource errors.",
			here: "The resource may have been successfully created, but Terraform is not tracking it. Applying the configuration again with no other action may result in duplicate resource errors. It may exist without being in the state: pause the Workspace, look for it, and import or remove it.",
		},
		"HostWithoutUser": {
			cli:  `source code from "github.com:org/repo.git": download not supported for scheme 'github.com'`,
			here: `source code from "github.com:org/repo.git": download not supported for scheme 'github.com': for git, write git@HOST:PATH`,
		},
		"OtherLockThere": {
			cli:  "lock id \"1\" does not match existing lock. In this scenario, please call the \"force-unlock\" command to unlock the state manually. This is a very dangerous operation since if it is done erroneously it could result in two people modifying state at the same time. Only call this command if you are certain that the unlock above failed and that no one else is holding a lock.",
			here: "lock id \"1\" does not match existing lock. In this scenario, if nothing holds the lock and the provider does not remove it, remove it where the state is stored.",
		},
		"SourceOfModule": {
			cli:  `Could not download module "b" (main.tf:1) source code from "https://h.example.org/x": error downloading 'https://h.example.org/x': error downloading 'https://c.example.org/y.zip': bad response code: 404`,
			here: `Could not download module "b" (main.tf:1) source code from "https://h.example.org/x": error downloading 'https://c.example.org/y.zip': bad response code: 404`,
		},
		"NoTokenOfProviders": {
			cli:  `Could not retrieve the list of available versions for provider r.example.org/a/b: host r.example.org requires authentication credentials`,
			here: `Could not retrieve the list of available versions for provider r.example.org/a/b: host r.example.org requires authentication credentials: set or correct the token for this host in a file .terraformrc in spec.credentials of the ProviderConfig`,
		},
		"BackendArgument": {
			cli:  `The backend configuration argument "name_space" given on the command line is not expected for the selected backend type.`,
			here: `The backend configuration argument "name_space" in -backend-config in spec.forProvider.initArgs is not expected for the selected backend type.`,
		},
		"KeyOfGoogle": {
			cli:  "the string provided in credentials is neither valid json nor a valid file path",
			here: "the string provided in credentials is neither valid json nor a valid file path: if it is for the backend, set GOOGLE_CREDENTIALS in env, or credentials of the backend to the plain filename of an entry of spec.credentials of the ProviderConfig. The content is the key in JSON, not encoded again",
		},
		"PortsOfContainer": {
			cli:  "the container publishes 0.0.0.0:8080->80/tcp",
			here: "the container publishes 0.0.0.0:8080->80/tcp",
		},
		"None": {cli: "Use terraform_remote_state.", here: "Use terraform_remote_state."},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			d := Diagnostic{Summary: tc.cli, Detail: tc.cli}.forPeople(Workspace{})
			if diff := cmp.Diff(Diagnostic{Summary: tc.here, Detail: tc.here}, d); diff != "" {
				t.Errorf("-want, +got:\n%s", diff)
			}
		})
	}
}

// TestAdviseUnexpected ensures that a block or an argument gets the remedy only where it is one that its name tells.
func TestAdviseUnexpected(t *testing.T) {
	t.Parallel()

	const (
		block    = `Blocks of type "%s" are not expected here`
		argument = `An argument named "%s" is not expected here`

		cli         = ": other versions or products have it, and spec.forProvider.cli chooses one"
		terraformrc = ": put it into a file .terraformrc in spec.credentials of the ProviderConfig"
		none        = "."
	)

	cases := map[string]struct {
		text, name, context, hint, want string
	}{
		"Removed":                {text: block, name: "removed", hint: ` Did you mean "moved"?`, want: cli},
		"Ephemeral":              {text: block, name: "ephemeral", want: cli},
		"Encryption":             {text: block, name: "encryption", context: "terraform", want: cli},
		"EncryptionOfResource":   {text: block, name: "encryption", context: `resource "cloud_disk" "d"`, want: none},
		"Credentials":            {text: block, name: "credentials", want: terraformrc},
		"Helper":                 {text: block, name: "credentials_helper", want: terraformrc},
		"Installation":           {text: block, name: "provider_installation", want: terraformrc},
		"CredentialsOfResource":  {text: block, name: "credentials", context: `resource "cloud_disk" "d"`, want: none},
		"CredentialsOfTerraform": {text: block, name: "credentials", context: "terraform", want: none},
		"Other":                  {text: block, name: "thing", want: none},
		"EphemeralVariable":      {text: argument, name: "ephemeral", context: `variable "v"`, want: cli},
		"EphemeralOutput":        {text: argument, name: "ephemeral", context: `output "o"`, want: cli},
		"DeprecatedVariable":     {text: argument, name: "deprecated", context: `variable "v"`, want: cli},
		"DeprecatedOutput":       {text: argument, name: "deprecated", context: `output "o"`, want: cli},
		"Providers":              {text: argument, name: "for_each", context: `provider "p"`, want: cli},
		"RemovedDestroy":         {text: argument, name: "destroy", context: "removed", want: cli},
		"Lockfile":               {text: argument, name: "use_lockfile", context: "terraform", want: cli},
		"Endpoints":              {text: argument, name: "endpoints", context: "terraform", want: cli},
		"EndpointsOfProvider":    {text: argument, name: "endpoints", context: `provider "aws"`, want: none},
		"LockfileInFile":         {text: argument, name: "use_lockfile", want: cli},
		"Action":                 {text: block, name: "action", want: cli},
		"ImportEach":             {text: argument, name: "for_each", context: "import", want: cli},
		"OfModule":               {text: argument, name: "deprecated", context: `module "m"`, want: none},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			text := fmt.Sprintf(tc.text, tc.name)

			got := Diagnostic{Detail: text + "." + tc.hint, Context: tc.context}.forPeople(Workspace{}).Detail
			if got != text+tc.want {
				t.Errorf("want %q, got %q", text+tc.want, got)
			}
		})
	}
}

// TestAdviseRemoteState ensures that the remedy is only about the state of another module.
func TestAdviseRemoteState(t *testing.T) {
	t.Parallel()

	const text = "Unsupported state file format: This state file is encrypted and can not be read without an encryption configuration"

	const address = "module.a.data.terraform_remote_state.b"

	for d, want := range map[Diagnostic]string{
		{Detail: text, Address: address}:            text + ": give its encryption in a block remote_state_data_sources, in the block encryption of the module or of spec.configuration",
		{Detail: text}:                              text,
		{Detail: "Access denied", Address: address}: "Access denied",
	} {
		if got := d.forPeople(Workspace{}).Detail; got != want {
			t.Errorf("%+v: want %q, got %q", d, want, got)
		}
	}
}
