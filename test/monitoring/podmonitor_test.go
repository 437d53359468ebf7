// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package monitoring

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-terraform/test/kustomize"
	"github.com/crossplane-contrib/provider-terraform/test/manifest"
)

// deployments are the bases of all installations, from the root of the repository.
const deployments = "cluster/deploy"

// TestKustomization renders the objects for the Prometheus operator.
func TestKustomization(t *testing.T) {
	t.Parallel()

	objects, err := kustomize.Render(filepath.Join(root, Directory))
	if err != nil {
		t.Fatal(err)
	}

	var got []string

	for _, o := range objects {
		got = append(got, o.GetKind()+" "+o.GetNamespace()+"/"+o.GetName())

		if o.GetKind() != "ConfigMap" {
			continue
		}

		want, err := os.ReadFile(filepath.Join(root, Directory, "dashboard.json"))
		if err != nil {
			t.Fatal(err)
		}

		text, _, _ := unstructured.NestedString(o.Object, "data", "provider-terraform.json")
		if diff := cmp.Diff(string(want), text); diff != "" {
			t.Errorf("the dashboard in the ConfigMap: -want, +got:\n%s", diff)
		}
	}

	want := []string{
		"ConfigMap crossplane-system/provider-terraform-dashboard",
		"PodMonitor crossplane-system/provider-terraform",
		"PrometheusRule crossplane-system/provider-terraform",
	}

	slices.Sort(got)

	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("objects: -want, +got:\n%s", diff)
	}
}

// TestPodMonitor requires that the PodMonitor selects the pods of each installation, and a port that
// they have.
func TestPodMonitor(t *testing.T) {
	t.Parallel()

	labels, port := selected(t)
	if len(labels) == 0 || port == "" {
		t.Fatalf("the PodMonitor selects the labels %v and the port %q, want some", labels, port)
	}

	all := workloads(t)
	if len(all) == 0 {
		t.Fatalf("there are no pods in %s", deployments)
	}

	for name, template := range all {
		got, _, _ := unstructured.NestedStringMap(template, "metadata", "labels")
		for key, value := range labels {
			if got[key] != value {
				t.Errorf("the PodMonitor does not select the pods of %s: they have the labels %v, want %v", name, got, labels)
			}
		}

		if !hasPort(template, port) {
			t.Errorf("the pods of %s have no port %q", name, port)
		}
	}
}

// selected returns the labels and the port that the PodMonitor selects.
func selected(t *testing.T) (map[string]string, string) {
	t.Helper()

	monitors, err := manifest.Read(filepath.Join(root, Directory, "podmonitor.yaml"))
	if err != nil || len(monitors) != 1 {
		t.Fatalf("want one PodMonitor, got %d: %v", len(monitors), err)
	}

	labels, _, _ := unstructured.NestedStringMap(monitors[0].Object, "spec", "selector", "matchLabels")
	endpoints, _, _ := unstructured.NestedSlice(monitors[0].Object, "spec", "podMetricsEndpoints")

	if len(endpoints) != 1 {
		t.Fatalf("want one endpoint, got %d", len(endpoints))
	}

	endpoint, _ := endpoints[0].(map[string]any)
	port, _ := endpoint["port"].(string)

	return labels, port
}

// workloads returns the templates of the pods in all installations.
func workloads(t *testing.T) map[string]map[string]any {
	t.Helper()

	files, err := filepath.Glob(filepath.Join(root, deployments, "*", "kustomization.yaml"))
	if err != nil {
		t.Fatal(err)
	}

	found := map[string]map[string]any{}

	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}

		// A component is a part of other directories.
		if bytes.Contains(text, []byte("\nkind: Component\n")) {
			continue
		}

		rendered, err := kustomize.Render(filepath.Dir(file))
		if err != nil {
			t.Fatal(err)
		}

		for _, o := range rendered {
			if template, ok := podTemplate(o); ok {
				found[filepath.Base(filepath.Dir(file))+" "+o.GetKind()+" "+o.GetName()] = template
			}
		}
	}

	return found
}

// podTemplate returns the template of the pods of a workload.
func podTemplate(o *unstructured.Unstructured) (map[string]any, bool) {
	path := []string{"spec", "template"}
	if o.GetKind() == "DeploymentRuntimeConfig" {
		path = []string{"spec", "deploymentTemplate", "spec", "template"}
	}

	template, ok, _ := unstructured.NestedMap(o.Object, path...)

	return template, ok
}

func hasPort(template map[string]any, name string) bool {
	containers, _, _ := unstructured.NestedSlice(template, "spec", "containers")

	for _, c := range containers {
		container, _ := c.(map[string]any)
		ports, _, _ := unstructured.NestedSlice(container, "ports")

		for _, p := range ports {
			if port, _ := p.(map[string]any); port["name"] == name {
				return true
			}
		}
	}

	return false
}
