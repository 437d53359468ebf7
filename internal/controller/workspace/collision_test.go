// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	namespacedv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/namespaced/v1beta1"
)

func TestOwnsState(t *testing.T) {
	t.Parallel()

	all := xpv2.ManagementPolicies{xpv2.ManagementActionAll}
	observe := xpv2.ManagementPolicies{xpv2.ManagementActionObserve}
	late := xpv2.ManagementPolicies{xpv2.ManagementActionObserve, xpv2.ManagementActionLateInitialize}
	deletes := xpv2.ManagementPolicies{xpv2.ManagementActionObserve, xpv2.ManagementActionDelete}

	cases := map[string]struct {
		reason   string
		policies xpv2.ManagementPolicies
		created  bool
		checksum string
		want     bool
	}{
		"New":        {reason: "nothing is known of it", policies: all},
		"Creator":    {reason: "it made what is there", policies: all, created: true, want: true},
		"Adopter":    {reason: "it was reconciled with what is there", policies: all, checksum: "c", want: true},
		"Observer":   {reason: "it only looks, and has the checksum of an older version", policies: observe, checksum: "c"},
		"Late":       {reason: "there is nothing to initialize late", policies: late, checksum: "c"},
		"Deleter":    {reason: "it may destroy what is there", policies: deletes, checksum: "c", want: true},
		"Pensioner":  {reason: "it made what is there, and only looks by now", policies: observe, created: true, checksum: "c", want: true},
		"NoPolicies": {reason: "management policies may be off", checksum: "c", want: true},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			ws := &namespacedv1beta1.Workspace{}
			ws.SetManagementPolicies(tc.policies)

			o := ws.GetObservation()
			o.Checksum = tc.checksum
			ws.SetObservation(o)

			if tc.created {
				meta.SetExternalCreateSucceeded(ws, time.Now())
			}

			if have := ownsState(ws); have != tc.want {
				t.Errorf("%s: want %t, got %t", tc.reason, tc.want, have)
			}
		})
	}
}

func TestBackendOf(t *testing.T) {
	t.Parallel()

	const (
		backend = `terraform {
  backend "kubernetes" {}
}
`
		none = "# There is no backend, but for the word.\n"
	)

	inline := func(module string) commonv1beta1.WorkspaceParameters {
		return commonv1beta1.WorkspaceParameters{ModuleParameters: commonv1beta1.ModuleParameters{Source: commonv1beta1.ModuleSourceInline, Module: module}}
	}
	remote := commonv1beta1.WorkspaceParameters{ModuleParameters: commonv1beta1.ModuleParameters{
		Source: commonv1beta1.ModuleSourceRemote, Module: "git::https://example.org/backend",
	}}

	type place struct {
		parameters    commonv1beta1.WorkspaceParameters
		configuration string
		file          string
	}

	of := func(p place) string {
		return backendOf(p.parameters, commonv1beta1.ProviderConfigSpec{Configuration: &p.configuration, BackendFile: &p.file})
	}

	cases := map[string]struct {
		reason string
		a, b   place
		disk   bool
		same   bool
	}{
		"Disk": {
			reason: "Without a backend each has a place of its own.",
			a:      place{parameters: inline("# one"), configuration: none},
			b:      place{parameters: remote, configuration: none},
			disk:   true,
			same:   true,
		},
		"Configuration": {
			reason: "The configuration says where, whatever the module is.",
			a:      place{parameters: inline("# one"), configuration: backend},
			b:      place{parameters: remote, configuration: backend},
			same:   true,
		},
		"AnotherConfiguration": {
			reason: "Another configuration may say something else.",
			a:      place{parameters: remote, configuration: backend},
			b:      place{parameters: remote, configuration: backend + "# two"},
		},
		"File": {
			reason: "The file says the rest of it.",
			a:      place{parameters: remote, configuration: backend, file: "a = 1"},
			b:      place{parameters: remote, configuration: backend, file: "a = 2"},
		},
		"Module": {
			reason: "An inline module can say it, too.",
			a:      place{parameters: inline(backend)},
			b:      place{parameters: inline(backend)},
			same:   true,
		},
		"AnotherModule": {
			reason: "Another one may say something else.",
			a:      place{parameters: inline(backend)},
			b:      place{parameters: inline(backend + "# two")},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			a, b := of(tc.a), of(tc.b)
			if (a == b) != tc.same {
				t.Errorf("\n%s\nbackendOf(...): want the same place: %t, got %q and %q", tc.reason, tc.same, a, b)
			}

			if (a == "") != tc.disk {
				t.Errorf("\n%s\nbackendOf(...): want the disk: %t, got %q", tc.reason, tc.disk, a)
			}
		})
	}
}

// TestPrecedes ensures that of two Workspaces which want the same state one is told
// that it belongs to the other one, and never both.
func TestPrecedes(t *testing.T) {
	t.Parallel()

	type option func(ws *namespacedv1beta1.Workspace)

	now := time.Now()
	begun := func(ws *namespacedv1beta1.Workspace) { meta.SetExternalCreatePending(ws, now) }
	failed := func(ws *namespacedv1beta1.Workspace) { meta.SetExternalCreateFailed(ws, now) }
	created := func(ws *namespacedv1beta1.Workspace) { meta.SetExternalCreateSucceeded(ws, now) }
	observes := func(ws *namespacedv1beta1.Workspace) {
		ws.SetManagementPolicies(xpv2.ManagementPolicies{xpv2.ManagementActionObserve})
	}
	reconciled := func(ws *namespacedv1beta1.Workspace) {
		o := ws.GetObservation()
		o.Checksum = "c"
		ws.SetObservation(o)
	}
	older := func(ws *namespacedv1beta1.Workspace) { ws.SetCreationTimestamp(metav1.NewTime(now.Add(-time.Hour))) }
	refused := func(ws *namespacedv1beta1.Workspace) { disown(ws, takenError{}) }
	broken := func(ws *namespacedv1beta1.Workspace) { disown(ws, errors.New("boom")) }

	cases := map[string]struct {
		reason string
		winner []option
		loser  []option
	}{
		"Equal":           {reason: "somebody has to win"},
		"Older":           {reason: "both would take over what is there", winner: []option{older}},
		"Begun":           {reason: "what is there may be of the one that began to create", winner: []option{begun}, loser: []option{older}},
		"BegunAndFailed":  {reason: "it may have failed halfway", winner: []option{begun, failed}, loser: []option{older}},
		"BegunBoth":       {reason: "either may have made what is there", winner: []option{begun, older}, loser: []option{begun, failed}},
		"Refused":         {reason: "it failed because another one had begun", winner: []option{begun, failed}, loser: []option{older, begun, refused, failed}},
		"Broken":          {reason: "it failed for another reason", winner: []option{older, begun, broken, failed}, loser: []option{begun}},
		"Created":         {reason: "it did not fail", winner: []option{begun, created}, loser: []option{older, begun, failed}},
		"Reconciled":      {reason: "it was reconciled with what is there", winner: []option{reconciled}, loser: []option{older, begun}},
		"Observer":        {reason: "to look is no title", loser: []option{older, observes, reconciled}},
		"BeganToObserve":  {reason: "what it made is there still", winner: []option{begun, observes}, loser: []option{older}},
		"CreatedThenLook": {reason: "what it made is there still", winner: []option{created, observes}, loser: []option{older, begun}},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			workspace := func(uid string, opts []option) *namespacedv1beta1.Workspace {
				ws := &namespacedv1beta1.Workspace{}
				ws.SetUID(types.UID(uid))
				ws.SetCreationTimestamp(metav1.NewTime(now))

				for _, o := range opts {
					o(ws)
				}

				return ws
			}

			winner, loser := workspace("a", tc.winner), workspace("b", tc.loser)
			if len(tc.winner) > 0 || len(tc.loser) > 0 {
				// The UID is not what decides.
				winner.SetUID("c")
			}

			if !precedes(winner, loser) || precedes(loser, winner) {
				t.Errorf("%s: want the first one to win, got %t, the other way round %t", tc.reason, precedes(winner, loser), precedes(loser, winner))
			}
		})
	}
}
