// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// A deprived instance lacks rights, or its CLI does.
type deprived struct {
	c *cluster
	i *instance

	// user and cli are the accounts of the instance and of its CLI. In a pod they are one. Here
	// the CLI has the rights in the namespace of the states only, so that they have to be enough.
	user, cli *account

	// shard that the instance serves, and the namespace of states and of Flux sources.
	shard, states string

	// rights that it lacks between takeAway and giveBack, in the roles of the names in from.
	rights []right
	from   []string

	// namespace of the Workspaces of this test.
	ns string

	taken bool
}

// newDeprived returns an instance that is not started yet.
func newDeprived(t *testing.T, c *cluster) *deprived {
	t.Helper()

	d := &deprived{c: c, shard: unique("shard"), states: c.namespace(t)}
	d.user = c.newAccount(t, map[string]string{roleEverywhere: "", roleLeases: leaseNamespace, roleStates: d.states})
	d.cli = c.newAccount(t, map[string]string{roleStates: d.states})

	return d
}

// of returns the instance for the test of rights of one role.
func (d *deprived) of(t *testing.T, row missingRight, rights ...right) *deprived {
	t.Helper()

	one := *d
	one.rights, one.from, one.ns = rights, row.from, d.c.namespace(t)

	if len(one.from) == 0 {
		one.from = []string{rights[0].role}
	}

	return &one
}

// launch starts the instance, and does not wait.
func (d *deprived) launch(t *testing.T, opts ...instanceOption) {
	t.Helper()

	d.i = launchInstance(t, d.c, append([]instanceOption{
		withShard(d.shard), withKubeconfig(d.user.kubeconfig), withCLIKubeconfig(d.cli.kubeconfig),
	}, opts...)...)
}

// start starts the instance and waits until it is ready.
func (d *deprived) start(t *testing.T, opts ...instanceOption) {
	t.Helper()
	d.launch(t, opts...)
	expectServing(t, d.i, "/readyz")
}

// takeAway takes the rights away until giveBack or the end of the test.
func (d *deprived) takeAway(t *testing.T) {
	t.Helper()

	if d.taken {
		return
	}

	d.taken = true

	t.Cleanup(func() { d.giveBack(t) })

	for _, a := range []*account{d.user, d.cli} {
		a.change(t, d.rights, d.from, false)
	}
}

func (d *deprived) giveBack(t *testing.T) {
	t.Helper()

	if !d.taken {
		return
	}

	d.taken = false

	for _, a := range []*account{d.user, d.cli} {
		a.change(t, d.rights, d.from, true)
	}
}

// expectLogged waits until the log of the instance names the rights, and has all of the supplied
// texts.
func (d *deprived) expectLogged(t *testing.T, texts ...string) {
	t.Helper()
	eventually(t, func() error {
		out := d.i.output.String()
		if !containsAll(out, texts) {
			return errors.Errorf("the log has not all of %q", texts)
		}

		for _, r := range d.rights {
			want := []string{fmt.Sprintf(`"verb": %q`, r.verb), fmt.Sprintf(`"resource": %q`, r.resource), `see \"A right is missing\"`}
			if !slices.ContainsFunc(strings.Split(out, "\n"), func(line string) bool { return containsAll(line, want) }) {
				return errors.Errorf("the log does not say that a right is missing to %s %s", r.verb, r.resource)
			}
		}

		return nil
	})
}

// A shown checks that people are told which right is missing, on the Workspace or elsewhere.
type shown func(t *testing.T, d *deprived, ws workspace.Workspace)

// inLog checks that the log names the right, and has all of the supplied texts.
func inLog(texts ...string) shown {
	return func(t *testing.T, d *deprived, _ workspace.Workspace) {
		t.Helper()
		d.expectLogged(t, texts...)
	}
}

// inCLI checks that the condition Synced has the text of the CLI.
func inCLI(texts ...string) shown {
	return func(t *testing.T, d *deprived, ws workspace.Workspace) {
		t.Helper()
		expectCondition(t, d.c, ws, xpv2.TypeSynced, corev1.ConditionFalse, texts...)
	}
}

// inSynced checks that the log names the right, and that the condition Synced has the texts.
func inSynced(texts ...string) shown {
	return func(t *testing.T, d *deprived, ws workspace.Workspace) {
		t.Helper()
		inCLI(texts...)(t, d, ws)
		d.expectLogged(t)
	}
}

// inEvent checks that the log names the right, and that an Event has the texts.
func inEvent(reason string, texts ...string) shown {
	return func(t *testing.T, d *deprived, ws workspace.Workspace) {
		t.Helper()
		expectEvent(t, d.c, ws, reason, texts...)
		d.expectLogged(t)
	}
}
