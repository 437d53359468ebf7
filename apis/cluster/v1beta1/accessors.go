// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	"k8s.io/apimachinery/pkg/types"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
)

// GetParameters returns a copy of the parameters of this Workspace.
func (w *Workspace) GetParameters() commonv1beta1.WorkspaceParameters {
	return *w.Spec.ForProvider.DeepCopy()
}

// GetObservation returns a copy of the last observation of this Workspace.
func (w *Workspace) GetObservation() commonv1beta1.WorkspaceObservation {
	return *w.Status.AtProvider.DeepCopy()
}

// SetObservation records a copy of o as the last observation of this Workspace.
func (w *Workspace) SetObservation(o commonv1beta1.WorkspaceObservation) {
	w.Status.AtProvider = *o.DeepCopy()
}

// GetOwnership returns a copy of the ownership of this Workspace. It is the zero value if it was
// written for another Workspace.
func (w *Workspace) GetOwnership() commonv1beta1.Ownership {
	return w.Status.Ownership.Of(w.GetUID())
}

// SetOwnership records a copy of o as the ownership of this Workspace.
func (w *Workspace) SetOwnership(o commonv1beta1.Ownership) {
	w.Status.Ownership = o.For(w.GetUID())
}

// GetLastHandledReconcileAt returns the last reconcile request that was handled.
func (w *Workspace) GetLastHandledReconcileAt() string {
	return w.Status.GetLastHandledReconcileAt()
}

// SetLastHandledReconcileAt records that the reconcile request token was handled.
func (w *Workspace) SetLastHandledReconcileAt(token string) {
	w.Status.SetLastHandledReconcileAt(token)
}

// GetObservedGeneration returns the generation that was last found up to date.
func (w *Workspace) GetObservedGeneration() int64 {
	return w.Status.GetObservedGeneration()
}

// SetObservedGeneration records the generation that was found up to date.
func (w *Workspace) SetObservedGeneration(generation int64) {
	w.Status.SetObservedGeneration(generation)
}

// GetConnectionSecretKey returns the key of the Secret for the outputs of this Workspace, and
// false if there is to be none.
func (w *Workspace) GetConnectionSecretKey() (types.NamespacedName, bool) {
	ref := w.Spec.WriteConnectionSecretToReference
	if ref == nil {
		return types.NamespacedName{}, false
	}

	return types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}, true
}

// GetProviderConfigSpec returns a copy of the configuration.
func (p *ProviderConfig) GetProviderConfigSpec() commonv1beta1.ProviderConfigSpec {
	return *p.Spec.DeepCopy()
}
