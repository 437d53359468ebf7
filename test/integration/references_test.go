// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	namespacedv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/namespaced/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// A keyReference refers to a key of a ConfigMap or a Secret.
type keyReference = commonv1beta1.KeyReference

// References are the references of a Workspace to other objects. In a namespaced Workspace
// they lose their namespaces.
type references struct {
	env      []commonv1beta1.EnvVar
	varFiles []commonv1beta1.VarFile
}

// newReferring returns a Workspace, as newWorkspace makes it, with references.
func newReferring(s scope, namespace string, r references, opts ...workspaceOption) workspace.Workspace {
	switch ws := newWorkspace(s, namespace, opts...).(type) {
	case *namespacedv1beta1.Workspace:
		for _, e := range r.env {
			ws.Spec.ForProvider.Env = append(ws.Spec.ForProvider.Env, namespacedv1beta1.EnvVar{
				Name:                  e.Name,
				Value:                 e.Value,
				ConfigMapKeyReference: localReference(e.ConfigMapKeyReference),
				SecretKeyReference:    localReference(e.SecretKeyReference),
			})
		}

		for _, f := range r.varFiles {
			ws.Spec.ForProvider.VarFiles = append(ws.Spec.ForProvider.VarFiles, namespacedv1beta1.VarFile{
				Source:                f.Source,
				ConfigMapKeyReference: localReference(f.ConfigMapKeyReference),
				SecretKeyReference:    localReference(f.SecretKeyReference),
				Format:                f.Format,
			})
		}

		return ws
	case *clusterv1beta1.Workspace:
		ws.Spec.ForProvider.Env, ws.Spec.ForProvider.VarFiles = r.env, r.varFiles

		return ws
	default:
		return ws
	}
}

func localReference(r *keyReference) *namespacedv1beta1.KeyReference {
	if r == nil {
		return nil
	}

	return &namespacedv1beta1.KeyReference{Name: r.Name, Key: r.Key}
}

// createReferring creates a Workspace as newReferring makes it.
func (c *cluster) createReferring(t *testing.T, s scope, namespace string, r references, opts ...workspaceOption) workspace.Workspace {
	t.Helper()

	ws := newReferring(s, namespace, r, opts...)
	c.create(t, ws)

	return ws
}

// withParameters changes the parameters of the Workspace.
func withParameters(change func(*commonv1beta1.ModuleParameters)) workspaceOption {
	return func(w *workspaceSpec) { change(&w.params) }
}

// configMapKey creates a ConfigMap with one key, and refers to that.
func (c *cluster) configMapKey(t *testing.T, namespace, text string) *keyReference {
	t.Helper()

	ref := &keyReference{Namespace: namespace, Name: unique("configmap"), Key: "key"}
	c.create(t, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: ref.Namespace, Name: ref.Name},
		Data:       map[string]string{ref.Key: text},
	})

	return ref
}

// secretKey creates a Secret with one key, and refers to that.
func (c *cluster) secretKey(t *testing.T, namespace, text string) *keyReference {
	t.Helper()

	ref := &keyReference{Namespace: namespace, Name: unique("secret"), Key: "key"}
	c.createSecret(t, ref, text)

	return ref
}

// createSecret creates the Secret that the supplied reference is to.
func (c *cluster) createSecret(t *testing.T, ref *keyReference, text string) {
	t.Helper()
	c.create(t, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: ref.Namespace, Name: ref.Name},
		Data:       map[string][]byte{ref.Key: []byte(text)},
	})
}

// inFormat is for fields that are absent by default.
func inFormat(f commonv1beta1.FileFormat) *commonv1beta1.FileFormat { return new(f) }

func configMapVars(ref *keyReference, f *commonv1beta1.FileFormat) commonv1beta1.VarFile {
	return commonv1beta1.VarFile{Source: commonv1beta1.VarFileSourceConfigMapKey, ConfigMapKeyReference: ref, Format: f}
}

func secretVars(ref *keyReference, f *commonv1beta1.FileFormat) commonv1beta1.VarFile {
	return commonv1beta1.VarFile{Source: commonv1beta1.VarFileSourceSecretKey, SecretKeyReference: ref, Format: f}
}

// secretCredentials are a file of credentials with the text of the supplied key.
func secretCredentials(filename string, ref *keyReference) commonv1beta1.ProviderCredentials {
	return commonv1beta1.ProviderCredentials{
		Filename: filename,
		Source:   xpv2.CredentialsSourceSecret,
		CommonCredentialSelectors: xpv2.CommonCredentialSelectors{
			SecretRef: &xpv2.SecretKeySelector{
				SecretReference: xpv2.SecretReference{Namespace: ref.Namespace, Name: ref.Name},
				Key:             ref.Key,
			},
		},
	}
}
