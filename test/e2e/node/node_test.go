// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/provider-terraform/test/filesystem"
)

// TestConfigure checks that the settings of each program can be parsed, and have the values of the node.
func TestConfigure(t *testing.T) {
	t.Parallel()

	n := &Node{Registry: registryAddress, options: Options{Dir: t.TempDir(), CNI: "/cni", Cgroup: "e2e"}}
	if err := n.configure(); err != nil {
		t.Fatal(err)
	}

	cases := map[string]struct {
		parse func([]byte, any) error
		want  []string
	}{
		containerdFile: {parse: toml.Unmarshal, want: []string{`"10.123.0.1:5000/pause:1"`, `["/cni"]`, n.path("network"), n.path("registries")}},
		kubeletFile:    {parse: func(data []byte, v any) error { return yaml.UnmarshalStrict(data, v) }, want: []string{"/e2e", address, n.path(resolvFile)}},
		bridgeFile:     {parse: json.Unmarshal, want: []string{pods}},
		hostsFile:      {parse: toml.Unmarshal, want: []string{`"http://10.123.0.1:5000"`}},
	}

	for file, tc := range cases {
		text, err := os.ReadFile(n.path(file))
		if err != nil {
			t.Fatal(err)
		}

		if err := tc.parse(text, &map[string]any{}); err != nil {
			t.Errorf("%s: %v", file, err)
		}

		for _, want := range tc.want {
			if !strings.Contains(string(text), want) {
				t.Errorf("%s does not have %s", file, want)
			}
		}
	}
}

// TestFirstProcess finds the first process of a container among all processes.
func TestFirstProcess(t *testing.T) {
	t.Parallel()

	proc := t.TempDir()

	filesystem.Write(t, proc, filesystem.Files{
		// Of the machine, of another container, and the second one of the container.
		"1/cgroup":  "0::/\n",
		"1/status":  "NSpid:\t1\n",
		"20/cgroup": "8:pids:/e2e/kubepods/pod1/other\n",
		"20/status": "NSpid:\t20\t1\n",
		"31/cgroup": "8:pids:/e2e/kubepods/pod1/c0ffee\n",
		"31/status": "Name:\tprovider\nNSpid:\t31\t7\n",
		"30/cgroup": "8:pids:/e2e/kubepods/pod1/c0ffee\n",
		"30/status": "Name:\ttini\nNSpid:\t30\t1\n",
		// It has ended meanwhile.
		"40/cgroup": "8:pids:/e2e/kubepods/pod1/c0ffee\n",
	})

	pid, err := firstProcess(proc, "c0ffee")
	if err != nil || pid != 30 {
		t.Errorf("PID %d, %v; want 30", pid, err)
	}

	if pid, err := firstProcess(proc, "none"); err == nil {
		t.Errorf("PID %d of a container that does not exist", pid)
	}
}

// TestKeeper checks that logs remain after the kubelet has removed them, and that the order of the runs of a
// container is that of their numbers.
func TestKeeper(t *testing.T) {
	t.Parallel()

	dir := t.TempDir()
	from := filepath.Join(dir, "pods")
	k := &keeper{from: from, dir: filepath.Join(dir, "kept")}

	filesystem.Write(t, from, filesystem.Files{"ns_pod_uid/provider/9.log": "first\n", "ns_pod_uid/provider/10.log": "second\n"})

	if err := k.link(); err != nil {
		t.Fatal(err)
	}

	if err := os.RemoveAll(from); err != nil {
		t.Fatal(err)
	}

	filesystem.Write(t, from, filesystem.Files{"ns_other_uid/provider/0.log": "other\n"})

	// The links of the others exist.
	if err := k.link(); err != nil {
		t.Fatal(err)
	}

	got, err := k.logs()
	if err != nil {
		t.Fatal(err)
	}

	want := []Log{
		{Namespace: "ns", Pod: "other", Container: "provider", Path: filepath.Join(k.dir, "ns_other_uid/provider/0.log")},
		{Namespace: "ns", Pod: "pod", Container: "provider", Path: filepath.Join(k.dir, "ns_pod_uid/provider/9.log")},
		{Namespace: "ns", Pod: "pod", Container: "provider", Path: filepath.Join(k.dir, "ns_pod_uid/provider/10.log")},
	}

	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}
