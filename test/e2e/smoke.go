// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	namespacedv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/namespaced/v1beta1"
)

const (
	// version of the package that is installed first.
	version = "v0.1.0"

	// directory in examples/deploy that the package is installed from.
	directory = "single-package"
)

// smoke installs the provider, creates and deletes one Workspace, and uninstalls everything.
func smoke() []step {
	return []step{
		{"install Crossplane with its Helm chart", installCrossplane},
		{"build and push the package with Crossplane's CLI", func(ctx context.Context, e *env) error { return e.publish(ctx, version) }},
		{"install the package as examples/deploy/" + directory, func(ctx context.Context, e *env) error { return e.installPackage(ctx, directory, version) }},
		{"create a Workspace", createWorkspace},
		{"delete the Workspace", deleteWorkspace},
		{"uninstall the provider, as docs/install.md says", uninstallProvider},
		{"check that no right was missing", checkRefusals},
		{"uninstall Crossplane", uninstallCrossplane},
	}
}

const workspace = `
apiVersion: v1
kind: Namespace
metadata:
  name: team-a
---
apiVersion: tf.m.upbound.io/v1beta1
kind: Workspace
metadata:
  namespace: team-a
  name: smoke
spec:
  forProvider:
    source: Inline
    module: |
      resource "terraform_data" "greeting" {
        input = "hello"
      }

      output "greeting" {
        value = terraform_data.greeting.output
      }
  writeConnectionSecretToRef:
    name: smoke
`

func newWorkspace() *namespacedv1beta1.Workspace {
	return &namespacedv1beta1.Workspace{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "smoke"}}
}

// createWorkspace creates a Workspace with its state in the backend of the examples.
func createWorkspace(ctx context.Context, e *env) error {
	if err := e.applyFile(ctx, "examples/namespaced/clusterproviderconfig.yaml"); err != nil {
		return err
	}

	if err := e.applyText(ctx, workspace); err != nil {
		return err
	}

	ws := newWorkspace()
	if err := e.expectCondition(ctx, ws, "Ready", "True"); err != nil {
		return err
	}

	if got := string(ws.Status.AtProvider.Outputs["greeting"].Raw); got != `"hello"` {
		return errors.Errorf("output greeting is %s, want \"hello\"", got)
	}

	return nil
}

func deleteWorkspace(ctx context.Context, e *env) error { return e.delete(ctx, newWorkspace()) }

// uninstallProvider deletes the ProviderConfigs first, as no Workspace is left.
func uninstallProvider(ctx context.Context, e *env) error {
	config := object(schema.GroupVersionKind{Group: "tf.m.upbound.io", Version: "v1beta1", Kind: "ClusterProviderConfig"}, "", "default")
	if err := e.delete(ctx, config); err != nil {
		return err
	}

	return e.uninstallPackage(ctx, directory)
}

// object returns an object with nothing but a name.
func object(kind schema.GroupVersionKind, namespace, name string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(kind)
	o.SetNamespace(namespace)
	o.SetName(name)

	return o
}
