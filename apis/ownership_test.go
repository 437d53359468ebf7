// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package apis_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
)

func TestOwnership(t *testing.T) {
	t.Parallel()

	written := commonv1beta1.Ownership{Lineage: "lineage", PreviousHosts: []string{"host"}, Claim: &commonv1beta1.Claim{Holder: "holder"}}

	status := written.For("uid")
	written.Claim.Holder, written.PreviousHosts[0] = "changed", "changed"

	want := commonv1beta1.Ownership{UID: "uid", Lineage: "lineage", PreviousHosts: []string{"host"}, Claim: &commonv1beta1.Claim{Holder: "holder"}}
	if diff := cmp.Diff(want, status.Of("uid")); diff != "" {
		t.Errorf("It is a copy: no later change of the original reaches it.\nOf(...): -want, +got:\n%s", diff)
	}

	if diff := cmp.Diff(commonv1beta1.Ownership{}, status.Of("another")); diff != "" {
		t.Errorf("A copy from another Workspace is ignored.\nOf(...): -want, +got:\n%s", diff)
	}

	if diff := cmp.Diff(commonv1beta1.Ownership{}, (*commonv1beta1.Ownership)(nil).Of("uid")); diff != "" {
		t.Errorf("Of(...) of none: -want, +got:\n%s", diff)
	}

	if got := (&commonv1beta1.Ownership{UID: "uid"}).For("uid"); got != nil {
		t.Errorf("An empty ownership is nil.\nFor(...): got %+v", got)
	}
}
