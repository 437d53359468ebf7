// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package runner

import "fmt"

// Names of files that the provider writes beside a module. Users may refer to them, so they must
// not change.
const (
	configurationFile  = "crossplane-provider-config.tf" // spec.configuration of the ProviderConfig.
	backendFile        = "crossplane.remote.tfbackend"   // spec.backendFile of the ProviderConfig.
	cliConfigFile      = ".terraformrc"                  // The credentials file that configures the CLI.
	gitCredentialsFile = ".git-credentials"              // The credentials file that git reads.

	// varsFile holds spec.forProvider.vars. Every process on the node can read arguments. With
	// TF_LOG=info the CLI logs TF_CLI_ARGS_plan and similar variables, and a CLI that a provisioner
	// runs for another module refuses the arguments in them.
	varsFile = "crossplane-provider-terraform-vars.tfvars"

	// stateOnlyDir is a directory without the module, from which the state can be reached.
	stateOnlyDir = "crossplane-provider-terraform-state"

	// unsavedDir is a backend "local" for a state that could not be saved, and overrideFile makes the module
	// use it.
	unsavedDir   = ".crossplane-unsaved"
	overrideFile = "crossplane-provider-terraform_override.tf"
)

// planFile is among the records: a module that hashes its own directory would find another one when the plan is applied.
const planFile = "run.tfplan"

// varFileName returns the name of the n-th file of variables.
func varFileName(n int, isJSON bool) string {
	name := fmt.Sprintf("crossplane-provider-terraform-%d.tfvars", n)
	if isJSON {
		name += ".json"
	}

	return name
}
