// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/test/kustomize"
	"github.com/crossplane-contrib/provider-terraform/test/manifest"
	"github.com/crossplane-contrib/provider-terraform/test/wait"
)

const (
	// placeholder is the image, and the package, in the examples.
	placeholder = "registry.example.org/crossplane-contrib/provider-terraform"

	// inPackage is the path of the pod in a DeploymentRuntimeConfig.
	inPackage = "/spec/deploymentTemplate/spec"

	// firstContainer is the path of the container of an instance, after that of the specification of
	// the workload.
	firstContainer = "/template/spec/containers/0"

	// cpu is what an instance requests: the pods of two versions fit on one small node.
	cpu = "50m"

	fieldManager = "kubectl"
)

// A change is an operation of a JSON patch on all objects of a kind.
type change struct {
	kind string

	op    string
	path  string
	value any
}

// overlay makes an overlay of one of examples/deploy, as a user does, and returns its objects.
func (s *Story) overlay(example, ref string, changes ...change) ([]*unstructured.Unstructured, error) {
	dir, err := os.MkdirTemp(s.Dir, example+"-")
	if err != nil {
		return nil, err
	}

	// kustomize takes relative directories only.
	base, err := filepath.Rel(dir, filepath.Join(s.Root, "examples", "deploy", example))
	if err != nil {
		return nil, err
	}

	at := strings.LastIndex(ref, ":")
	changes = append([]change{
		{kind: "Provider", op: "replace", path: "/spec/package", value: ref},
		{kind: "DeploymentRuntimeConfig", op: "replace", path: inPackage + firstContainer + "/resources/requests/cpu", value: cpu},
		{kind: "Deployment", op: "replace", path: "/spec" + firstContainer + "/resources/requests/cpu", value: cpu},
	}, changes...)

	patches := make([]any, 0, len(changes))

	for _, c := range changes {
		patch, err := yaml.Marshal([]any{map[string]any{"op": c.op, "path": c.path, "value": c.value}})
		if err != nil {
			return nil, err
		}

		patches = append(patches, map[string]any{"target": map[string]any{"kind": c.kind}, "patch": string(patch)})
	}

	data, err := yaml.Marshal(map[string]any{
		"apiVersion": "kustomize.config.k8s.io/v1beta1",
		"kind":       "Kustomization",
		"resources":  []string{base},
		"images":     []any{map[string]any{"name": placeholder, "newName": ref[:at], "newTag": ref[at+1:]}},
		"patches":    patches,
	})
	if err != nil {
		return nil, err
	}

	if err := os.WriteFile(filepath.Join(dir, "kustomization.yaml"), data, 0o600); err != nil {
		return nil, err
	}

	return kustomize.Render(dir)
}

// deploy applies an overlay of one of examples/deploy.
func (s *Story) deploy(ctx context.Context, example, ref string, changes ...change) error {
	objects, err := s.overlay(example, ref, changes...)
	if err != nil {
		return err
	}

	return s.apply(ctx, objects...)
}

// apply applies objects as kubectl apply does.
func (s *Story) apply(ctx context.Context, objects ...*unstructured.Unstructured) error {
	for _, o := range objects {
		// A kind of the package may be some moments younger than the package is healthy.
		if err := wait.Until(ctx, wait.Soon, func() error {
			return s.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(o.DeepCopy()), client.FieldOwner(fieldManager), client.ForceOwnership)
		}); err != nil {
			return errors.Wrapf(err, "cannot apply %s %q", o.GetKind(), o.GetName())
		}
	}

	return nil
}

// examples returns the objects in the supplied files of examples/.
func (s *Story) examples(files ...string) ([]*unstructured.Unstructured, error) {
	var all []*unstructured.Unstructured

	for _, f := range files {
		objects, err := manifest.Read(filepath.Join(s.Root, "examples", filepath.FromSlash(f)))
		if err != nil {
			return nil, err
		}

		all = append(all, objects...)
	}

	return all, nil
}

// remove deletes objects, and then waits until all of them are gone.
func (s *Story) remove(ctx context.Context, objects ...client.Object) error {
	for _, o := range objects {
		if err := s.Client.Delete(ctx, o); client.IgnoreNotFound(err) != nil {
			return errors.Wrapf(err, "cannot delete %T %q", o, o.GetName())
		}
	}

	for _, o := range objects {
		if err := s.expectGone(ctx, o); err != nil {
			return err
		}
	}

	return nil
}

// expectGone waits until an object does not exist.
func (s *Story) expectGone(ctx context.Context, o client.Object) error {
	return wait.Until(ctx, wait.Patience, func() error {
		err := s.read(ctx, o)
		if kerrors.IsNotFound(err) {
			return nil
		}

		return errors.Join(err, errors.Errorf("%T %q is still there, with the finalizers %q", o, o.GetName(), o.GetFinalizers()))
	})
}
