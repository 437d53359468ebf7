// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// TestExamples applies the examples of Workspaces, file by file, until every Workspace is
// Ready. A local git server replaces GitHub, and the test replaces Flux: the local module
// has only the variables and the output of the real one that the examples use.
func TestExamples(t *testing.T) {
	t.Parallel()

	c := shared.sharded.started(t)

	label := tree{"main.tf": `
variable "namespace" { type = string }
variable "name" { type = string }
output "id" { value = "${var.namespace}-${var.name}" }
`}
	root := t.TempDir()
	newRepository(t, filepath.Join(root, "cloudposse", "terraform-null-label.git"), label).git(t, "tag", "0.25.0")
	web := newDoor(t, newGitHandler(t, root))

	data := archive(t, label)
	artifacts := newDoor(t, &archiveServer{archives: map[string][]byte{"/label.tar.gz": data}})

	startInstance(t, c,
		withShard("examples"),
		withEnv("GIT_CONFIG_COUNT", "1"),
		withEnv("GIT_CONFIG_KEY_0", "url."+web.url+"/.insteadOf"),
		withEnv("GIT_CONFIG_VALUE_0", "https://github.com/"),
	)
	c.create(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "crossplane-system"}})

	var workspaces []workspace.Workspace

	for _, o := range examples(t, "cluster", "namespaced", "flux", "getting-started") {
		switch o.GetKind() {
		case "ProviderConfig", "ClusterProviderConfig":
			outsideOfCluster(t, o)
			c.create(t, o)
		case "GitRepository":
			c.create(t, o)
			(&fluxSource{cluster: c, object: o}).offer(t, artifacts.url+"/label.tar.gz", digestOf(data))
		case "Workspace":
			ws := typed(t, o)
			ws.SetLabels(map[string]string{shardLabel: "examples"})
			c.create(t, ws)
			workspaces = append(workspaces, ws)
		default:
			c.create(t, o)
		}
	}

	if len(workspaces) == 0 {
		t.Fatal("want Workspaces among the examples")
	}

	for _, ws := range workspaces {
		expectReady(t, c, ws)

		if len(ws.GetObservation().Outputs) == 0 {
			t.Errorf("want Workspace %q to have outputs", ws.GetName())
		}
	}

	for _, ws := range workspaces {
		c.remove(t, ws)
	}

	for _, ws := range workspaces {
		expectGone(t, c, ws)
	}
}

// examples returns the objects in the supplied directories of examples, in the order of
// kubectl apply.
func examples(t *testing.T, dirs ...string) []*unstructured.Unstructured {
	t.Helper()

	var objects []*unstructured.Unstructured

	for _, dir := range dirs {
		objects = append(objects, manifests(t, filepath.Join("examples", dir, "*.yaml"))...)
	}

	return objects
}

// manifests returns the objects in the files of the repository that match the supplied
// pattern, in the order of kubectl apply.
func manifests(t *testing.T, pattern string) []*unstructured.Unstructured {
	t.Helper()

	var objects []*unstructured.Unstructured

	files, err := filepath.Glob(filepath.Join("..", "..", pattern))
	if err != nil {
		t.Fatalf("cannot list manifests: %v", err)
	}

	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatalf("cannot read manifest: %v", err)
		}

		docs := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data)))

		for {
			doc, err := docs.Read()
			if errors.Is(err, io.EOF) {
				break
			}

			o := &unstructured.Unstructured{}
			if err = errors.Join(err, yaml.UnmarshalStrict(doc, &o.Object)); err != nil {
				t.Fatalf("cannot read %s: %v", file, err)
			}

			objects = append(objects, o)
		}
	}

	return objects
}

// outsideOfCluster changes the backend of a ProviderConfig to one for runs that are not in
// a pod. Nothing else but the label of the shard differs from the file.
func outsideOfCluster(t *testing.T, o *unstructured.Unstructured) {
	t.Helper()

	configuration, found, err := unstructured.NestedString(o.Object, "spec", "configuration")
	if err != nil || !found {
		return
	}

	lines := strings.Split(configuration, "\n")
	for i, line := range lines {
		if strings.HasPrefix(strings.TrimSpace(line), "in_cluster_config ") {
			lines[i] = ""
		}
	}

	if err := unstructured.SetNestedField(o.Object, strings.Join(lines, "\n"), "spec", "configuration"); err != nil {
		t.Fatalf("cannot change configuration: %v", err)
	}
}

// typed returns the Workspace that the supplied object is.
func typed(t *testing.T, o *unstructured.Unstructured) workspace.Workspace {
	t.Helper()

	for _, kind := range workspace.Kinds() {
		if kind.GroupVersionKind != o.GroupVersionKind() {
			continue
		}

		ws, ok := kind.Object.DeepCopyObject().(workspace.Workspace)
		if !ok {
			t.Fatalf("%T is not a Workspace", kind.Object)
		}

		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, ws); err != nil {
			t.Fatalf("cannot convert Workspace %q: %v", o.GetName(), err)
		}

		return ws
	}

	t.Fatalf("no kind of Workspace is %s", o.GroupVersionKind())

	return nil
}
