// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
)

// ProviderCredentials is one file of credentials.
type ProviderCredentials struct {
	xpv2.CommonCredentialSelectors `json:",inline"`

	// Filename to write the credentials to, in the directory in which the CLI
	// runs. Only the last element of a path is used. A file with the name
	// .git-credentials is also used to fetch modules from git repositories.
	Filename string `json:"filename"`

	// Source says which of the references holds the credentials. None makes
	// the file empty.
	// +kubebuilder:validation:Enum=None;Secret;Environment;Filesystem
	Source xpv2.CredentialsSource `json:"source"`
}

// ProviderConfigSpec says how to run the CLI for the Workspaces that use this
// configuration.
type ProviderConfigSpec struct {
	// Credentials are files that are written to the directory in which the CLI
	// runs.
	// +optional
	Credentials []ProviderCredentials `json:"credentials,omitempty"`

	// Configuration is HCL that is added to every module, for example provider
	// and backend blocks.
	// +optional
	Configuration *string `json:"configuration,omitempty"`

	// BackendFile is the content of a partial backend configuration, passed to
	// the init command with -backend-config.
	// +optional
	BackendFile *string `json:"backendFile,omitempty"`

	// Approval says which plans of the Workspaces wait until a person approves them.
	// Never: none. Destroy: those that delete or replace resources, and the deletion of
	// a Workspace that has resources. Always: every plan, and such a deletion. Of the
	// Workspace and its ProviderConfig, the stricter one counts. The default is Never.
	// +kubebuilder:validation:Enum=Never;Destroy;Always
	// +optional
	Approval Approval `json:"approval,omitempty"`

	// CLI that runs the modules of the Workspaces that name none themselves: exactly this
	// version, which has to be in the directory of the flag --cli-dir. The default is the
	// program of the flag --cli.
	// +optional
	CLI *CLI `json:"cli,omitempty"`

	// PluginCache says whether runs may use the plugin cache that all Workspaces
	// share.
	// +optional
	// +kubebuilder:default=true
	PluginCache *bool `json:"pluginCache,omitempty"`
}

// ProviderConfigStatus is the state of a configuration.
type ProviderConfigStatus struct {
	xpv2.ProviderConfigStatus `json:",inline"`
}
