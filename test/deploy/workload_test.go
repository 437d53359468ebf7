// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"strconv"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	pkgv1 "github.com/crossplane/crossplane/apis/v2/pkg/v1"
	pkgv1beta1 "github.com/crossplane/crossplane/apis/v2/pkg/v1beta1"
)

const (
	// system is the namespace of the installations.
	system = "crossplane-system"

	// packageContainer is the name by which Crossplane finds the container of a package.
	packageContainer = "package-runtime"
)

// A workload is an object that makes pods.
type workload struct {
	kind, name string

	replicas int32
	selector *metav1.LabelSelector
	template corev1.PodTemplateSpec
	claims   []corev1.PersistentVolumeClaim

	// made is the Deployment that Crossplane makes, if this is one.
	made *appsv1.Deployment
}

// workloads returns those of the supplied installation, including the Deployment that
// Crossplane makes of the package.
func workloads(t *testing.T, i installation) []workload {
	t.Helper()

	var all []workload

	for _, d := range each[appsv1.Deployment](t, i, "Deployment") {
		all = append(all, workloadOf(d))
	}

	if d := packageDeployment(t, i); d != nil {
		w := workloadOf(d)
		w.made = d
		all = append(all, w)
	}

	for _, s := range each[appsv1.StatefulSet](t, i, "StatefulSet") {
		all = append(all, workload{
			kind: "StatefulSet", name: s.GetName(), replicas: ptr.Deref(s.Spec.Replicas, 1), selector: s.Spec.Selector,
			template: s.Spec.Template, claims: s.Spec.VolumeClaimTemplates,
		})
	}

	return all
}

func workloadOf(d *appsv1.Deployment) workload {
	return workload{kind: "Deployment", name: d.GetName(), replicas: ptr.Deref(d.Spec.Replicas, 1), selector: d.Spec.Selector, template: d.Spec.Template}
}

// packageDeployment returns the Deployment that Crossplane makes of the package in the
// supplied installation, or nil if there is none: the template of the DeploymentRuntimeConfig,
// with the fields that Crossplane v2.4 sets in any case, and those that it sets if they are
// missing.
func packageDeployment(t *testing.T, i installation) *appsv1.Deployment {
	t.Helper()

	p, c := only[pkgv1.Provider](t, i, "Provider"), only[pkgv1beta1.DeploymentRuntimeConfig](t, i, "DeploymentRuntimeConfig")
	if p == nil && c == nil {
		return nil
	}

	if p == nil || c == nil || p.Spec.RuntimeConfigReference == nil || p.Spec.RuntimeConfigReference.Name != c.GetName() {
		t.Fatalf("%s: the Provider does not name the DeploymentRuntimeConfig", i.dir)
	}

	revision := p.GetName() + "-0123456789ab"
	labels := map[string]string{"pkg.crossplane.io/provider": p.GetName(), "pkg.crossplane.io/revision": revision}

	d := &appsv1.Deployment{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
		ObjectMeta: metav1.ObjectMeta{Namespace: system, Name: revision},
		Spec:       *c.Spec.DeploymentTemplate.Spec.DeepCopy(),
	}
	d.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}

	if d.Spec.Template.Labels == nil {
		d.Spec.Template.Labels = map[string]string{}
	}

	maps.Copy(d.Spec.Template.Labels, labels)

	pod := &d.Spec.Template.Spec
	if len(pod.Containers) != 1 || pod.Containers[0].Name != packageContainer {
		t.Fatalf("%s: the only container of the DeploymentRuntimeConfig must be %q", i.dir, packageContainer)
	}

	if pod.SecurityContext == nil {
		pod.SecurityContext = &corev1.PodSecurityContext{RunAsNonRoot: new(true), RunAsUser: new(int64(2000)), RunAsGroup: new(int64(2000))}
	}

	pod.ServiceAccountName = cmp.Or(pod.ServiceAccountName, revision)

	container := &pod.Containers[0]
	container.Image = cmp.Or(container.Image, p.Spec.Package)
	container.Env = append(container.Env,
		corev1.EnvVar{Name: "POD_NAMESPACE", ValueFrom: fieldRef("metadata.namespace")},
		corev1.EnvVar{Name: "PROVIDER_NAME", ValueFrom: fieldRef("metadata.labels['pkg.crossplane.io/provider']")},
		corev1.EnvVar{Name: "REVISION_NAME", ValueFrom: fieldRef("metadata.labels['pkg.crossplane.io/revision']")},
		corev1.EnvVar{Name: "REVISION_UID", Value: "2b1d6c5e-8f0a-4f5e-9f57-2f0d9c3f3b11"},
	)

	for _, side := range []string{"client", "server"} {
		volume, path := "tls-"+side+"-certs", "/tls/"+side
		pod.Volumes = append(pod.Volumes, corev1.Volume{Name: volume, VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: p.GetName() + "-tls-" + side}}})
		container.VolumeMounts = append(container.VolumeMounts, corev1.VolumeMount{Name: volume, MountPath: path, ReadOnly: true})
		container.Env = append(container.Env, corev1.EnvVar{Name: "TLS_" + strings.ToUpper(side) + "_CERTS_DIR", Value: path})
	}

	for name, port := range map[string]int32{"metrics": 8080, "webhook": 9443} {
		if portOf(*container, name) == 0 {
			container.Ports = append(container.Ports, corev1.ContainerPort{Name: name, ContainerPort: port})
		}
	}

	return d
}

func fieldRef(path string) *corev1.EnvVarSource {
	return &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: path}}
}

// portOf returns the number of the port with the supplied name, or 0.
func portOf(c corev1.Container, name string) int32 {
	for _, p := range c.Ports {
		if p.Name == name {
			return p.ContainerPort
		}
	}

	return 0
}

// pods returns the pods that the controller of the workload makes.
func (w workload) pods() []*corev1.Pod {
	pods := make([]*corev1.Pod, 0, w.replicas)

	for n := range w.replicas {
		p := &corev1.Pod{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
			ObjectMeta: metav1.ObjectMeta{Namespace: system, Name: fmt.Sprintf("%s-%d", w.name, n), Labels: w.template.Labels},
			Spec:       *w.template.Spec.DeepCopy(),
		}
		if w.kind == "Deployment" {
			p.Name = fmt.Sprintf("%s-6f7f5d8b9c-x%04d", w.name, n)
		}

		for _, c := range w.claims {
			p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: c.GetName(), VolumeSource: corev1.VolumeSource{
				PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: c.GetName() + "-" + p.GetName()},
			}})
		}

		pods = append(pods, p)
	}

	return pods
}

// labelPath is the path of a label in the downward API.
var labelPath = regexp.MustCompile(`^metadata\.labels\['([^']+)'\]$`)

// environment returns the variables of the only container of the supplied pod, as the kubelet
// sets them.
func environment(t *testing.T, pod *corev1.Pod) map[string]string {
	t.Helper()

	if len(pod.Spec.Containers) != 1 {
		t.Fatalf("%s: %d containers, want 1", pod.GetName(), len(pod.Spec.Containers))
	}

	c := pod.Spec.Containers[0]
	env := map[string]string{}

	for _, e := range c.Env {
		switch {
		case e.ValueFrom == nil:
			env[e.Name] = e.Value
		case e.ValueFrom.FieldRef != nil:
			env[e.Name] = field(t, pod, e.ValueFrom.FieldRef.FieldPath)
		case e.ValueFrom.ResourceFieldRef != nil && e.ValueFrom.ResourceFieldRef.Resource == "limits.memory":
			env[e.Name] = strconv.FormatInt(c.Resources.Limits.Memory().Value(), 10)
		default:
			t.Fatalf("%s: the source of variable %s is not known here", pod.GetName(), e.Name)
		}
	}

	return env
}

// field returns the value of a field in the downward API.
func field(t *testing.T, pod *corev1.Pod, path string) string {
	t.Helper()

	switch m := labelPath.FindStringSubmatch(path); {
	case m != nil:
		return pod.Labels[m[1]]
	case path == "metadata.name":
		return pod.GetName()
	case path == "metadata.namespace":
		return pod.GetNamespace()
	default:
		t.Fatalf("%s: field %q is not known here", pod.GetName(), path)

		return ""
	}
}
