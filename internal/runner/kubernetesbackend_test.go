// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
)

func TestKubernetesBackend(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		record string
		env    []string
		want   KubernetesBackend
	}{
		"Configured": {reason: "The configuration takes precedence.", record: `{"backend": {"type": "kubernetes", "config": {"namespace": "a", "secret_suffix": "x"}}}`, env: []string{"KUBE_NAMESPACE=b"}, want: KubernetesBackend{Namespace: "a", Suffix: "x"}},
		"Environ":    {reason: "The environment of the run completes it.", record: `{"backend": {"type": "kubernetes", "config": {"namespace": null, "secret_suffix": "x"}}}`, env: []string{"KUBE_NAMESPACE=b"}, want: KubernetesBackend{Namespace: "b", Suffix: "x"}},
		"Default":    {reason: "Neither sets the namespace.", record: `{"backend": {"type": "kubernetes", "config": {"secret_suffix": "x"}}}`, env: []string{"KUBE_NAMESPACE="}, want: KubernetesBackend{Namespace: "default", Suffix: "x"}},
		"Other":      {reason: "It is another backend.", record: `{"backend": {"type": "pg", "config": {"namespace": "a", "secret_suffix": "x"}}}`, env: []string{"KUBE_NAMESPACE=b"}},
		"None":       {reason: "Init has failed early.", env: []string{"KUBE_NAMESPACE=b"}},
		"Broken":     {reason: "A CLI that was killed may have written a part of it.", record: "{", env: []string{"KUBE_NAMESPACE=b"}},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r := &Runner{run: &terraform.Workspace{Dir: t.TempDir(), Env: tc.env}, Target: Target{Inputs: &Inputs{}}}
			if tc.record != "" {
				writeBackendRecord(t, r.run.Dir, tc.record)
			}

			if diff := cmp.Diff(tc.want, r.KubernetesBackend()); diff != "" {
				t.Errorf("\n%s\nKubernetesBackend(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestServer ensures that the address of the API server of a backend is known only if it is
// certain: a state at the same place in another cluster belongs to something else.
func TestServer(t *testing.T) {
	t.Parallel()

	const (
		inCluster = `{"in_cluster_config": true}`
		pod       = "KUBERNETES_SERVICE_HOST=fd00::1 KUBERNETES_SERVICE_PORT=443"
		usual     = "KUBE_CONFIG_PATH=DIR/usual"
	)

	dir := t.TempDir()

	for name, cluster := range map[string]string{"usual": "server: https://there", "proxied": "server: https://there, proxy-url: socks5://proxy"} {
		text := "{contexts: [{name: x, context: {cluster: c}}], current-context: x, clusters: [{name: c, cluster: {" + cluster + "}}]}"
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}

	cases := map[string]struct {
		reason string
		config string
		env    string
		inputs []string
		want   string
	}{
		"InCluster":       {reason: "The CLI runs in the pod of the provider.", config: inCluster, env: pod, want: "https://[fd00::1]:443"},
		"InClusterByEnv":  {reason: "A variable asks for that.", config: `{}`, env: pod + " KUBE_IN_CLUSTER_CONFIG=true", want: "https://[fd00::1]:443"},
		"OutsideOfPod":    {reason: "There is no cluster.", config: inCluster},
		"File":            {reason: "The file says where.", config: `{}`, env: usual, want: "https://there"},
		"NotInCluster":    {reason: "The configuration takes precedence.", config: `{"in_cluster_config": false}`, env: usual + " KUBE_IN_CLUSTER_CONFIG=true " + pod, want: "https://there"},
		"Host":            {reason: "A host takes precedence over both.", config: `{"in_cluster_config": true, "host": "https://elsewhere"}`, env: pod},
		"HostByEnv":       {reason: "A variable, too.", config: inCluster, env: pod + " KUBE_HOST=https://elsewhere"},
		"Context":         {reason: "Another context may be another cluster.", config: `{"config_context": "x"}`, env: usual},
		"ContextByEnv":    {reason: "A variable, too.", config: `{}`, env: usual + " KUBE_CTX=x"},
		"Files":           {reason: "Several files are merged.", config: `{"config_paths": ["x"]}`, env: usual},
		"FileWithProxy":   {reason: "The proxy may be in another network.", config: `{}`, env: "KUBE_CONFIG_PATH=DIR/proxied"},
		"ProxyOfOwn":      {reason: "The Workspace has a proxy of its own.", config: inCluster, env: pod, inputs: []string{"https_proxy=http://proxy"}},
		"MissingFile":     {reason: "There is no such file.", config: `{}`, env: "KUBE_CONFIG_PATH=DIR/missing"},
		"RelativeFile":    {reason: "The CLI may look for it elsewhere.", config: `{}`, env: "KUBE_CONFIG_PATH=~/usual"},
		"NothingProvided": {reason: "The CLI has defaults of its own.", config: `{}`, env: pod},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			env := strings.Fields(strings.ReplaceAll(tc.env, "DIR", dir))
			r := &Runner{run: &terraform.Workspace{Dir: t.TempDir(), Env: env}, Target: Target{Inputs: &Inputs{env: tc.inputs}}}
			writeBackendRecord(t, r.run.Dir, `{"backend": {"type": "kubernetes", "config": `+tc.config+`}}`)

			if got := r.KubernetesBackend().Server; got != tc.want {
				t.Errorf("%s\nKubernetesBackend().Server: want %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
}
