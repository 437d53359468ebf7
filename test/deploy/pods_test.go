// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"io"
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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	pkgv1beta1 "github.com/crossplane/crossplane/apis/v2/pkg/v1beta1"

	"github.com/crossplane-contrib/provider-terraform/internal/app"
	"github.com/crossplane-contrib/provider-terraform/test/manifest"
)

// stopTime is how long an instance takes to end after --shutdown-grace, according to
// docs/sharding.md.
const stopTime = 15 * time.Second

// options returns the options of the provider in the supplied pod. The provider itself parses
// the arguments and the environment.
func options(t *testing.T, pod *corev1.Pod) (*app.Options, error) {
	t.Helper()

	for k, v := range environment(t, pod) {
		t.Setenv(k, v)
	}

	return app.ParseOptions("crossplane-terraform-provider", pod.Spec.Containers[0].Args, io.Discard)
}

// TestServes checks which Workspaces the pods of each installation serve, and that only elastic
// shards take part in the assignment.
func TestServes(t *testing.T) {
	type instance struct {
		Lease   string
		Assigns bool
	}

	const lease = "crossplane-leader-election-provider-terraform"

	one := []instance{{Lease: lease}}
	catchAll := []instance{{Lease: lease + "-catch-all"}}
	static := []instance{{Lease: lease + "-catch-all"}, {Lease: lease + "-shard-0"}, {Lease: lease + "-shard-1"}}
	elastic := func(names ...string) []instance {
		var all []instance
		for _, name := range names {
			all = append(all, instance{Lease: lease + "-" + name, Assigns: true})
		}

		return all
	}
	packagePod := "provider-terraform-0123456789ab-6f7f5d8b9c-x"

	want := map[string][]instance{
		bases + "/common":          nil,
		bases + "/package":         one,
		bases + "/single":          one,
		bases + "/single-package":  one,
		bases + "/static":          catchAll,
		bases + "/static-package":  catchAll,
		bases + "/elastic":         elastic("provider-terraform-0", "provider-terraform-1"),
		bases + "/elastic-package": elastic(packagePod+"0000", packagePod+"0001"),

		examples + "/single":          one,
		examples + "/single-package":  one,
		examples + "/static":          static,
		examples + "/static/shard-0":  {{Lease: lease + "-shard-0"}},
		examples + "/static/shard-1":  {{Lease: lease + "-shard-1"}},
		examples + "/static-package":  static,
		examples + "/elastic":         elastic("provider-terraform-0", "provider-terraform-1", "provider-terraform-2"),
		examples + "/elastic-package": elastic(packagePod+"0000", packagePod+"0001", packagePod+"0002"),
	}

	got := map[string][]instance{}

	for _, i := range installations(t) {
		// The name of the shard is missing in it: see TestShardWithoutName.
		if i.dir == bases+"/shard" {
			continue
		}

		got[i.dir] = nil

		for _, w := range workloads(t, i) {
			for _, pod := range w.pods() {
				t.Run(i.dir+"/"+pod.GetName(), func(t *testing.T) {
					o, err := options(t, pod)
					if err != nil {
						t.Fatalf("the provider refuses its flags: %v", err)
					}

					if !o.HoldsLease {
						t.Error("the instance holds no Lease")
					}

					got[i.dir] = append(got[i.dir], instance{Lease: o.Shard.LeaseName(), Assigns: o.AssignShards})
				})
			}
		}

		slices.SortFunc(got[i.dir], func(a, b instance) int { return strings.Compare(a.Lease, b.Lease) })
	}

	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("instances of each installation: -want, +got:\n%s", diff)
	}
}

// TestShardWithoutName checks that a shard that was not given a name does not start. Without a
// name it would serve all Workspaces.
func TestShardWithoutName(t *testing.T) {
	for _, w := range workloads(t, render(t, bases+"/shard")) {
		if o, err := options(t, w.pods()[0]); err == nil {
			t.Errorf("the provider starts, and serves %s", o.Shard)
		}
	}
}

// TestPods checks what each pod needs to run: probes where the provider answers, time to stop,
// limits, the same user on each volume.
func TestPods(t *testing.T) {
	user := userOfImage(t)

	for _, i := range installations(t) {
		for _, w := range workloads(t, i) {
			t.Run(i.dir+"/"+w.name, func(t *testing.T) {
				if len(w.template.Spec.Containers) != 1 {
					t.Fatalf("%d containers, want 1", len(w.template.Spec.Containers))
				}

				pod, c := w.template.Spec, w.template.Spec.Containers[0]

				if diff := cmp.Diff("provider-terraform", pod.ServiceAccountName); diff != "" {
					t.Errorf("ServiceAccount: -want, +got:\n%s", diff)
				}

				if got := pod.SecurityContext; ptr.Deref(got.RunAsUser, 0) != user || ptr.Deref(got.RunAsGroup, 0) != user || ptr.Deref(got.FSGroup, 0) != user {
					t.Errorf("it does not run as user and group %d of the image, with volumes of this group: %v", user, got)
				}

				limit := c.Resources.Limits.Memory().Value()
				if limit == 0 {
					t.Error("no limit of memory")
				}

				if diff := cmp.Diff(strconv.FormatInt(limit, 10), environment(t, w.pods()[0])["GOMEMLIMIT"]); diff != "" {
					t.Errorf("GOMEMLIMIT: -want, +got:\n%s", diff)
				}

				// The name of the shard is missing in the base.
				if i.dir != bases+"/shard" {
					checkOptions(t, w.pods()[0])
				}
			})
		}
	}
}

// checkOptions compares the supplied pod with the options of the provider in it.
func checkOptions(t *testing.T, pod *corev1.Pod) {
	t.Helper()

	c := pod.Spec.Containers[0]

	o, err := options(t, pod)
	if err != nil {
		t.Fatalf("the provider refuses its flags: %v", err)
	}

	for path, p := range map[string]*corev1.Probe{"/healthz": c.LivenessProbe, "/readyz": c.ReadinessProbe} {
		if p == nil || p.HTTPGet == nil {
			t.Errorf("no probe of %s", path)

			continue
		}

		got := p.HTTPGet.Path + " at :" + strconv.Itoa(int(portOf(c, p.HTTPGet.Port.StrVal)))
		if diff := cmp.Diff(path+" at "+o.HealthProbeBindAddress, got); diff != "" {
			t.Errorf("probe: -where the provider answers, +got:\n%s", diff)
		}

		if p.PeriodSeconds == 0 {
			t.Errorf("the probe of %s has no period", path)
		}
	}

	if diff := cmp.Diff(o.MetricsBindAddress, ":"+strconv.Itoa(int(portOf(c, "metrics")))); diff != "" {
		t.Errorf("port of metrics: -where the provider answers, +got:\n%s", diff)
	}

	grace := time.Duration(ptr.Deref(pod.Spec.TerminationGracePeriodSeconds, 0)) * time.Second
	if grace <= o.ShutdownGrace+stopTime {
		t.Errorf("terminationGracePeriodSeconds is %s, which is not longer than --shutdown-grace of %s and %s", grace, o.ShutdownGrace, stopTime)
	}

	if !slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return m.MountPath == o.Root && !m.ReadOnly }) {
		t.Errorf("no volume is mounted at %s, where the provider writes", o.Root)
	}
}

// userOfImage returns the user and group that the Dockerfile sets.
func userOfImage(t *testing.T) int64 {
	t.Helper()

	data, err := os.ReadFile(filepath.Join(root, "cluster", "images", "provider-terraform", "Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}

	m := regexp.MustCompile(`(?m)^USER (\d+):(\d+)$`).FindSubmatch(data)
	if m == nil || string(m[1]) != string(m[2]) {
		t.Fatalf("the Dockerfile sets no user with a group of the same number: %q", m)
	}

	user, err := strconv.ParseInt(string(m[1]), 10, 64)
	if err != nil {
		t.Fatal(err)
	}

	return user
}

// TestPackagePod checks that the pod of a Crossplane package is the same as that of a
// Deployment, except for what Crossplane sets.
func TestPackagePod(t *testing.T) {
	t.Parallel()

	plain := *only[appsv1.Deployment](t, render(t, bases+"/single"), "Deployment")
	config := *only[pkgv1beta1.DeploymentRuntimeConfig](t, render(t, bases+"/package"), "DeploymentRuntimeConfig")

	want, got := plain.Spec.Template.Spec, config.Spec.DeploymentTemplate.Spec.Template.Spec
	want.Containers[0].Name, want.Containers[0].Image = packageContainer, ""
	want.Containers[0].Env = slices.DeleteFunc(want.Containers[0].Env, func(e corev1.EnvVar) bool { return e.Name == "POD_NAMESPACE" })

	for _, pod := range []corev1.PodSpec{want, got} {
		slices.SortFunc(pod.Volumes, func(a, b corev1.Volume) int { return strings.Compare(a.Name, b.Name) })
	}

	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("pod of the package: -pod of a Deployment, +got:\n%s", diff)
	}

	if config.Spec.ServiceAccountTemplate != nil {
		t.Error("Crossplane makes a ServiceAccount that it owns")
	}
}

// TestSelectors checks that no workload selects the pods of another one, in one installation or
// while one replaces another, and that selectors, which cannot be changed, agree.
func TestSelectors(t *testing.T) {
	t.Parallel()

	type known struct {
		workload

		dir string
	}

	var all []known

	for _, i := range installations(t) {
		if !i.isExample() {
			continue
		}

		for _, w := range workloads(t, i) {
			for _, other := range all {
				same := w.kind == other.kind && w.name == other.name

				if diff := cmp.Diff(other.selector, w.selector); same && diff != "" {
					t.Errorf("selector of %s %s: -%s, +%s:\n%s", w.kind, w.name, other.dir, i.dir, diff)
				}

				if !same && (selects(t, w.selector, other.template.Labels) || selects(t, other.selector, w.template.Labels)) {
					t.Errorf("%s %s of %s and %s %s of %s select the same pods", w.kind, w.name, i.dir, other.kind, other.name, other.dir)
				}
			}

			if !selects(t, w.selector, w.template.Labels) {
				t.Errorf("%s %s of %s does not select its own pods", w.kind, w.name, i.dir)
			}

			all = append(all, known{dir: i.dir, workload: w})
		}
	}

	if len(all) < 8 {
		t.Errorf("%d workloads found", len(all))
	}
}

// TestLabels checks that everything in an installation that selects pods selects those of all
// its workloads.
func TestLabels(t *testing.T) {
	t.Parallel()

	for _, i := range installations(t) {
		for _, w := range workloads(t, i) {
			for what, selector := range selectors(t, i) {
				if !selects(t, selector, w.template.Labels) {
					t.Errorf("%s: %s does not select the pods of %s: %v", i.dir, what, w.name, w.template.Labels)
				}
			}

			for _, port := range openPorts(t, i) {
				if portOf(w.template.Spec.Containers[0], port) == 0 {
					t.Errorf("%s: the NetworkPolicy opens port %q, which %s does not have", i.dir, port, w.name)
				}
			}
		}

		if !i.isExample() {
			continue
		}

		// The headless Service of a StatefulSet is one more.
		if got := len(selectors(t, i)); got < 3 {
			t.Errorf("%s: %d objects select pods, want a PodDisruptionBudget, a NetworkPolicy and a constraint", i.dir, got)
		}

		if len(openPorts(t, i)) == 0 {
			t.Errorf("%s: no port is open", i.dir)
		}
	}
}

// TestPodMonitor checks that the PodMonitor of cluster/monitoring selects the pods of each
// installation, and a port that they have.
func TestPodMonitor(t *testing.T) {
	t.Parallel()

	monitors, err := manifest.Read(filepath.Join(root, "cluster", "monitoring", "podmonitor.yaml"))
	if err != nil || len(monitors) != 1 {
		t.Fatalf("want one PodMonitor, got %d: %v", len(monitors), err)
	}

	var monitor struct {
		Spec struct {
			Selector  metav1.LabelSelector `json:"selector"`
			Endpoints []struct {
				Port string `json:"port"`
			} `json:"podMetricsEndpoints"`
		} `json:"spec"`
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(monitors[0].Object, &monitor); err != nil {
		t.Fatal(err)
	}

	if len(monitor.Spec.Endpoints) != 1 {
		t.Fatalf("want one endpoint, got %v", monitor.Spec.Endpoints)
	}

	for _, i := range installations(t) {
		for _, w := range workloads(t, i) {
			if !selects(t, &monitor.Spec.Selector, w.template.Labels) {
				t.Errorf("it does not select the pods of %s in %s: %v", w.name, i.dir, w.template.Labels)
			}

			if port := monitor.Spec.Endpoints[0].Port; portOf(w.template.Spec.Containers[0], port) == 0 {
				t.Errorf("the pods of %s in %s have no port %q", w.name, i.dir, port)
			}
		}
	}
}
