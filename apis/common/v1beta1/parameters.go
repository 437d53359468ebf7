// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	"k8s.io/apimachinery/pkg/runtime"
)

// A ModuleSource says where the module of a Workspace comes from.
type ModuleSource string

// Sources of a module.
const (
	// ModuleSourceRemote is an address that is downloaded.
	ModuleSourceRemote ModuleSource = "Remote"

	// ModuleSourceInline is the module's text in the Workspace itself.
	ModuleSourceInline ModuleSource = "Inline"

	// ModuleSourceFlux is the artifact of a Flux source object.
	ModuleSourceFlux ModuleSource = "Flux"
)

// A FileFormat is a syntax that the CLI reads.
type FileFormat string

// Formats of a file.
const (
	FileFormatHCL  FileFormat = "HCL"
	FileFormatJSON FileFormat = "JSON"
)

// A RemotePullPolicy says how often a module is fetched.
type RemotePullPolicy string

// Policies for fetching a module.
const (
	RemotePullPolicyAlways       RemotePullPolicy = "Always"
	RemotePullPolicyIfNotPresent RemotePullPolicy = "IfNotPresent"
)

// A VarFileSource says what kind of object holds a variable file.
type VarFileSource string

// Sources of a variable file.
const (
	VarFileSourceConfigMapKey VarFileSource = "ConfigMapKey"
	VarFileSourceSecretKey    VarFileSource = "SecretKey"
)

// A CLIProduct is a program that runs modules.
type CLIProduct string

// Programs that run modules.
const (
	CLIProductTerraform CLIProduct = "Terraform"
	CLIProductOpenTofu  CLIProduct = "OpenTofu"
)

// A CLI is one version of a program that runs modules.
type CLI struct {
	// Product is Terraform or OpenTofu.
	// +kubebuilder:validation:Enum=Terraform;OpenTofu
	Product CLIProduct `json:"product"`

	// Version of the product, exactly this one, for example 1.12.6.
	// +kubebuilder:validation:MinLength=1
	Version string `json:"version"`
}

// An Approval says which plans wait until a person approves them.
type Approval string

// Approvals, the strictest one last.
const (
	ApprovalNever   Approval = "Never"
	ApprovalDestroy Approval = "Destroy"
	ApprovalAlways  Approval = "Always"
)

// A Var is one input variable of the module.
type Var struct {
	// Key is the name of the variable.
	Key string `json:"key"`

	// Value of the variable, in the syntax of the CLI's -var argument: plain text
	// for a string, an HCL expression for a list or an object.
	Value string `json:"value"`
}

// ModuleParameters are the parameters of a Workspace that are the same for both kinds
// of Workspace.
type ModuleParameters struct {
	// Module that this Workspace runs: its address if the source is Remote, its
	// text if the source is Inline, and "<kind>::<namespace>/<name>" of a
	// GitRepository, an OCIRepository or a Bucket if the source is Flux.
	Module string `json:"module"`

	// Source says how to read the module field.
	// +kubebuilder:validation:Enum=Remote;Inline;Flux
	Source ModuleSource `json:"source"`

	// InlineFormat is the syntax of an Inline module. HCL is the default. It has no
	// meaning for other sources.
	// +optional
	// +kubebuilder:validation:Enum=HCL;JSON
	InlineFormat *FileFormat `json:"inlineFormat,omitempty"`

	// RemotePullPolicy says when a Remote or Flux module is fetched: Always looks
	// for a newer one before each plan, IfNotPresent fetches it only when it is
	// missing or its address has changed. It has no meaning for Inline modules.
	// +optional
	// +kubebuilder:validation:Enum=Always;IfNotPresent
	// +kubebuilder:default=Always
	RemotePullPolicy RemotePullPolicy `json:"remotePullPolicy,omitempty"`

	// Entrypoint is the directory in which the CLI runs, as a relative path inside
	// the module. If it is empty, the CLI runs in the root of the module.
	// +optional
	// +kubebuilder:default=""
	Entrypoint string `json:"entrypoint,omitempty"`

	// Vars are input variables, one value each. A variable that is also set by
	// varFiles or by varmap gets its value from there.
	// +optional
	Vars []Var `json:"vars,omitempty"`

	// VarMap is an object whose fields are input variables of any type. It takes
	// precedence over vars and varFiles.
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	VarMap *runtime.RawExtension `json:"varmap,omitempty"`

	// InitArgs are extra arguments of the init command.
	// +optional
	InitArgs []string `json:"initArgs,omitempty"`

	// PlanArgs are extra arguments of the plan command.
	// +optional
	PlanArgs []string `json:"planArgs,omitempty"`

	// ApplyArgs are extra arguments of the apply command.
	// +optional
	ApplyArgs []string `json:"applyArgs,omitempty"`

	// DestroyArgs are extra arguments of the destroy command.
	// +optional
	DestroyArgs []string `json:"destroyArgs,omitempty"`

	// Approval says which plans wait until a person approves them. Never: none.
	// Destroy: those that delete or replace resources, and the deletion of a Workspace
	// that has resources. Always: every plan, and such a deletion. Of the Workspace and
	// its ProviderConfig, the stricter one counts. The default is Never.
	// +kubebuilder:validation:Enum=Never;Destroy;Always
	// +optional
	Approval Approval `json:"approval,omitempty"`

	// CLI that runs the module: exactly this version, which has to be in the directory
	// of the flag --cli-dir. The default is that of the ProviderConfig or, without one,
	// the program of the flag --cli.
	// +optional
	CLI *CLI `json:"cli,omitempty"`

	// EnableTerraformCLILogging copies what the CLI prints to the log of the
	// provider. It may contain values of the module.
	// +optional
	EnableTerraformCLILogging bool `json:"enableTerraformCLILogging,omitempty"`
}

// A KeyReference refers to one key of a ConfigMap or a Secret in any namespace.
type KeyReference struct {
	// Namespace of the object.
	Namespace string `json:"namespace"`

	// Name of the object.
	Name string `json:"name"`

	// Key in the data of the object.
	Key string `json:"key"`
}

// An EnvVar is one environment variable of the CLI.
type EnvVar struct {
	// Name of the variable.
	Name string `json:"name"`

	// Value of the variable. If it is not empty, both references are ignored.
	// +optional
	Value string `json:"value,omitempty"`

	// ConfigMapKeyReference is the key of a ConfigMap with the value. It takes
	// precedence over secretKeyRef.
	// +optional
	ConfigMapKeyReference *KeyReference `json:"configMapKeyRef,omitempty"`

	// SecretKeyReference is the key of a Secret with the value.
	// +optional
	SecretKeyReference *KeyReference `json:"secretKeyRef,omitempty"`
}

// A VarFile is a file of input variables.
type VarFile struct {
	// Source says which of the two references holds the file.
	// +kubebuilder:validation:Enum=ConfigMapKey;SecretKey
	Source VarFileSource `json:"source"`

	// ConfigMapKeyReference is the key of a ConfigMap with the file. It is
	// required if the source is ConfigMapKey.
	// +optional
	ConfigMapKeyReference *KeyReference `json:"configMapKeyRef,omitempty"`

	// SecretKeyReference is the key of a Secret with the file. It is required if
	// the source is SecretKey.
	// +optional
	SecretKeyReference *KeyReference `json:"secretKeyRef,omitempty"`

	// Format is the syntax of the file.
	// +optional
	// +kubebuilder:validation:Enum=HCL;JSON
	// +kubebuilder:default=HCL
	Format *FileFormat `json:"format,omitempty"`
}

// WorkspaceParameters say which module to run and with which inputs.
//
// An input variable that is set more than once gets its value from the last of
// these: a TF_VAR_ environment variable, vars, varFiles in the order of the list,
// varmap, and a -var or -var-file in the extra arguments of the command.
type WorkspaceParameters struct {
	ModuleParameters `json:",inline"`

	// Env are environment variables of every run of the CLI. They take precedence
	// over the environment of the provider.
	// +optional
	Env []EnvVar `json:"env,omitempty"`

	// VarFiles are files of input variables. If two files set the same variable,
	// the later file takes precedence. They take precedence over vars, and varmap
	// takes precedence over them.
	// +optional
	VarFiles []VarFile `json:"varFiles,omitempty"`
}
