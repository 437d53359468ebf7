// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"os"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// TestKilledSecrets kills an instance while there are secrets on its disk. They are
// removed, although another instance serves the Workspace by then.
func TestKilledSecrets(t *testing.T) {
	t.Parallel()

	c := shared.sharded.started(t)
	ns, one, two := c.namespace(t), unique("shard"), unique("shard")
	a := startInstance(t, c, withShard(one), withInterruptibleLease())
	b := startInstance(t, c, withShard(two), withInterruptibleLease())

	create := func(e evidence) workspace.Workspace {
		spec := withBackend(ns, "killed")
		spec.Credentials = []commonv1beta1.ProviderCredentials{secretCredentials("credentials.txt", c.secretKey(t, ns, "sesame-credentials"))}

		return c.createReferring(t, namespacedScope, ns, references{
			varFiles: []commonv1beta1.VarFile{secretVars(c.secretKey(t, ns, `secret = "sesame-file"`), nil)},
		}, inShard(one), withConfig(c.createConfig(t, namespacedScope, ns, spec)), withEvidence(t, "gated.tf", e),
			withParameters(func(p *commonv1beta1.ModuleParameters) { p.Module += `variable "secret" { type = string }` }))
	}

	opened := newEvidence(t)
	opened.write(t, "gate", "")
	idle := create(opened)
	expectReady(t, c, idle)

	e := newEvidence(t)
	ws := create(e)
	expectDone(t, e, "created")
	expectOnDisk(t, a, ws, "credentials.txt", planOnDisk, "crossplane-provider-terraform-0.tfvars")
	a.kill(t)

	// The other instance has another disk. Only the age of the lock tells that no run holds it.
	c.relabel(t, ws, two)
	expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, "it has left no record of a run that made the lock", "The provider removes it after 20")
	makeOld(t, c, newLease(ns, lockOf(ws, "killed")))
	e.write(t, "gate", "")
	c.request(t, ws)
	expectEvent(t, c, ws, "RemovedOrphanLock")
	expectReady(t, c, ws)
	expectServedBy(t, b, ws)
	expectNothingOnDisk(t, b, ws, "sesame")

	again := startInstance(t, c, withShard(one), withRoot(a.root), withInterruptibleLease())
	expectNothingOnDisk(t, again, ws, "sesame")

	c.relabel(t, idle, two)
	expectClaimed(t, c, idle, leaseName+"-"+two)
	expectNothingOnDisk(t, again, idle, "sesame")
}

// TestSharedSecrets starts an instance on the disk of another running one. The files that
// the other one needs are kept.
func TestSharedSecrets(t *testing.T) {
	t.Parallel()

	// The directory with this name is checked last.
	const decoy = "ffffffff-ffff-4fff-bfff-ffffffffffff"

	c := shared.sharded.started(t)
	ns, one, root := c.namespace(t), unique("shard"), t.TempDir()
	a := startInstance(t, c, withShard(one), withRoot(root), withArgs("--gc-interval=0s"))

	spec := withBackend(ns, "shared")
	spec.Credentials = []commonv1beta1.ProviderCredentials{secretCredentials("credentials.txt", c.secretKey(t, ns, "sesame"))}
	ws, e := c.createGated(t, namespacedScope, ns, inShard(one), withConfig(c.createConfig(t, namespacedScope, ns, spec)))

	plan := filepath.Join(root, ".records", decoy, planOnDisk)
	if err := errors.Join(os.Mkdir(filepath.Join(root, decoy), 0o700), os.Mkdir(filepath.Dir(plan), 0o700), os.WriteFile(plan, nil, 0o600)); err != nil {
		t.Fatal(err)
	}

	startInstance(t, c, withShard(unique("shard")), withRoot(root), withArgs("--gc-interval=0s"))
	eventually(t, func() error {
		if _, err := os.Stat(plan); !os.IsNotExist(err) {
			return errors.Errorf("%q was not removed: %v", plan, err)
		}

		return nil
	})
	expectOnDisk(t, a, ws, "credentials.txt", planOnDisk)

	e.write(t, "gate", "")
	expectReady(t, c, ws)
	expectNothingOnDisk(t, a, ws, "sesame")
}

// planOnDisk is the plan among the records.
const planOnDisk = "run.tfplan"

// expectOnDisk fails the test unless the named files are in the workdir of the
// Workspace, or the plan among its records.
func expectOnDisk(t *testing.T, i *instance, ws workspace.Workspace, names ...string) {
	t.Helper()

	for _, name := range names {
		dir := i.workdir(string(ws.GetUID()))
		if name == planOnDisk {
			dir = i.records(string(ws.GetUID()))
		}

		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Errorf("want the file to be there while the CLI runs: %v", err)
		}
	}
}
