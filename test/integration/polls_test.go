// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// TestPollsBesideConfigs makes an instance with the lowest rate limit reconcile more
// ProviderConfigs than the limit allows in the time that this test waits. Polls do not
// wait for them.
func TestPollsBesideConfigs(t *testing.T) {
	t.Parallel()

	const configs = 40

	c := shared.sharded.started(t)

	ns, shard := c.namespace(t), unique("shard")
	i := startInstance(t, c, withShard(shard), withWorkers(1), withPoll(pollOften))

	ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(c.createConfig(t, namespacedScope, ns, withBackend(ns, "beside"))), withModule(moduleFile(t, "outputs.tf")))
	expectReady(t, c, ws)

	for range configs {
		c.createConfig(t, namespacedScope, ns, withoutBackend())
	}

	for range 3 {
		expectAnotherRun(t, i, ws, "plan")
	}
}

// TestPollsOfNumbers has outputs that the API server stores with other digits than those of the CLI. A poll without news
// writes nothing, as for any other output.
func TestPollsOfNumbers(t *testing.T) {
	t.Parallel()

	c, ns, shard, i := useOpenTofu(t)
	ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), polledOften, withConfig(c.createConfig(t, namespacedScope, ns, withBackend(ns, "numbers"))), withModule(`
output "third" { value = 1 / 3 }
output "huge" { value = 18446744073709551615 }
output "small" { value = [0.0000001, { n = 1e21 }] }`))
	expectReady(t, c, ws)
	expectOutputs(t, c, ws, map[string]string{"third": "0.3333333333333333", "huge": "18446744073709552000", "small": `[1e-7,{"n":1e+21}]`})

	// The first plan after the apply updates the serial of the state.
	expectAnotherRun(t, i, ws, "plan")
	expectAnotherRun(t, i, ws, "plan")
	expectSettled(t, c, ws, func() {
		for range 3 {
			expectAnotherRun(t, i, ws, "plan")
		}
	})
}

// TestPollsWithNothingToInstall has a module without a backend, a provider and a called module. Init leaves nothing for it,
// and runs once nevertheless.
func TestPollsWithNothingToInstall(t *testing.T) {
	t.Parallel()

	eachCLI(t, func(t *testing.T, cli string) {
		t.Helper()

		c, ns, shard, i := useCommon(t, cli)
		ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(c.createConfig(t, namespacedScope, ns, withoutBackend())), withModule("output \"greeting\" {\n  value = \"hello\"\n}\n"))
		expectReady(t, c, ws)
		expectOnlyPlans(t, c, i, ws)
	})
}

// TestPollsOfOwnFiles has a module that packages its own directory. What the provider records is not there: it would be another
// package when the plan is applied, and at each poll.
func TestPollsOfOwnFiles(t *testing.T) {
	t.Parallel()

	eachCLI(t, func(t *testing.T, cli string) {
		t.Helper()

		c, ns, shard, i := useCommon(t, cli)
		u := newGitUpstream(t, tree{"index.html": "hello", "main.tf": `
variable "given" {}
resource "terraform_data" "package" {
  triggers_replace = sha1(join("", [for f in fileset(path.module, "**") : filesha1("${path.module}/${f}")]))
}
`})
		ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(c.createConfig(t, namespacedScope, ns, withBackend(ns, "files"))), withUpstream(u), withVar("given", "x"))
		expectReady(t, c, ws)
		expectOnlyPlans(t, c, i, ws)
	})
}

// lasting returns, for every file of a Workspace that remains after a run, a value that
// changes when it is written.
func lasting(t *testing.T, i *instance, uid string) map[string]string {
	t.Helper()

	found := map[string]string{}
	add := func(path string, e fs.DirEntry, err error) error {
		if os.IsNotExist(err) || err == nil && e.IsDir() {
			return nil
		}

		if err != nil {
			return err
		}

		info, err := e.Info()
		if os.IsNotExist(err) || filepath.Ext(path) == ".tfvars" || filepath.Ext(path) == ".tfplan" || e.Name() == "use" {
			return nil // It is about one run only.
		}

		if err != nil {
			return err
		}

		inode := info.Sys().(*syscall.Stat_t).Ino //nolint:forcetypeassert // It is Linux.
		found[path] = strconv.FormatUint(inode, 10) + " " + info.ModTime().Format(time.RFC3339Nano)

		return nil
	}

	if err := errors.Join(filepath.WalkDir(i.workdir(uid), add), filepath.WalkDir(i.records(uid), add)); err != nil {
		t.Fatal(err)
	}

	return found
}
