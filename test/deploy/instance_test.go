// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/app"
	"github.com/crossplane-contrib/provider-terraform/internal/shard"
	"github.com/crossplane-contrib/provider-terraform/test/controlplane"
	"github.com/crossplane-contrib/provider-terraform/test/process"
	"github.com/crossplane-contrib/provider-terraform/test/program"
	"github.com/crossplane-contrib/provider-terraform/test/wait"
)

// An instance is a process of the provider in place of the container of a pod.
type instance struct {
	name    string
	pod     *corev1.Pod
	options *app.Options

	// root of its working directories, in place of the volume.
	root string

	// probes is the address of the port of the probes.
	probes string

	process *process.Process
	log     string
}

// start starts the container of the supplied pod as a process, in place of the kubelet. The
// arguments and the environment are those of the manifest. These differ: the directories, the
// ports, because a pod has an address of its own, the credentials, which are those of the
// ServiceAccount, but in a kubeconfig, and the CLI.
func start(t *testing.T, c cluster, provider string, pod *corev1.Pod) *instance {
	t.Helper()

	var (
		o   *app.Options
		err error
	)

	// The environment of each is restored.
	t.Run("flags of "+pod.GetName(), func(t *testing.T) { o, err = options(t, pod) })

	if err != nil {
		t.Fatalf("%s: the provider refuses its flags: %v", pod.GetName(), err)
	}

	i := &instance{name: pod.GetName(), pod: pod, options: o, root: volume(t), log: filepath.Join(t.TempDir(), "log")}

	metrics, err := controlplane.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}

	if i.probes, err = controlplane.FreeAddress(); err != nil {
		t.Fatal(err)
	}

	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := c.KubeconfigOf(t.Context(), kubeconfig, pod.GetNamespace(), pod.Spec.ServiceAccountName); err != nil {
		t.Fatal(err)
	}

	vars := environment(t, pod)
	maps.Copy(vars, map[string]string{
		"PATH":             os.Getenv("PATH"),
		"HOME":             t.TempDir(),
		"TMPDIR":           volume(t),
		"XP_TF_DIR":        i.root,
		"KUBECONFIG":       kubeconfig,
		"KUBE_CONFIG_PATH": kubeconfig,
		"TERRAFORM_CLI":    program.Need(t, "TOFU_BIN"),
		// An instance that finds no Lease waits for two of these.
		"CROSSPLANE_TERRAFORM_PROVIDER_LEASE_RETRY_PERIOD": "500ms",
	})

	env := make([]string, 0, len(vars))
	for k, v := range vars {
		env = append(env, k+"="+v)
	}

	args := append([]string{}, pod.Spec.Containers[0].Args...)
	args = append(args, "--metrics-bind-address="+metrics, "--health-probe-bind-address="+i.probes)

	if i.process, err = process.StartOn(i.name, i.name, i.log, env, provider, args...); err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() {
		i.process.Kill()

		if t.Failed() {
			t.Logf("log of %s:\n%s", i.name, i.output(t))
		}
	})

	return i
}

// volume makes a directory with the mode of an empty volume whose group is fsGroup.
func volume(t *testing.T) string {
	t.Helper()

	dir := t.TempDir()
	if err := os.Chmod(dir, os.ModeSetgid|0o777); err != nil {
		t.Fatal(err)
	}

	return dir
}

// expectReady waits until both probes succeed, as the kubelet sends them.
func (i *instance) expectReady(t *testing.T) {
	t.Helper()

	c := i.pod.Spec.Containers[0]

	for _, p := range []*corev1.Probe{c.ReadinessProbe, c.LivenessProbe} {
		hc := &http.Client{Timeout: time.Duration(p.TimeoutSeconds) * time.Second}

		if err := wait.Until(t.Context(), wait.Patience, func() error {
			if !i.process.Running() {
				t.Fatalf("%s ended with %s", i.name, i.process.How())
			}

			return controlplane.AnswersOK(t.Context(), hc, "http://"+i.probes+p.HTTPGet.Path)
		}); err != nil {
			t.Fatalf("%s: %v", i.name, err)
		}
	}
}

// mayServe says whether the instance should serve the supplied Workspace. Elastic shards may
// have given it to another one of them since.
func (i *instance) mayServe(ws client.Object) bool {
	return i.options.AssignShards || i.options.Shard.Name() == ws.GetLabels()[shard.LabelKey]
}

// ran says whether the instance has run the CLI for the supplied Workspace.
func (i *instance) ran(ws client.Object) bool {
	_, err := os.Stat(filepath.Join(i.root, string(ws.GetUID())))

	return err == nil
}

// stop ends the instance as the kubelet does. It must end in the time that its pod has, and must
// never have lacked a right.
func (i *instance) stop(t *testing.T) {
	t.Helper()

	if err := i.process.Terminate(time.Duration(*i.pod.Spec.TerminationGracePeriodSeconds) * time.Second); err != nil {
		t.Error(err)
	}

	if err := refusals(i.output(t)); err != nil {
		t.Errorf("%s: %v", i.name, err)
	}
}

func (i *instance) output(t *testing.T) string {
	t.Helper()

	data, err := os.ReadFile(i.log)
	if err != nil {
		t.Error(err)
	}

	return string(data)
}

// refusals returns the lines of a log that say that the API server has refused something.
func refusals(log string) error {
	var refused []string

	for line := range strings.Lines(log) {
		if strings.Contains(line, "forbidden") || strings.Contains(line, "Unauthorized") || strings.Contains(line, "A right is missing") {
			refused = append(refused, line)
		}
	}

	if len(refused) > 0 {
		return errors.Errorf("the API server has refused something:\n%s", strings.Join(refused, ""))
	}

	return nil
}
