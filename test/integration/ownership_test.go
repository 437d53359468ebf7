// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"maps"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// TestOwner has Workspaces that use states of other Workspaces, which neither the text of
// a configuration nor an annotation shows. The lineage does.
func TestOwner(t *testing.T) {
	t.Parallel()

	const suffix = "owner"

	c, one, shard, i := useOpenTofu(t)
	two := c.namespace(t)

	cfg := newClusterConfig(withBackend(one, suffix))
	c.create(t, cfg)

	// createOwner creates a Workspace that gets a state.
	createOwner := func(t *testing.T) (workspace.Workspace, evidence) {
		t.Helper()

		e := newEvidence(t)
		ws := c.createWorkspace(t, namespacedScope, one, inShard(shard), withConfig(cfg), withEvidence(t, "evidence.tf", e))
		expectReady(t, c, ws)

		return ws, e
	}

	// expectRefused ensures that the second Workspace does no harm to the first one, not
	// even when it is deleted.
	expectRefused := func(t *testing.T, first, second workspace.Workspace, e evidence) {
		t.Helper()
		expectCondition(t, c, second, xpv2.TypeSynced, corev1.ConditionFalse, one+"/"+first.GetName(), "belongs to")

		c.remove(t, second)
		expectGone(t, c, second)
		expectDone(t, e, "created")
		expectExists(t, c, stateSecret(first, one, suffix))

		// The first one can still do everything.
		c.changeVars(t, first, commonv1beta1.Var{Key: "dir", Value: string(e)}, commonv1beta1.Var{Key: "greeting", Value: "still here"})
		expectOutputs(t, c, first, map[string]string{"greeting": `"still here"`})
		c.remove(t, first)
		expectGone(t, c, first)
		expectDone(t, e, "created", "destroyed")
	}

	t.Run("Comment", func(t *testing.T) {
		t.Parallel()

		first, e := createOwner(t)

		// The same backend in other words.
		spec := withBackend(one, suffix)
		text := *spec.Configuration + "\n# Another region.\n"
		spec.Configuration = &text
		other := newClusterConfig(spec)
		c.create(t, other)

		second := newTwin(first, two, inShard(shard), withConfig(other), withEvidence(t, "evidence.tf", e), withVar("greeting", "bye"))
		c.create(t, second)
		expectRefused(t, first, second, e)
	})

	t.Run("Copy", func(t *testing.T) {
		t.Parallel()

		first, e := createOwner(t)

		second := newTwin(first, two, inShard(shard), withConfig(cfg), withEvidence(t, "evidence.tf", e))
		second.SetAnnotations(maps.Clone(first.GetAnnotations()))
		c.create(t, second)
		expectRefused(t, first, second, e)
	})

	t.Run("Halfway", func(t *testing.T) {
		t.Parallel()

		// One text, and two places.
		partial := "terraform {\n  backend \"kubernetes\" {\n    secret_suffix = \"halfway-elsewhere\"\n  }\n}\n"
		completed := newClusterConfig(configSpec{Configuration: &partial})
		c.create(t, completed)

		in := func(namespace string) references {
			return references{env: []commonv1beta1.EnvVar{{Name: "KUBE_NAMESPACE", Value: namespace}}}
		}

		namesake := newReferring(namespacedScope, one, in(one), inShard(shard), withConfig(completed), withEvidence(t, "evidence.tf", newEvidence(t)))
		c.create(t, namesake)
		expectReady(t, c, namesake)

		e := newEvidence(t)
		e.write(t, "gate", "")

		ws := newReferring(namespacedScope, two, in(two), inShard(shard), withConfig(completed), withEvidence(t, "evidence.tf", e), withMore(t, "broken.tf"))
		ws.SetName(namesake.GetName())
		c.create(t, ws)
		expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, "exit status 7")

		c.remove(t, ws)
		expectGone(t, c, ws)
		expectDone(t, e, "created", "destroyed")
		expectReady(t, c, namesake)
	})

	t.Run("Replaced", func(t *testing.T) {
		t.Parallel()

		ws, mine := createOwner(t)
		other, theirs := createOwner(t)

		c.annotate(t, ws, requestedAt, "now")
		expectHandled(t, c, ws, "now")
		lineage := expectRemembered(t, c, ws)

		state := stateSecret(other, one, suffix)
		c.get(t, state)
		c.patch(t, stateSecret(ws, one, suffix), map[string]any{"data": state.Data})

		c.remove(t, ws)
		expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, "is another one", acceptLostState+"="+lineage)
		expectReason(t, c, ws, xpv2.TypeReady, xpv2.ReasonDeleting)
		expectAnotherRun(t, i, ws, "state pull")
		expectDone(t, theirs, "created")

		// The annotation accepts that there is nothing left to destroy, but not that other
		// resources are destroyed instead.
		c.annotate(t, ws, acceptLostState, lineage)
		expectGone(t, c, ws)
		expectDone(t, mine, "created")
		expectDone(t, theirs, "created")
	})
}

// TestLostFirstApply kills an instance during the first apply of a Workspace that has its
// state on disk, and removes the disk. The resources that exist by then are not created
// again.
func TestLostFirstApply(t *testing.T) {
	t.Parallel()

	c := shared.sharded.started(t)
	ns, shard := c.namespace(t), unique("shard")
	a := startInstance(t, c, withShard(shard), withShortLease())

	cfg := c.createConfig(t, namespacedScope, ns, withoutBackend())
	ws, e := c.createGated(t, namespacedScope, ns, inShard(shard), withConfig(cfg))
	a.kill(t)
	e.write(t, "gate", "")

	startInstance(t, c, withShard(shard), withShortLease(), withPoll(time.Minute))
	expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, "is gone", "on the disk", acceptLostState+"=unknown")
	expectDone(t, e, "created")

	c.annotate(t, ws, acceptLostState, "unknown")
	expectReady(t, c, ws)
	expectDone(t, e, "created", "created")
}

// TestRenamedFirstApply kills an instance during the first apply of a Workspace, and gives the Workspace another
// external name before the next instance starts. A first apply that has failed is no reason to keep a name.
func TestRenamedFirstApply(t *testing.T) {
	t.Parallel()

	c := shared.sharded.started(t)
	ns, shard := c.namespace(t), unique("shard")
	a := startInstance(t, c, withShard(shard), withShortLease())
	cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, "renamed"))

	failed := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withModule(`
resource "terraform_data" "failed" {
  lifecycle {
    precondition {
      condition     = timestamp() == "never" || terraform.workspace == "renamed"
      error_message = "It is another workspace."
    }
  }
}
`))
	expectCondition(t, c, failed, xpv2.TypeSynced, corev1.ConditionFalse, "It is another workspace")
	c.annotate(t, failed, meta.AnnotationKeyExternalName, "renamed")
	expectReady(t, c, failed)

	ws, e := c.createGated(t, namespacedScope, ns, inShard(shard), withConfig(cfg))
	a.kill(t)
	e.write(t, "gate", "")
	c.annotate(t, ws, meta.AnnotationKeyExternalName, "another")

	startInstance(t, c, withShard(shard), withRoot(a.root), withShortLease())
	expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, "is empty, and is another one", acceptLostState+"=")
	expectDone(t, e, "created")
}

// TestNothingCreated fails to create anything on a disk. Nothing is lost when the disk is
// taken away, so that the Workspace must not be found to have begun.
func TestNothingCreated(t *testing.T) {
	t.Parallel()

	c, ns, shard, i := useOpenTofu(t)

	cfg := c.createConfig(t, namespacedScope, ns, withoutBackend())
	ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withModule(`
variable "time" {
  default = "never"
}

resource "terraform_data" "refused" {
  lifecycle {
    precondition {
      condition     = timestamp() == var.time
      error_message = "It is never this time."
    }
  }
}
`))
	expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, "It is never this time")
	expectAnotherRun(t, i, ws, "apply")
	eventually(t, func() error {
		c.get(t, ws)

		if workspace.HasBegun(ws) {
			return errors.New("the Workspace is said to have begun to create something")
		}

		return nil
	})
}
