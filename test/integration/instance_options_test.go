// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// An instanceConfig says how to start an instance.
type instanceConfig struct {
	args          []string
	env           map[string]string
	root          string
	cli           string
	runs          *runLog
	kubeconfig    string
	cliKubeconfig string
	namespace     string
	poll          time.Duration
	workers       int
}

type instanceOption func(*instanceConfig)

// withShard makes the instance serve the named shard.
func withShard(name string) instanceOption { return withArgs("--shard-name=" + name) }

// withRoot makes the instance keep its workdirs in the supplied directory.
func withRoot(dir string) instanceOption { return func(c *instanceConfig) { c.root = dir } }

// withPoll sets the poll interval of the instance.
func withPoll(d time.Duration) instanceOption { return func(c *instanceConfig) { c.poll = d } }

// withCLI makes the instance run the program with the supplied path.
func withCLI(path string) instanceOption { return func(c *instanceConfig) { c.cli = path } }

// withTerraform makes the instance run Terraform in place of OpenTofu. About half of the
// tests that are not about the difference do.
func withTerraform() instanceOption { return withCLI(shared.terraform()) }

// withRunsOf makes the instance run the same program as another one, down to its path.
func withRunsOf(i *instance) instanceOption { return func(c *instanceConfig) { c.runs = i.runs } }

// withKubeconfig makes the instance, but not its CLI, reach the API server that way.
func withKubeconfig(path string) instanceOption {
	return func(c *instanceConfig) { c.kubeconfig = path }
}

// withCLIKubeconfig makes the CLI of the instance, but not the instance, reach the API
// server that way.
func withCLIKubeconfig(path string) instanceOption {
	return func(c *instanceConfig) { c.cliKubeconfig = path }
}

// withWorkers gives each controller of the instance that many workers.
func withWorkers(n int) instanceOption { return func(c *instanceConfig) { c.workers = n } }

// withNamespace makes the instance keep its Lease in the supplied namespace.
func withNamespace(name string) instanceOption {
	return func(c *instanceConfig) { c.namespace = name }
}

// withEnv sets an environment variable of the instance.
func withEnv(key, value string) instanceOption {
	return func(c *instanceConfig) { c.env[key] = value }
}

// withArgs adds command line arguments.
func withArgs(args ...string) instanceOption {
	return func(c *instanceConfig) { c.args = append(c.args, args...) }
}

// mirrorConfig writes a CLI configuration to the directory that has provider plugins from our mirror
// only, and returns its path.
func mirrorConfig(dir string) (string, error) {
	rc := filepath.Join(dir, "terraformrc")
	text := fmt.Sprintf("provider_installation {\n  filesystem_mirror {\n    path = %q\n  }\n}\n", shared.mirror)

	return rc, errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(rc, []byte(text), 0o600))
}
