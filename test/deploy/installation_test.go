// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package deploy tests the kustomize directories in cluster/deploy and examples/deploy: they
// render, an API server accepts the result, and the provider starts as each pod says, under
// the rights of its ServiceAccount.
package deploy

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	pkgv1 "github.com/crossplane/crossplane/apis/v2/pkg/v1"
	pkgv1beta1 "github.com/crossplane/crossplane/apis/v2/pkg/v1beta1"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/test/kustomize"
)

const (
	// root of the repository, relative to this directory.
	root = "../.."

	bases    = "cluster/deploy"
	examples = "examples/deploy"

	// common is the base with the rights, which every installation contains.
	common = bases + "/common"
)

// An installation is the result of one kustomization.
type installation struct {
	// dir is its directory, from the root of the repository.
	dir     string
	objects []*unstructured.Unstructured
}

// installations returns all of them. The test fails if one cannot be rendered.
func installations(t *testing.T) []installation {
	t.Helper()

	var all []installation

	for _, parent := range []string{bases, examples} {
		err := filepath.WalkDir(filepath.Join(root, parent), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.Name() != "kustomization.yaml" || kindOf(t, path) != "Kustomization" {
				return err
			}

			dir, err := filepath.Rel(root, filepath.Dir(path))
			all = append(all, render(t, dir))

			return err
		})
		if err != nil {
			t.Fatalf("cannot walk %s: %v", parent, err)
		}
	}

	if len(all) < 2 {
		t.Fatalf("%d kustomizations found", len(all))
	}

	return all
}

// render returns the installation in the supplied directory.
func render(t *testing.T, dir string) installation {
	t.Helper()

	i := renderAt(t, filepath.Join(root, dir))
	i.dir = dir

	return i
}

// renderAt returns the installation in a directory that need not be in the repository.
func renderAt(t *testing.T, path string) installation {
	t.Helper()

	objects, err := kustomize.Render(path)
	if err != nil {
		t.Fatal(err)
	}

	return installation{dir: path, objects: objects}
}

// isExample says whether the installation is one to copy, and not a part of one.
func (i installation) isExample() bool {
	return filepath.Dir(i.dir) == examples
}

// kindOf returns the kind in the supplied file. A Component is a part of kustomizations.
func kindOf(t *testing.T, path string) string {
	t.Helper()

	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}

	var m struct{ Kind string }
	if err := yaml.Unmarshal(data, &m); err != nil {
		t.Fatalf("%s: %v", path, err)
	}

	return m.Kind
}

// isCrossplane says whether the supplied object is of one of Crossplane's package kinds. Their
// CRDs are in Crossplane's main module, which would bring hundreds of dependencies with it.
// The types that these CRDs are generated from are in a module that we use anyway.
func isCrossplane(o *unstructured.Unstructured) bool {
	return strings.HasSuffix(o.GroupVersionKind().Group, "pkg.crossplane.io")
}

// only returns the only object of the supplied kind in the installation, converted to T, or nil
// if there is none.
func only[T any](t *testing.T, i installation, kind string) *T {
	t.Helper()

	found := each[T](t, i, kind)

	switch len(found) {
	case 0:
		return nil
	case 1:
		return found[0]
	default:
		t.Fatalf("%s: %d objects of kind %s", i.dir, len(found), kind)

		return nil
	}
}

// each returns the objects of the supplied kind in the installation, converted to T. A field
// that T does not have fails the test.
func each[T any](t *testing.T, i installation, kind string) []*T {
	t.Helper()

	var found []*T

	for _, o := range i.objects {
		if o.GetKind() == kind {
			into := new(T)
			if err := decodeStrictly(o, into); err != nil {
				t.Fatalf("%s: %s %q is not a %T: %v", i.dir, kind, o.GetName(), into, err)
			}

			found = append(found, into)
		}
	}

	return found
}

func decodeStrictly(o *unstructured.Unstructured, into any) error {
	data, err := o.MarshalJSON()
	if err != nil {
		return err
	}

	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()

	return d.Decode(into)
}

// object returns the supplied object as the client takes it.
func object(t *testing.T, o client.Object) *unstructured.Unstructured {
	t.Helper()

	m, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		t.Fatalf("cannot convert %T %q: %v", o, o.GetName(), err)
	}

	// The converter writes the fields that the API server sets, too.
	unstructured.RemoveNestedField(m, "status")

	return &unstructured.Unstructured{Object: m}
}

// checkCrossplane returns an error unless Crossplane takes the supplied object of one of its
// package kinds.
func checkCrossplane(o *unstructured.Unstructured) error {
	switch o.GetKind() {
	case "Provider":
		p := &pkgv1.Provider{}
		if err := decodeStrictly(o, p); err != nil {
			return err
		}

		// A rule of its CRD.
		if registry, _, _ := strings.Cut(p.Spec.Package, "/"); !strings.Contains(registry, ".") {
			return errors.Errorf("spec.package %q does not name a registry", p.Spec.Package)
		}

		return nil
	case "DeploymentRuntimeConfig":
		return decodeStrictly(o, &pkgv1beta1.DeploymentRuntimeConfig{})
	default:
		return errors.Errorf("kind %s is not known here", o.GetKind())
	}
}
