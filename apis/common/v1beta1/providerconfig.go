// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	"path/filepath"

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
	// +kubebuilder:validation:Enum=None;Secret;Environment;Filesystem;ServiceAccountToken
	Source xpv2.CredentialsSource `json:"source"`

	// ServiceAccountToken is the token that is the content of the file. It is
	// required if the source is ServiceAccountToken.
	// +optional
	ServiceAccountToken *ServiceAccountTokenSelector `json:"serviceAccountToken,omitempty"`
}

// BaseName returns the name of the file, without a directory.
func (c *ProviderCredentials) BaseName() string { return filepath.Base(filepath.Clean(c.Filename)) }

// CredentialsSourceServiceAccountToken is the source of a file with a token of a
// ServiceAccount.
const CredentialsSourceServiceAccountToken xpv2.CredentialsSource = "ServiceAccountToken"

// A ServiceAccountTokenSelector asks for a token of a ServiceAccount, for one audience.
// The ServiceAccount has to allow the audience in its annotation
// terraform.crossplane.io/token-audiences.
type ServiceAccountTokenSelector struct {
	// Name of the ServiceAccount.
	// +kubebuilder:validation:MinLength=1
	Name string `json:"name"`

	// Namespace of the ServiceAccount. The default is that of the Workspace. In a
	// namespaced ProviderConfig it is ignored: the ServiceAccount is in the namespace of
	// the ProviderConfig. A ProviderConfig for cluster-scoped Workspaces needs it.
	// +optional
	Namespace string `json:"namespace,omitempty"`

	// Audience of the token: the name of the service that is to accept it.
	// +kubebuilder:validation:MinLength=1
	Audience string `json:"audience"`

	// ExpirationSeconds is how long the token is valid. The default is an hour or, if
	// that is longer, twice the flag --timeout. A token is used for half of that time.
	// +optional
	// +kubebuilder:validation:Minimum=600
	ExpirationSeconds *int64 `json:"expirationSeconds,omitempty"`
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
