// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
)

// A KeyReference refers to one key of a ConfigMap or a Secret in the namespace of
// the Workspace.
type KeyReference struct {
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
	Source commonv1beta1.VarFileSource `json:"source"`

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
	Format *commonv1beta1.FileFormat `json:"format,omitempty"`
}

// WorkspaceParameters are everything that a Workspace asks for. Objects that it
// refers to are in its own namespace.
type WorkspaceParameters struct {
	commonv1beta1.ModuleParameters `json:",inline"`

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

// A WorkspaceSpec is the desired state of a Workspace.
type WorkspaceSpec struct {
	xpv2.ManagedResourceSpec `json:",inline"`

	// ForProvider says which module to run and what to run it with.
	ForProvider WorkspaceParameters `json:"forProvider"`
}

// A WorkspaceStatus is the observed state of a Workspace.
type WorkspaceStatus struct {
	xpv2.ManagedResourceStatus `json:",inline"`

	// AtProvider is the result of the last successful observation of the Workspace.
	// +optional
	AtProvider commonv1beta1.WorkspaceObservation `json:"atProvider,omitempty"`

	// Ownership says which instance may work on the Workspace, and what belongs to it.
	// +optional
	Ownership *commonv1beta1.Ownership `json:"ownership,omitempty"`
}

// A Workspace keeps the infrastructure of one Terraform or OpenTofu module as the
// module describes it.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,categories={crossplane,managed,terraform},shortName=tfmws
// +kubebuilder:printcolumn:name="SYNCED",type="string",JSONPath=".status.conditions[?(@.type=='Synced')].status"
// +kubebuilder:printcolumn:name="READY",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].status"
// +kubebuilder:printcolumn:name="SHARD",type="string",JSONPath=`.metadata.labels['terraform\.crossplane\.io/shard']`
// +kubebuilder:printcolumn:name="AGE",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:printcolumn:name="SERVED-BY",type="string",JSONPath=".status.ownership.claim.holder",priority=1
// +kubebuilder:printcolumn:name="SERVED-FOR",type="date",JSONPath=".status.ownership.claimedAt",priority=1
// +kubebuilder:printcolumn:name="PLAN",type="string",JSONPath=".status.atProvider.plan.summary",priority=1
// +kubebuilder:printcolumn:name="DRIFTED",type="string",JSONPath=".status.conditions[?(@.type=='Drifted')].status",priority=1
// +kubebuilder:printcolumn:name="AWAITING",type="string",JSONPath=".status.conditions[?(@.type=='AwaitingApproval')].status",priority=1
// +kubebuilder:printcolumn:name="CONFIG",type="string",JSONPath=".spec.providerConfigRef.name",priority=1
// +kubebuilder:printcolumn:name="LAST-PLAN",type="date",JSONPath=".status.atProvider.lastPlanTime",priority=1
// +kubebuilder:printcolumn:name="MESSAGE",type="string",JSONPath=".status.conditions[?(@.type=='Synced')].message",priority=1
type Workspace struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec WorkspaceSpec `json:"spec"`

	// Status is the observed state of the Workspace. Because of its default, tools that use kstatus wait for a new
	// Workspace: without an observed generation, they consider it current until the provider writes its status.
	// +kubebuilder:default:={"observedGeneration":-1}
	Status WorkspaceStatus `json:"status,omitempty"`
}

// A WorkspaceList is a list of Workspaces.
//
// +kubebuilder:object:root=true
type WorkspaceList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Workspace `json:"items"`
}
