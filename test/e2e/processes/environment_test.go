// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package processes

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// newContainer returns a container of a pod, with two volumes.
func newContainer(env ...corev1.EnvVar) *container {
	return &container{
		pod: &pod{
			dir: "/pods/uid",
			api: &corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{Namespace: "system", Name: "provider-0", Labels: map[string]string{"terraform.crossplane.io/shard": "a"}},
				Spec:       corev1.PodSpec{ServiceAccountName: "provider"},
			},
		},
		api: corev1.Container{
			Image:        "127.0.0.1:5000/crossplane-contrib/provider-terraform:v0.1.0",
			Env:          env,
			VolumeMounts: []corev1.VolumeMount{{Name: "workdirs", MountPath: "/tf"}, {Name: "certificates", MountPath: "/tls/client"}},
			Resources:    corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("500m"), corev1.ResourceMemory: resource.MustParse("1Gi")}},
		},
	}
}

func TestEnvironment(t *testing.T) {
	t.Parallel()

	field := func(path string) *corev1.EnvVarSource {
		return &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: path}}
	}
	limit := func(name string) *corev1.EnvVarSource {
		return &corev1.EnvVarSource{ResourceFieldRef: &corev1.ResourceFieldSelector{Resource: name}}
	}

	cases := map[string]struct {
		reason string
		env    corev1.EnvVar
		want   string
	}{
		"Value":          {reason: "A text stays.", env: corev1.EnvVar{Value: "/tfx"}, want: "V=/tfx"},
		"Path":           {reason: "A path in a volume is one of this machine.", env: corev1.EnvVar{Value: "/tls/client/tls.crt"}, want: "V=/pods/uid/certificates/tls.crt"},
		"Volume":         {reason: "So is that of the volume.", env: corev1.EnvVar{Value: "/tf"}, want: "V=/pods/uid/workdirs"},
		"Name":           {env: corev1.EnvVar{ValueFrom: field("metadata.name")}, want: "V=provider-0"},
		"Namespace":      {env: corev1.EnvVar{ValueFrom: field("metadata.namespace")}, want: "V=system"},
		"ServiceAccount": {env: corev1.EnvVar{ValueFrom: field("spec.serviceAccountName")}, want: "V=provider"},
		"Label":          {env: corev1.EnvVar{ValueFrom: field("metadata.labels['terraform.crossplane.io/shard']")}, want: "V=a"},
		"CPU":            {reason: "A limit is rounded up.", env: corev1.EnvVar{ValueFrom: limit("limits.cpu")}, want: "V=1"},
		"Memory":         {env: corev1.EnvVar{ValueFrom: limit("limits.memory")}, want: "V=1073741824"},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			tc.env.Name = "V"
			c := newContainer(tc.env)

			got, err := environment(c.pod.api, c.api, c.path)
			if err != nil {
				t.Fatal(err)
			}

			if diff := cmp.Diff([]string{tc.want}, got); diff != "" {
				t.Errorf("%s -want, +got:\n%s", tc.reason, diff)
			}
		})
	}

	c := newContainer(corev1.EnvVar{Name: "V", ValueFrom: field("status.hostIPs")})
	if got, err := environment(c.pod.api, c.api, c.path); err == nil {
		t.Errorf("a field that is not known has the value %q", got)
	}
}

// TestProgram finds the program of an image by the repository, whatever the registry and the version.
func TestProgram(t *testing.T) {
	t.Parallel()

	c := newContainer()
	c.pod.Programs = map[string]Program{"crossplane-contrib/provider": {Path: "other"}, "crossplane-contrib/provider-terraform": {Path: "provider"}}

	if got, err := c.program(); err != nil || got.Path != "provider" {
		t.Errorf("program %q, %v", got.Path, err)
	}

	c.api.Image = "127.0.0.1:5000/tools:v1"
	if got, err := c.program(); err == nil {
		t.Errorf("program %q of an image that is not known", got.Path)
	}
}
