// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package examples

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	pkgv1beta1 "github.com/crossplane/crossplane/apis/v2/pkg/v1beta1"

	"github.com/crossplane-contrib/provider-terraform/internal/app"
	"github.com/crossplane-contrib/provider-terraform/internal/shard"
)

// TestShards checks that each Deployment serves the shard that its name and labels
// say it serves, and no two of them the same.
func TestShards(t *testing.T) {
	got := map[string]string{}

	for _, m := range manifests(t) {
		if m.object.GetKind() != "Deployment" {
			continue
		}

		d := &appsv1.Deployment{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(m.object.Object, d); err != nil {
			t.Fatalf("%s: not a Deployment: %v", m.file, err)
		}

		// Each has an environment of its own.
		t.Run(m.file, func(t *testing.T) { got[m.file] = shardOf(t, m.file, d.Spec.Template.Spec) })

		want := got[m.file]
		if diff := cmp.Diff("provider-terraform-"+want, d.GetName()); diff != "" {
			t.Errorf("%s: name of the Deployment of shard %q: -want, +got:\n%s", m.file, want, diff)
		}

		if diff := cmp.Diff(want, d.GetLabels()[shard.LabelKey]); diff != "" {
			t.Errorf("%s: label of the Deployment of shard %q: -want, +got:\n%s", m.file, want, diff)
		}

		if diff := cmp.Diff(want, d.Spec.Selector.MatchLabels[shard.LabelKey]); diff != "" {
			t.Errorf("%s: selector of the Deployment of shard %q: -want, +got:\n%s", m.file, want, diff)
		}
	}

	want := map[string]string{
		"sharding/shard-0.yaml":   "shard-0",
		"sharding/shard-1.yaml":   "shard-1",
		"sharding/catch-all.yaml": "catch-all",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("shards of the Deployments: -want, +got:\n%s", diff)
	}
}

// TestElastic checks that each pod of the StatefulSet is a shard with the name of the pod, and takes
// part in the assignment.
func TestElastic(t *testing.T) {
	found := false

	for _, m := range manifests(t) {
		if m.object.GetKind() != "StatefulSet" {
			continue
		}

		found = true

		s := &appsv1.StatefulSet{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(m.object.Object, s); err != nil {
			t.Fatalf("%s: not a StatefulSet: %v", m.file, err)
		}

		pod := s.Spec.Template.Spec

		for _, e := range pod.Containers[0].Env {
			if e.ValueFrom != nil && e.ValueFrom.FieldRef.FieldPath == "metadata.name" {
				t.Setenv(e.Name, s.GetName()+"-0")
			}
		}

		if diff := cmp.Diff("provider-terraform-0", shardOf(t, m.file, pod)); diff != "" {
			t.Errorf("%s: shard: -want, +got:\n%s", m.file, diff)
		}

		if o, err := app.ParseOptions("crossplane-terraform-provider", pod.Containers[0].Args, io.Discard); err != nil || !o.AssignShards {
			t.Errorf("%s: it does not assign shards: %v", m.file, err)
		}
	}

	if !found {
		t.Error("no StatefulSet found")
	}
}

// TestRuntimeConfig checks that the package serves the first shard, as the ServiceAccount
// of the Deployments of the others. Crossplane must not own that ServiceAccount: it
// replaces its own ones and removes their rights.
func TestRuntimeConfig(t *testing.T) {
	found := false

	for _, m := range manifests(t) {
		if m.object.GetKind() != "DeploymentRuntimeConfig" {
			continue
		}

		found = true

		c := &pkgv1beta1.DeploymentRuntimeConfig{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(m.object.Object, c); err != nil {
			t.Fatalf("%s: not a DeploymentRuntimeConfig: %v", m.file, err)
		}

		pod := c.Spec.DeploymentTemplate.Spec.Template.Spec
		if diff := cmp.Diff("shard-0", shardOf(t, m.file, pod)); diff != "" {
			t.Errorf("%s: shard: -want, +got:\n%s", m.file, diff)
		}

		if diff := cmp.Diff("package-runtime", pod.Containers[0].Name); diff != "" {
			t.Errorf("%s: name of the container, by which Crossplane finds it: -want, +got:\n%s", m.file, diff)
		}

		if diff := cmp.Diff("provider-terraform", pod.ServiceAccountName); diff != "" {
			t.Errorf("%s: name of the ServiceAccount: -want, +got:\n%s", m.file, diff)
		}

		if c.Spec.ServiceAccountTemplate != nil {
			t.Errorf("%s: Crossplane makes a ServiceAccount that it owns", m.file)
		}
	}

	if !found {
		t.Error("no DeploymentRuntimeConfig found")
	}
}

// shardOf returns the shard, or "catch-all", that the provider serves in the supplied pod.
// The provider itself parses the arguments and the environment. The test fails if the pod
// lacks something that an instance of a shard needs.
func shardOf(t *testing.T, file string, pod corev1.PodSpec) string {
	t.Helper()

	if len(pod.Containers) != 1 {
		t.Fatalf("%s: %d containers, want 1", file, len(pod.Containers))
	}

	c := pod.Containers[0]

	// Crossplane sets it in the pods of packages.
	t.Setenv("POD_NAMESPACE", crossplaneNamespace)

	for _, e := range c.Env {
		if e.ValueFrom == nil {
			t.Setenv(e.Name, e.Value)
		}
	}

	o, err := app.ParseOptions("crossplane-terraform-provider", c.Args, io.Discard)
	if err != nil {
		t.Fatalf("%s: the provider refuses %q: %v", file, c.Args, err)
	}

	if !slices.Contains(c.Args, "--leader-election") {
		t.Errorf("%s: no --leader-election in %q", file, c.Args)
	}

	for _, probe := range []*corev1.Probe{c.LivenessProbe, c.ReadinessProbe} {
		if diff := cmp.Diff(o.HealthProbeBindAddress, ":"+portOf(c, probe)); diff != "" {
			t.Errorf("%s: port of a probe: -where the provider answers, +got:\n%s", file, diff)
		}
	}

	grace := time.Duration(ptr.Deref(pod.TerminationGracePeriodSeconds, 0)) * time.Second
	if grace <= o.ShutdownGrace {
		t.Errorf("%s: terminationGracePeriodSeconds of %s is not longer than the --shutdown-grace of %s", file, grace, o.ShutdownGrace)
	}

	if o.Shard == shard.CatchAll() {
		return o.Shard.Mode()
	}

	return o.Shard.Name()
}

// portOf returns the number of the port that the supplied probe names, or "none".
func portOf(c corev1.Container, probe *corev1.Probe) string {
	for _, p := range c.Ports {
		if probe != nil && probe.HTTPGet != nil && probe.HTTPGet.Port.StrVal == p.Name {
			return strconv.Itoa(int(p.ContainerPort))
		}
	}

	return "none"
}

// TestReadme checks that the commands of the sharding page are about Workspaces,
// files and shards that there are.
func TestReadme(t *testing.T) {
	t.Parallel()

	data, err := os.ReadFile(filepath.Join(root, "sharding", "README.md"))
	if err != nil {
		t.Fatalf("cannot read the page: %v", err)
	}

	workspaces := map[string]bool{}

	for _, m := range manifests(t) {
		if m.object.GetKind() == "Workspace" {
			group := m.object.GroupVersionKind().Group
			workspaces[strings.Join([]string{group, m.object.GetNamespace(), m.object.GetName()}, " ")] = true
		}
	}

	label := regexp.MustCompile(`(?m)^kubectl label workspaces\.(\S+) (\S+)(?: --namespace=(\S+))? ` + shard.LabelKey + `=(\S+)$`)

	lines := label.FindAllStringSubmatch(string(data), -1)
	if want := strings.Count(string(data), "\nkubectl label "); len(lines) != want || want == 0 {
		t.Errorf("%d of %d kubectl label lines are of the form known here", len(lines), want)
	}

	shards := map[string]bool{}

	for _, l := range lines {
		if !workspaces[l[1]+" "+l[3]+" "+l[2]] {
			t.Errorf("there is no such Workspace: %s", l[0])
		}

		shards[l[4]] = true
	}

	if diff := cmp.Diff(map[string]bool{"shard-0": true, "shard-1": true}, shards); diff != "" {
		t.Errorf("shards of the labels: -want, +got:\n%s", diff)
	}

	repository := os.DirFS(filepath.Join("..", ".."))

	for _, path := range regexp.MustCompile(`-f (\S+)`).FindAllStringSubmatch(string(data), -1) {
		if _, err := fs.Stat(repository, path[1]); err != nil {
			t.Errorf("kubectl apply -f %s: %v", path[1], err)
		}
	}
}
