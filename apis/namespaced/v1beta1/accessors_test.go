// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
)

// The interfaces of crossplane-runtime that the kinds of this group implement.
var (
	_ resource.ModernManaged            = &Workspace{}
	_ resource.ManagedList              = &WorkspaceList{}
	_ resource.ProviderConfig           = &ProviderConfig{}
	_ resource.ProviderConfig           = &ClusterProviderConfig{}
	_ resource.TypedProviderConfigUsage = &ProviderConfigUsage{}
	_ resource.ProviderConfigUsageList  = &ProviderConfigUsageList{}
)

func TestGetParameters(t *testing.T) {
	t.Parallel()

	hcl, json := commonv1beta1.FileFormatHCL, commonv1beta1.FileFormatJSON
	module := func() commonv1beta1.ModuleParameters {
		return commonv1beta1.ModuleParameters{
			Module:                    "output \"a\" { value = 1 }",
			Source:                    commonv1beta1.ModuleSourceInline,
			InlineFormat:              &hcl,
			RemotePullPolicy:          commonv1beta1.RemotePullPolicyAlways,
			Entrypoint:                "sub",
			Vars:                      []commonv1beta1.Var{{Key: "a", Value: "1"}},
			VarMap:                    &runtime.RawExtension{Raw: []byte(`{"b":2}`)},
			InitArgs:                  []string{"-i"},
			PlanArgs:                  []string{"-p"},
			ApplyArgs:                 []string{"-a"},
			DestroyArgs:               []string{"-d"},
			EnableTerraformCLILogging: true,
		}
	}

	cases := map[string]struct {
		reason string
		in     WorkspaceParameters
		want   commonv1beta1.WorkspaceParameters
	}{
		"Empty": {
			reason: "Absent fields stay absent.",
		},
		"ModuleParameters": {
			reason: "Parameters without references do not change.",
			in:     WorkspaceParameters{ModuleParameters: module()},
			want:   commonv1beta1.WorkspaceParameters{ModuleParameters: module()},
		},
		"Env": {
			reason: "References of env get the namespace of the Workspace, and the order stays.",
			in: WorkspaceParameters{Env: []EnvVar{
				{Name: "A", Value: "a"},
				{Name: "B", ConfigMapKeyReference: &KeyReference{Name: "cm", Key: "b"}},
				{Name: "C", SecretKeyReference: &KeyReference{Name: "secret", Key: "c"}},
			}},
			want: commonv1beta1.WorkspaceParameters{Env: []commonv1beta1.EnvVar{
				{Name: "A", Value: "a"},
				{Name: "B", ConfigMapKeyReference: &commonv1beta1.KeyReference{Namespace: "team", Name: "cm", Key: "b"}},
				{Name: "C", SecretKeyReference: &commonv1beta1.KeyReference{Namespace: "team", Name: "secret", Key: "c"}},
			}},
		},
		"VarFiles": {
			reason: "References of varFiles get the namespace of the Workspace, and the order stays.",
			in: WorkspaceParameters{VarFiles: []VarFile{
				{
					Source:                commonv1beta1.VarFileSourceConfigMapKey,
					ConfigMapKeyReference: &KeyReference{Name: "cm", Key: "a"},
					Format:                &json,
				},
				{
					Source:             commonv1beta1.VarFileSourceSecretKey,
					SecretKeyReference: &KeyReference{Name: "secret", Key: "b"},
				},
			}},
			want: commonv1beta1.WorkspaceParameters{VarFiles: []commonv1beta1.VarFile{
				{
					Source:                commonv1beta1.VarFileSourceConfigMapKey,
					ConfigMapKeyReference: &commonv1beta1.KeyReference{Namespace: "team", Name: "cm", Key: "a"},
					Format:                &json,
				},
				{
					Source:             commonv1beta1.VarFileSourceSecretKey,
					SecretKeyReference: &commonv1beta1.KeyReference{Namespace: "team", Name: "secret", Key: "b"},
				},
			}},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w := &Workspace{
				ObjectMeta: metav1.ObjectMeta{Namespace: "team"},
				Spec:       WorkspaceSpec{ForProvider: tc.in},
			}
			if diff := cmp.Diff(tc.want, w.GetParameters()); diff != "" {
				t.Errorf("%s\nGetParameters(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestGetParametersCopies(t *testing.T) {
	t.Parallel()

	parameters := func() WorkspaceParameters {
		format := commonv1beta1.FileFormatJSON

		return WorkspaceParameters{
			ModuleParameters: commonv1beta1.ModuleParameters{
				Vars:   []commonv1beta1.Var{{Key: "a", Value: "1"}},
				VarMap: &runtime.RawExtension{Raw: []byte(`{"b":2}`)},
			},
			VarFiles: []VarFile{{Format: &format}},
		}
	}

	w := &Workspace{Spec: WorkspaceSpec{ForProvider: parameters()}}

	got := w.GetParameters()
	got.Vars[0].Value = "changed"
	got.VarMap.Raw[2] = 'x'
	*got.VarFiles[0].Format = "changed"

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

	spec := func(namespace string) commonv1beta1.ProviderConfigSpec {
		configuration := "terraform {}"

		return commonv1beta1.ProviderConfigSpec{
			Configuration: &configuration,
			Credentials: []commonv1beta1.ProviderCredentials{
				{
					Filename: "a.json",
					Source:   xpv2.CredentialsSourceSecret,
					CommonCredentialSelectors: xpv2.CommonCredentialSelectors{
						SecretRef: &xpv2.SecretKeySelector{
							SecretReference: xpv2.SecretReference{Namespace: namespace, Name: "secret"},
							Key:             "key",
						},
					},
				},
				{
					Filename: "b.json",
					Source:   xpv2.CredentialsSourceNone,
				},
			},
		}
	}
	meta := metav1.ObjectMeta{Name: "default", Namespace: "team"}

	t.Run("ProviderConfig", func(t *testing.T) {
		t.Parallel()

		p := &ProviderConfig{ObjectMeta: meta, Spec: spec("elsewhere")}

		got := p.GetProviderConfigSpec()
		if diff := cmp.Diff(spec("team"), got); diff != "" {
			t.Errorf("Secrets are in the namespace of the ProviderConfig.\nGetProviderConfigSpec(): -want, +got:\n%s", diff)
		}

		*got.Configuration = "changed"

		if diff := cmp.Diff(spec("elsewhere"), p.Spec); diff != "" {
			t.Errorf("A change of the result must not reach the ProviderConfig.\n-want, +got:\n%s", diff)
		}
	})

	t.Run("ClusterProviderConfig", func(t *testing.T) {
		t.Parallel()

		p := &ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: "default"}, Spec: spec("elsewhere")}

		got := p.GetProviderConfigSpec()
		if diff := cmp.Diff(spec("elsewhere"), got); diff != "" {
			t.Errorf("Secrets are in the written namespace.\nGetProviderConfigSpec(): -want, +got:\n%s", diff)
		}

		*got.Configuration = "changed"
		got.Credentials[0].SecretRef.Namespace = "changed"

		if diff := cmp.Diff(spec("elsewhere"), p.Spec); diff != "" {
			t.Errorf("A change of the result must not reach the ClusterProviderConfig.\n-want, +got:\n%s", diff)
		}
	})
}
