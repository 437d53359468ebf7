// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package apis_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"

	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	namespacedv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/namespaced/v1beta1"
)

// The interfaces of crossplane-runtime that the Workspaces of both scopes implement.
var (
	_ resource.LegacyManaged = &clusterv1beta1.Workspace{}
	_ resource.ModernManaged = &namespacedv1beta1.Workspace{}
	_ resource.ManagedList   = &clusterv1beta1.WorkspaceList{}
	_ resource.ManagedList   = &namespacedv1beta1.WorkspaceList{}
)

func clusterParameters() commonv1beta1.WorkspaceParameters {
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

func TestClusterParameters(t *testing.T) {
	t.Parallel()

	w := &clusterv1beta1.Workspace{Spec: clusterv1beta1.WorkspaceSpec{ForProvider: clusterParameters()}}

	got := w.GetParameters()
	if diff := cmp.Diff(clusterParameters(), got); diff != "" {
		t.Errorf("Parameters are as they were written.\nGetParameters(): -want, +got:\n%s", diff)
	}

	got.Vars[0].Value = "changed"
	got.VarMap.Raw[2] = 'x'
	got.Env[0].SecretKeyReference.Namespace = "changed"
	got.VarFiles[0].Source = "changed"

	if diff := cmp.Diff(clusterParameters(), w.Spec.ForProvider); diff != "" {
		t.Errorf("A change of the result must not reach the Workspace.\n-want, +got:\n%s", diff)
	}
}

func TestNamespacedParameters(t *testing.T) {
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
		in     namespacedv1beta1.WorkspaceParameters
		want   commonv1beta1.WorkspaceParameters
	}{
		"Empty": {
			reason: "Absent fields stay absent.",
		},
		"ModuleParameters": {
			reason: "Parameters without references do not change.",
			in:     namespacedv1beta1.WorkspaceParameters{ModuleParameters: module()},
			want:   commonv1beta1.WorkspaceParameters{ModuleParameters: module()},
		},
		"Env": {
			reason: "References of env get the namespace of the Workspace, and the order stays.",
			in: namespacedv1beta1.WorkspaceParameters{Env: []namespacedv1beta1.EnvVar{
				{Name: "A", Value: "a"},
				{Name: "B", ConfigMapKeyReference: &namespacedv1beta1.KeyReference{Name: "cm", Key: "b"}},
				{Name: "C", SecretKeyReference: &namespacedv1beta1.KeyReference{Name: "secret", Key: "c"}},
			}},
			want: commonv1beta1.WorkspaceParameters{Env: []commonv1beta1.EnvVar{
				{Name: "A", Value: "a"},
				{Name: "B", ConfigMapKeyReference: &commonv1beta1.KeyReference{Namespace: "team", Name: "cm", Key: "b"}},
				{Name: "C", SecretKeyReference: &commonv1beta1.KeyReference{Namespace: "team", Name: "secret", Key: "c"}},
			}},
		},
		"VarFiles": {
			reason: "References of varFiles get the namespace of the Workspace, and the order stays.",
			in: namespacedv1beta1.WorkspaceParameters{VarFiles: []namespacedv1beta1.VarFile{
				{
					Source:                commonv1beta1.VarFileSourceConfigMapKey,
					ConfigMapKeyReference: &namespacedv1beta1.KeyReference{Name: "cm", Key: "a"},
					Format:                &json,
				},
				{
					Source:             commonv1beta1.VarFileSourceSecretKey,
					SecretKeyReference: &namespacedv1beta1.KeyReference{Name: "secret", Key: "b"},
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

			w := &namespacedv1beta1.Workspace{
				ObjectMeta: metav1.ObjectMeta{Namespace: "team"},
				Spec:       namespacedv1beta1.WorkspaceSpec{ForProvider: tc.in},
			}
			if diff := cmp.Diff(tc.want, w.GetParameters()); diff != "" {
				t.Errorf("%s\nGetParameters(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestNamespacedParametersCopies(t *testing.T) {
	t.Parallel()

	parameters := func() namespacedv1beta1.WorkspaceParameters {
		format := commonv1beta1.FileFormatJSON

		return namespacedv1beta1.WorkspaceParameters{
			ModuleParameters: commonv1beta1.ModuleParameters{
				Vars:   []commonv1beta1.Var{{Key: "a", Value: "1"}},
				VarMap: &runtime.RawExtension{Raw: []byte(`{"b":2}`)},
			},
			VarFiles: []namespacedv1beta1.VarFile{{Format: &format}},
		}
	}

	w := &namespacedv1beta1.Workspace{Spec: namespacedv1beta1.WorkspaceSpec{ForProvider: parameters()}}

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

	var (
		cluster    clusterv1beta1.Workspace
		namespaced namespacedv1beta1.Workspace
	)

	cases := map[string]struct {
		workspace interface {
			GetObservation() commonv1beta1.WorkspaceObservation
			SetObservation(o commonv1beta1.WorkspaceObservation)
		}
		observation *commonv1beta1.WorkspaceObservation
	}{
		"Cluster":    {workspace: &cluster, observation: &cluster.Status.AtProvider},
		"Namespaced": {workspace: &namespaced, observation: &namespaced.Status.AtProvider},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			set := observation()
			tc.workspace.SetObservation(set)
			set.Outputs["a"].Raw[0] = '9'
			set.Outputs["b"] = extv1.JSON{}

			got := tc.workspace.GetObservation()
			if diff := cmp.Diff(observation(), got); diff != "" {
				t.Errorf("A change of the argument must not reach the Workspace.\nGetObservation(): -want, +got:\n%s", diff)
			}

			got.Outputs["a"].Raw[0] = '9'
			delete(got.Outputs, "a")

			if diff := cmp.Diff(observation(), *tc.observation); diff != "" {
				t.Errorf("A change of the result must not reach the Workspace.\n-want, +got:\n%s", diff)
			}
		})
	}
}
