// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	namespacedv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/namespaced/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

func TestWithWayOut(t *testing.T) {
	t.Parallel()

	const (
		orphan = ". There are resources to destroy, which takes the values of all variables: restore what is missing, or correct spec.forProvider. " +
			"To delete the Workspace and leave the infrastructure and its state behind, "
		byPolicy   = `set spec.managementPolicies to ["Observe", "Create", "Update"]`
		byDeletion = "set spec.deletionPolicy to Orphan"
	)

	incomplete, other := errors.New("varFiles[0]"), errors.New("no such region")

	limited := with()
	limited.SetManagementPolicies(xpv2.ManagementPolicies{xpv2.ManagementActionObserve, xpv2.ManagementActionDelete})

	cases := map[string]struct {
		reason     string
		ws         workspace.Workspace
		incomplete error
		err        error
		want       string
	}{
		"Cluster":    {reason: "The deletion policy is enough.", ws: with(), incomplete: incomplete, err: errors.Wrap(incomplete, "a"), want: "a: varFiles[0]" + orphan + byDeletion},
		"Policies":   {reason: "The deletion policy has no effect beside other management policies.", ws: limited, incomplete: incomplete, err: incomplete, want: "varFiles[0]" + orphan + byPolicy},
		"Namespaced": {reason: "There is no deletion policy.", ws: &namespacedv1beta1.Workspace{}, incomplete: incomplete, err: incomplete, want: "varFiles[0]" + orphan + byPolicy},
		"Other":      {reason: "The reason is another one.", ws: with(), incomplete: incomplete, err: other, want: "no such region"},
		"Complete":   {reason: "Nothing is missing.", ws: with(), err: other, want: "no such region"},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			e := &external{runner: &fakeRunner{incomplete: tc.incomplete}}

			err := e.withWayOut(tc.ws, tc.err)
			if diff := cmp.Diff(tc.want, err.Error()); diff != "" {
				t.Errorf("\n%s\nwithWayOut(...): -want, +got:\n%s", tc.reason, diff)
			}

			if !errors.Is(err, tc.err) {
				t.Errorf("withWayOut(...): %v is not %v any more", err, tc.err)
			}
		})
	}
}
