// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package examples

import (
	"encoding/json"
	"strings"
	"testing"

	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	apiextensionsv1 "github.com/crossplane/crossplane/apis/v2/apiextensions/v1"
	apiextensionsv2 "github.com/crossplane/crossplane/apis/v2/apiextensions/v2"
	pkgv1 "github.com/crossplane/crossplane/apis/v2/pkg/v1"
	pkgv1beta1 "github.com/crossplane/crossplane/apis/v2/pkg/v1beta1"
)

// crossplaneTypes are the types of Crossplane's kinds in the examples. Their CRDs are in Crossplane's main module, which
// would bring hundreds of dependencies with it. These are the types that the CRDs are generated from.
func crossplaneTypes() map[schema.GroupVersionKind]any {
	return map[schema.GroupVersionKind]any{
		apiextensionsv1.CompositionGroupVersionKind:                       &apiextensionsv1.Composition{},
		apiextensionsv2.SchemeGroupVersion.WithKind(compositeDefinition):  &apiextensionsv2.CompositeResourceDefinition{},
		pkgv1.FunctionGroupVersionKind:                                    &pkgv1.Function{},
		pkgv1.ProviderGroupVersionKind:                                    &pkgv1.Provider{},
		pkgv1beta1.SchemeGroupVersion.WithKind("DeploymentRuntimeConfig"): &pkgv1beta1.DeploymentRuntimeConfig{},
	}
}

const compositeDefinition = "CompositeResourceDefinition"

// asCrossplane decodes an object of one of Crossplane's kinds, and refuses unknown fields. It returns nil for other kinds.
func asCrossplane(t *testing.T, o *unstructured.Unstructured) any {
	t.Helper()

	typed, found := crossplaneTypes()[o.GroupVersionKind()]
	if !found {
		return nil
	}

	data, err := o.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}

	if err := yaml.UnmarshalStrict(data, typed); err != nil {
		t.Errorf("%s %q: %v", o.GetKind(), o.GetName(), err)
	}

	return typed
}

// compositeCRDs returns the CRDs that Crossplane makes of the definitions of composite resources, without what Crossplane
// adds to them.
func compositeCRDs(t *testing.T, all []manifest) []*extv1.CustomResourceDefinition {
	t.Helper()

	var crds []*extv1.CustomResourceDefinition

	for _, m := range all {
		xrd, isXRD := asCrossplane(t, m.object).(*apiextensionsv2.CompositeResourceDefinition)
		if !isXRD {
			continue
		}

		crd := &extv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: xrd.GetName()}}
		crd.Spec = extv1.CustomResourceDefinitionSpec{Group: xrd.Spec.Group, Names: xrd.Spec.Names, Scope: extv1.ResourceScope(xrd.Spec.Scope)}

		for _, v := range xrd.Spec.Versions {
			s := &extv1.JSONSchemaProps{}
			if err := json.Unmarshal(v.Schema.OpenAPIV3Schema.Raw, s); err != nil {
				t.Fatalf("%s: the schema of %s: %v", m.file, v.Name, err)
			}

			crd.Spec.Versions = append(crd.Spec.Versions, extv1.CustomResourceDefinitionVersion{
				Name: v.Name, Served: v.Served, Storage: v.Referenceable, Schema: &extv1.CustomResourceValidation{OpenAPIV3Schema: s},
			})
		}

		crds = append(crds, crd)
	}

	return crds
}

// composed returns the objects that the Compositions are made of, as templates for composite resources in the supplied
// namespace. Fields that a patch sets have the values of the template.
func composed(t *testing.T, all []manifest, namespace string) []manifest {
	t.Helper()

	var found []manifest

	for _, m := range all {
		c, isComposition := asCrossplane(t, m.object).(*apiextensionsv1.Composition)
		if !isComposition {
			continue
		}

		for _, step := range c.Spec.Pipeline {
			var input struct {
				Resources []struct {
					Name string               `json:"name"`
					Base runtime.RawExtension `json:"base"`
				} `json:"resources"`
			}

			if err := json.Unmarshal(step.Input.Raw, &input); err != nil {
				t.Fatalf("%s: the input of step %q: %v", m.file, step.Step, err)
			}

			for _, r := range input.Resources {
				o := &unstructured.Unstructured{}
				if err := o.UnmarshalJSON(r.Base.Raw); err != nil {
					t.Fatalf("%s: the base of %q: %v", m.file, r.Name, err)
				}

				o.SetNamespace(namespace)
				o.SetName(strings.ToLower(r.Name))
				found = append(found, manifest{file: m.file, object: o})
			}
		}
	}

	if len(found) == 0 {
		t.Error("no Composition composes anything")
	}

	return found
}
