// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/test/e2e/processes"
	"github.com/crossplane-contrib/provider-terraform/test/e2e/sandbox"
)

// Levels: what runs pods.
const (
	levelAuto = "auto"

	// levelNode is a node with containers.
	levelNode = "node"

	// levelProcesses runs pods as processes of this machine.
	levelProcesses = "processes"
)

// chooseLevel replaces auto by a level that this machine allows, and prints why it is not a node.
func (o *options) chooseLevel(out io.Writer) error {
	if o.level != levelProcesses {
		err := errors.Wrap(o.allowsNode(), "this machine allows no node")
		if err == nil || o.level == levelNode {
			o.level = levelNode

			return err
		}

		fmt.Fprintln(out, err)
	}

	// All other stories need containers, addresses of pods, and a node to drain.
	fmt.Fprintln(out, "pods are processes of this machine, without containers: only the smoke test runs")

	o.level, o.smoke = levelProcesses, true

	return nil
}

// allowsNode returns an error if this machine does not allow a node. What it only lacks is in another error: see
// checkPrograms.
func (o *options) allowsNode() error {
	if os.Geteuid() != 0 {
		return errors.New("a node needs root")
	}

	return sandbox.Check(o.cgroup())
}

// programs stand in for images if pods are processes.
func (o *options) programs() map[string]processes.Program {
	const prefix = "CROSSPLANE_TERRAFORM_PROVIDER_"

	t := o.tools

	return map[string]processes.Program{
		crossplaneRepository: {
			Path: filepath.Join(t.crossplane, "crossplane"),
			Env: []string{
				"CRDS_PATH=" + filepath.Join(t.crossplane, "crds"),
				"WEBHOOK_CONFIGS_PATH=" + filepath.Join(t.crossplane, "webhookconfigurations"),
			},
			Dirs:  map[string]string{"/cache/xpkg": "XPKG_CACHE_DIR", "/cache/xfn": "XFN_CACHE_DIR"},
			Ports: map[int32]string{8080: "METRICS_PORT=%d", 8081: "HEALTH_PROBE_PORT=%d"},
		},
		repository: {
			Path: t.provider,
			Env:  []string{"PATH=" + filepath.Dir(t.terraform) + ":" + filepath.Dir(t.tofu) + ":" + os.Getenv("PATH")},
			Dirs: map[string]string{"/tf": "XP_TF_DIR", "/tmp": "TMPDIR"},
			Ports: map[int32]string{
				8080: prefix + "METRICS_BIND_ADDRESS=:%d",
				8081: prefix + "HEALTH_PROBE_BIND_ADDRESS=:%d",
			},
		},
	}
}
