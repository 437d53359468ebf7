// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"path/filepath"
	"sync"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// A commonInstance is a shard with default options. Many tests have their Workspaces in it, and
// distinguish its runs by the Workspace. They must not stop it or count anything else. It starts when
// it is first needed, and ends after all tests.
type commonInstance struct {
	*instance

	shard string
	start func() error

	// recorder of the runs, if it has one.
	recorder *recorder
}

// The common instances. There are two with the same CLI, so that a Workspace can move.
const (
	commonTofu      = "tofu"
	commonOtherTofu = "other-tofu"
	commonTerraform = "terraform"
	commonRecorded  = "recorded"
)

// newCommonInstances returns instances that serve the control plane when they are first used. Their
// files are in dir.
func newCommonInstances(dir string, s *suite) map[string]*commonInstance {
	all := map[string]*commonInstance{}

	for name, cli := range map[string]string{
		commonTofu: s.tofu(), commonOtherTofu: s.tofu(), commonTerraform: s.terraform(), commonRecorded: s.tofu(),
	} {
		i := &commonInstance{shard: "common-" + name}
		i.start = sync.OnceValue(func() (err error) {
			dir, opts := filepath.Join(dir, name), []instanceOption{
				withShard(i.shard), withWorkers(30),
				withEnv("INHERITED", "provider"), withEnv("REPLACED", "provider"), withEnv("EMPTIED", "provider"), withEnv("TF_WORKSPACE", "provider"),
				// Each renewal of its Lease has a price.
				withEnv("CROSSPLANE_TERRAFORM_PROVIDER_LEASE_RETRY_PERIOD", "2s"),
			}

			mirror, err := mirrorConfig(dir)
			if err != nil {
				return err
			}

			opts = append(opts, withEnv("TF_CLI_CONFIG_FILE", mirror), withCLI(cli))

			if name == commonRecorded {
				if i.recorder, err = newRecorder(filepath.Join(dir, "recorder"), cli); err != nil {
					return err
				}

				opts = append(opts, withCLI(i.recorder.cli), withEnv("TF_PLUGIN_CACHE_DIR", commonPluginCache(dir)))
			}

			i.instance, err = newInstance(dir, s.sharded, opts...)

			return err
		})
		all[name] = i
	}

	return all
}

// commonPluginCache is the plugin cache of the recorded instance with files in dir. The CLI refuses to
// run when it is missing, so the instance makes it.
func commonPluginCache(dir string) string { return filepath.Join(dir, "plugin-cache") }

// useCommon returns the named common instance and what a test needs beside it: the control plane, a
// namespace of its own, and the name of the shard.
func useCommon(t *testing.T, name string) (c *cluster, namespace, shard string, i *instance) {
	t.Helper()

	c, common := shared.sharded.started(t), shared.common[name]
	if err := common.start(); err != nil {
		t.Fatalf("cannot start instance: %v", err)
	}

	expectServing(t, common.instance, "/readyz")
	t.Cleanup(func() { common.dump(t) })

	return c, c.namespace(t), common.shard, common.instance
}

// useOpenTofu returns a common instance that runs OpenTofu.
func useOpenTofu(t *testing.T) (c *cluster, namespace, shard string, i *instance) {
	t.Helper()

	return useCommon(t, commonTofu)
}

// useTerraform returns a common instance that runs Terraform. About half of the tests that are not
// about the difference use it.
func useTerraform(t *testing.T) (c *cluster, namespace, shard string, i *instance) {
	t.Helper()

	return useCommon(t, commonTerraform)
}

// useRecorder returns a common instance that runs OpenTofu, and the recorder of these runs.
func useRecorder(t *testing.T) (c *cluster, namespace, shard string, i *instance, r *recorder) {
	t.Helper()

	c, namespace, shard, i = useCommon(t, commonRecorded)

	return c, namespace, shard, i, shared.common[commonRecorded].recorder
}

// endCommon stops the common instances that were started.
func (s *suite) endCommon() error {
	var errs []error

	for name, i := range s.common {
		if i.instance != nil {
			errs = append(errs, errors.Wrapf(i.end(), "common instance %q", name))
		}
	}

	return errors.Join(errs...)
}
