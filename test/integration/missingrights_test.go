// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	gocmp "cmp"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// deprivedInstances is the number of instances that the tests of rights share. Each lacks one right
// at a time.
const deprivedInstances = 4

// A missingRight is the test of one right of the manifests.
type missingRight struct {
	// from are the roles from which the right is taken, if not from its own role alone.
	from []string

	// lacks takes the right away from a running instance, and gives it back.
	lacks story

	// starts does the same with an instance of its own, which it starts. Rights with the same group
	// are taken away together.
	starts story
	group  string

	// alone does the same where no other instance runs: it would do what the deprived one cannot.
	alone story

	// untested says why there is no test.
	untested string
}

// everywhere and in the namespace of the Leases: the first role has these rights for all
// namespaces. A deployment may give it less.
func inBothRoles() []string { return []string{roleEverywhere, roleLeases} }

// missingRights has a row for each right in cluster/deploy/common.
func missingRights() map[string]missingRight {
	return map[string]missingRight{
		"provider-terraform: get workspaces":               {lacks: blind},
		"provider-terraform: list workspaces":              {starts: unready, group: "list"},
		"provider-terraform: watch workspaces":             {starts: unwatched, group: "watch"},
		"provider-terraform: patch workspaces":             {lacks: blocked(inSynced("cannot update managed resource", `cannot patch resource "workspaces"`))},
		"provider-terraform: patch workspaces/status":      {lacks: blocked(inEvent("CannotClaim", `cannot patch resource "workspaces/status"`))},
		"provider-terraform: update workspaces/status":     {lacks: blocked(inEvent("CannotCreateExternalResource", "cannot record that creation begins", `cannot update resource "workspaces/status"`))},
		"provider-terraform: update workspaces/finalizers": {lacks: blocked(inSynced("the provider needs the right to update workspaces/finalizers"))},

		"provider-terraform: list providerconfigs":                 {starts: unready, group: "list"},
		"provider-terraform: watch providerconfigs":                {starts: unwatched, group: "watch"},
		"provider-terraform: update providerconfigs":               {alone: unfinalizedConfig},
		"provider-terraform: list clusterproviderconfigs":          {starts: unready, group: "list"},
		"provider-terraform: watch clusterproviderconfigs":         {starts: unwatched, group: "watch"},
		"provider-terraform: update clusterproviderconfigs":        {alone: unfinalizedConfig},
		"provider-terraform: update providerconfigs/status":        {alone: uncountedUsers},
		"provider-terraform: update clusterproviderconfigs/status": {alone: uncountedUsers},
		"provider-terraform: list providerconfigusages":            {starts: unready, group: "list"},
		"provider-terraform: watch providerconfigusages":           {starts: unwatched, group: "watch"},
		"provider-terraform: create providerconfigusages":          {lacks: blocked(inSynced("cannot track ProviderConfig usage", `cannot create resource "providerconfigusages"`))},
		"provider-terraform: update providerconfigusages":          {lacks: movedToOtherConfig},
		"provider-terraform: patch providerconfigusages":           {lacks: keptUsage},
		"provider-terraform: delete providerconfigusages":          {alone: staleUsage},

		"provider-terraform: get secrets":   {starts: started(blocked(inSynced(`cannot get resource "secrets"`), secretVariable), withArgs("--no-enable-secret-cache"))},
		"provider-terraform: list secrets":  {starts: started(blocked(inSynced(`cannot list resource "secrets"`), secretVariable), withoutStreams())},
		"provider-terraform: watch secrets": {starts: unwatchedSecrets},
		"provider-terraform: create secrets": {lacks: both(
			blocked(inSynced("cannot create or update connection secret", `cannot create resource "secrets"`), connectionSecret),
			unreviewed(`cannot create resource "secrets"`),
		)},
		"provider-terraform: patch secrets":  {lacks: both(changedConnection, unreviewed(`cannot patch resource "secrets"`))},
		"provider-terraform: get configmaps": {lacks: blocked(inSynced(`cannot get resource "configmaps"`), configMapVariable)},
		"provider-terraform: create events":  {lacks: unreported},
		"provider-terraform: patch events":   {lacks: uncountedEvent},
		"provider-terraform: get leases":     {lacks: claimedElsewhere},
		"provider-terraform: list leases":    {lacks: defaultState},

		"provider-terraform: list customresourcedefinitions":  {starts: ungated},
		"provider-terraform: watch customresourcedefinitions": {starts: ungated},

		"provider-terraform-leader-election: get leases":    {from: inBothRoles(), starts: leaseless(`cannot get resource "leases"`)},
		"provider-terraform-leader-election: list leases":   {from: inBothRoles(), starts: unobserved},
		"provider-terraform-leader-election: create leases": {starts: leaseless("not found")},
		"provider-terraform-leader-election: update leases": {starts: unrenewed},
		"provider-terraform-leader-election: delete leases": {untested: "an instance deletes the Leases of a session that ended an hour ago and of its leader election. TestCollector in internal/shard/session has the time of its own for that"},

		// The CLI makes most of these requests, so that they are not in the log of the instance.
		"provider-terraform-extra: get secrets":    {lacks: blocked(inCLI(`cannot get resource "secrets"`), keptState)},
		"provider-terraform-extra: list secrets":   {lacks: blocked(inCLI(`cannot list resource "secrets"`), keptState)},
		"provider-terraform-extra: create secrets": {lacks: blocked(inCLI(`cannot create resource "secrets"`), keptState)},
		"provider-terraform-extra: update secrets": {lacks: blocked(inCLI(`cannot update resource "secrets"`), keptState)},
		"provider-terraform-extra: delete secrets": {lacks: undeletedState},
		"provider-terraform-extra: get leases":     {lacks: blocked(inCLI(`cannot get resource "leases"`), keptState)},
		"provider-terraform-extra: create leases":  {lacks: blocked(inCLI(`cannot create resource "leases"`), keptState)},
		"provider-terraform-extra: update leases":  {lacks: blocked(inCLI(`cannot update resource "leases"`), keptState)},
		"provider-terraform-extra: patch leases":   {starts: orphanLock},
		"provider-terraform-extra: delete leases":  {lacks: leftLeases},

		"provider-terraform-extra: get gitrepositories": {lacks: blocked(inSynced(`cannot get resource "gitrepositories"`), fluxModule("GitRepository"))},
		"provider-terraform-extra: get ocirepositories": {lacks: blocked(inSynced(`cannot get resource "ocirepositories"`), fluxModule("OCIRepository"))},
		"provider-terraform-extra: get buckets":         {lacks: blocked(inSynced(`cannot get resource "buckets"`), fluxModule("Bucket"))},
	}
}

// TestMissingRights takes each right of the manifests away, most of them one at a time. The instance says what
// it lacks. With the right back, the Workspace becomes Ready or is deleted, and nothing was created
// twice or lost. The rights that need an API server without other instances are in TestUnsharded.
func TestMissingRights(t *testing.T) {
	t.Parallel()

	c := shared.sharded.started(t)
	rows := missingRights()

	pool := make(chan *deprived, deprivedInstances)

	for range deprivedInstances {
		d := newDeprived(t, c)
		d.launch(t)

		pool <- d
	}

	have, groups := []string{}, map[string][]right{}

	for _, r := range manifestRights(t) {
		have = append(have, r.String())
		row := rows[r.String()]

		switch {
		case row.lacks != nil:
			t.Run(r.String(), func(t *testing.T) {
				t.Parallel()

				d := <-pool

				t.Cleanup(func() { pool <- d })

				expectServing(t, d.i, "/readyz")
				row.lacks(t, d.of(t, row, r))
			})
		case row.starts != nil:
			group := gocmp.Or(row.group, r.String())
			groups[group] = append(groups[group], r)
		}
	}

	for group, rights := range groups {
		t.Run(group, func(t *testing.T) {
			t.Parallel()

			row := rows[rights[0].String()]
			row.starts(t, newDeprived(t, c).of(t, row, rights...))
		})
	}

	if diff := cmp.Diff(slices.Sorted(maps.Keys(rows)), slices.Sorted(slices.Values(have))); diff != "" {
		t.Errorf("rights: -in the table, +in the manifests:\n%s", diff)
	}
}

// testMissingConfigRights takes rights on ProviderConfigs away. Every instance serves all of them.
func testMissingConfigRights(t *testing.T, c *cluster) {
	t.Helper()

	shared := newDeprived(t, c)
	shared.start(t)

	for _, r := range manifestRights(t) {
		if row := missingRights()[r.String()]; row.alone != nil {
			t.Run(r.String(), func(t *testing.T) { row.alone(t, shared.of(t, row, r)) })
		}
	}
}

// manifestRights returns the rights in the manifests of every deployment.
func manifestRights(t *testing.T) []right {
	t.Helper()

	var rights []right
	for _, role := range []string{roleEverywhere, roleLeases, roleStates} {
		rights = append(rights, rightsOf(role, exampleRules(t, role))...)
	}

	return rights
}
