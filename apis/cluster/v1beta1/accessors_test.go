// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
)

// The interfaces of crossplane-runtime that the kinds of this group implement.
var (
	_ resource.LegacyManaged             = &Workspace{}
	_ resource.ManagedList               = &WorkspaceList{}
	_ resource.ProviderConfig            = &ProviderConfig{}
	_ resource.LegacyProviderConfigUsage = &ProviderConfigUsage{}
	_ resource.ProviderConfigUsageList   = &ProviderConfigUsageList{}
)

func parameters() commonv1beta1.WorkspaceParameters {
	ref := commonv1beta1.KeyReference{Namespace: "elsewhere", Name: "object", Key: "key"}

	return commonv1beta1.WorkspaceParameters{
		ModuleParameters: commonv1beta1.ModuleParameters{
			Module: "output \"a\" { value = 1 }",
			Source: commonv1beta1.ModuleSourceInline,
			Vars:   []commonv1beta1.Var{{Key: "a", Value: "1"}},
			VarMap: &runtime.RawExtension{Raw: []byte(`{"b":2}`)},
		},
		Env:      []commonv1beta1.EnvVar{{Name: "A", SecretKeyReference: &ref}},
		VarFiles: []commonv1beta1.VarFile{{Source: commonv1beta1.VarFileSourceConfigMapKey, ConfigMapKeyReference: &ref}},
	}
}

func TestGetParameters(t *testing.T) {
	t.Parallel()

	w := &Workspace{Spec: WorkspaceSpec{ForProvider: parameters()}}

	got := w.GetParameters()
	if diff := cmp.Diff(parameters(), got); diff != "" {
		t.Errorf("Parameters are as they were written.\nGetParameters(): -want, +got:\n%s", diff)
	}

	got.Vars[0].Value = "changed"
	got.VarMap.Raw[2] = 'x'
	got.Env[0].SecretKeyReference.Namespace = "changed"
	got.VarFiles[0].Source = "changed"

	if diff := cmp.Diff(parameters(), w.Spec.ForProvider); diff != "" {
		t.Errorf("A change of the result must not reach the Workspace.\n-want, +got:\n%s", diff)
	}
}

func TestObservation(t *testing.T) {
	t.Parallel()

	observation := func() commonv1beta1.WorkspaceObservation {
		return commonv1beta1.WorkspaceObservation{
			Outputs:      map[string]extv1.JSON{"a": {Raw: []byte(`12345678901234567890`)}},
			Checksum:     "c",
			RemoteSource: "r",
		}
	}

	w := &Workspace{}
	set := observation()
	w.SetObservation(set)
	set.Outputs["a"].Raw[0] = '9'
	set.Outputs["b"] = extv1.JSON{}

	got := w.GetObservation()
	if diff := cmp.Diff(observation(), got); diff != "" {
		t.Errorf("A change of the argument must not reach the Workspace.\nGetObservation(): -want, +got:\n%s", diff)
	}

	got.Outputs["a"].Raw[0] = '9'
	delete(got.Outputs, "a")

	if diff := cmp.Diff(observation(), w.Status.AtProvider); diff != "" {
		t.Errorf("A change of the result must not reach the Workspace.\n-want, +got:\n%s", diff)
	}
}

func TestLastHandledReconcileAt(t *testing.T) {
	t.Parallel()

	w := &Workspace{}
	w.SetLastHandledReconcileAt("token")

	if diff := cmp.Diff("token", w.GetLastHandledReconcileAt()); diff != "" {
		t.Errorf("GetLastHandledReconcileAt(): -want, +got:\n%s", diff)
	}

	if diff := cmp.Diff("token", w.Status.LastHandledReconcileAt); diff != "" {
		t.Errorf("The token belongs to the status.\n-want, +got:\n%s", diff)
	}
}

func TestGetProviderConfigSpec(t *testing.T) {
	t.Parallel()

	spec := func() commonv1beta1.ProviderConfigSpec {
		configuration := "terraform {}"

		return commonv1beta1.ProviderConfigSpec{
			Configuration: &configuration,
			Credentials: []commonv1beta1.ProviderCredentials{{
				Filename: "a.json",
				Source:   xpv2.CredentialsSourceSecret,
				CommonCredentialSelectors: xpv2.CommonCredentialSelectors{
					SecretRef: &xpv2.SecretKeySelector{
						SecretReference: xpv2.SecretReference{Namespace: "elsewhere", Name: "secret"},
						Key:             "key",
					},
				},
			}},
		}
	}

	p := &ProviderConfig{Spec: spec()}

	got := p.GetProviderConfigSpec()
	if diff := cmp.Diff(spec(), got); diff != "" {
		t.Errorf("The configuration is as it was written.\nGetProviderConfigSpec(): -want, +got:\n%s", diff)
	}

	*got.Configuration = "changed"
	got.Credentials[0].SecretRef.Namespace = "changed"

	if diff := cmp.Diff(spec(), p.Spec); diff != "" {
		t.Errorf("A change of the result must not reach the ProviderConfig.\n-want, +got:\n%s", diff)
	}
}
