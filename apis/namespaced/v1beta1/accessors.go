// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	"k8s.io/apimachinery/pkg/types"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
)

// GetParameters returns a copy of the parameters of this Workspace. Every reference in it has the
// namespace of this Workspace.
func (w *Workspace) GetParameters() commonv1beta1.WorkspaceParameters {
	p := w.Spec.ForProvider.DeepCopy()

	out := commonv1beta1.WorkspaceParameters{ModuleParameters: p.ModuleParameters}
	for _, e := range p.Env {
		out.Env = append(out.Env, commonv1beta1.EnvVar{
			Name:                  e.Name,
			Value:                 e.Value,
			ConfigMapKeyReference: e.ConfigMapKeyReference.in(w.GetNamespace()),
			SecretKeyReference:    e.SecretKeyReference.in(w.GetNamespace()),
		})
	}

	for _, f := range p.VarFiles {
		out.VarFiles = append(out.VarFiles, commonv1beta1.VarFile{
			Source:                f.Source,
			ConfigMapKeyReference: f.ConfigMapKeyReference.in(w.GetNamespace()),
			SecretKeyReference:    f.SecretKeyReference.in(w.GetNamespace()),
			Format:                f.Format,
		})
	}

	return out
}

// in returns this reference with the supplied namespace, or nil for nil.
func (r *KeyReference) in(namespace string) *commonv1beta1.KeyReference {
	if r == nil {
		return nil
	}

	return &commonv1beta1.KeyReference{Namespace: namespace, Name: r.Name, Key: r.Key}
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

	return types.NamespacedName{Namespace: w.GetNamespace(), Name: ref.Name}, true
}

// GetProviderConfigSpec returns a copy of the configuration. Every Secret and ServiceAccount
// that it refers to is in the namespace of this ProviderConfig, regardless of the written namespace:
// otherwise anyone who may write a ProviderConfig could read any Secret.
func (p *ProviderConfig) GetProviderConfigSpec() commonv1beta1.ProviderConfigSpec {
	spec := p.Spec.DeepCopy()
	for i := range spec.Credentials {
		if ref := spec.Credentials[i].SecretRef; ref != nil {
			ref.Namespace = p.GetNamespace()
		}

		if token := spec.Credentials[i].ServiceAccountToken; token != nil {
			token.Namespace = p.GetNamespace()
		}
	}

	return *spec
}

// GetProviderConfigSpec returns a copy of the configuration, as it was written.
func (p *ClusterProviderConfig) GetProviderConfigSpec() commonv1beta1.ProviderConfigSpec {
	return *p.Spec.DeepCopy()
}
