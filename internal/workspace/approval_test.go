// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"testing"

	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
)

func TestApprovalOf(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason      string
		own, shared commonv1beta1.Approval
		want        commonv1beta1.Approval
	}{
		"None":     {reason: "An unchanged manifest behaves as before.", want: commonv1beta1.ApprovalNever},
		"Never":    {reason: "That is the default.", own: commonv1beta1.ApprovalNever, shared: commonv1beta1.ApprovalNever, want: commonv1beta1.ApprovalNever},
		"Own":      {reason: "The Workspace asks for it.", own: commonv1beta1.ApprovalDestroy, want: commonv1beta1.ApprovalDestroy},
		"Shared":   {reason: "The ProviderConfig asks for it.", shared: commonv1beta1.ApprovalDestroy, want: commonv1beta1.ApprovalDestroy},
		"Stricter": {reason: "A Workspace is not less strict than its ProviderConfig.", own: commonv1beta1.ApprovalNever, shared: commonv1beta1.ApprovalDestroy, want: commonv1beta1.ApprovalDestroy},
		"Unknown":  {reason: "A value of a later version asks for approval, too.", own: "Later", want: commonv1beta1.ApprovalAlways},
		"Always":   {reason: "Every plan waits.", own: commonv1beta1.ApprovalDestroy, shared: commonv1beta1.ApprovalAlways, want: commonv1beta1.ApprovalAlways},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			ws := &clusterv1beta1.Workspace{}
			ws.Spec.ForProvider.Approval = tc.own

			if got := ApprovalOf(ws, tc.shared); got != tc.want {
				t.Errorf("\n%s\nApprovalOf(...): want %v, got %v", tc.reason, tc.want, got)
			}
		})
	}
}

// TestApprovalID ensures that an approval counts for nothing else.
func TestApprovalID(t *testing.T) {
	t.Parallel()

	newWorkspace := func() *clusterv1beta1.Workspace {
		ws := &clusterv1beta1.Workspace{}
		ws.SetUID("a")

		return ws
	}
	state := commonv1beta1.StateSummary{Lineage: "l", Serial: 3, Resources: 2}
	ids := map[string]string{PlanID(newWorkspace(), state, "deletes"): "the plan"}

	add := func(reason, id string) {
		if same, ok := ids[id]; ok {
			t.Errorf("%s: want another ID than for %s, got %s", reason, same, id)
		}

		ids[id] = reason
	}

	other := newWorkspace()
	other.SetUID("b")
	add("another Workspace", PlanID(other, state, "deletes"))
	add("other deletions", PlanID(newWorkspace(), state, "others"))
	add("another state", PlanID(newWorkspace(), commonv1beta1.StateSummary{Lineage: "m", Serial: 3}, "deletes"))
	add("a changed state", PlanID(newWorkspace(), commonv1beta1.StateSummary{Lineage: "l", Serial: 4}, "deletes"))
	add("the deletion of the Workspace", DeletionID(newWorkspace(), state))

	read := func(s commonv1beta1.StateSummary, key, cli, effects string) string {
		return ReadPlanID(newWorkspace(), s, []byte(key), cli, []byte(effects))
	}
	add("a plan that was read", read(state, "key", "cli", "effects"))
	add("other effects", read(state, "key", "cli", "others"))
	add("another key", read(state, "other", "cli", "effects"))
	add("another program", read(state, "key", "cli 2", "effects"))
	add("a later state", read(commonv1beta1.StateSummary{Lineage: "l", Serial: 4, Resources: 2}, "key", "cli", "effects"))
	add("parts that are cut elsewhere", read(state, "key", "clie", "ffects"))
	add("a blank state", read(commonv1beta1.StateSummary{Lineage: "l", Serial: 1}, "key", "cli", "effects"))

	if a, b := read(commonv1beta1.StateSummary{}, "key", "cli", "effects"), read(commonv1beta1.StateSummary{Lineage: "l", Serial: 1}, "key", "cli", "effects"); a != b {
		t.Errorf("want one ID for no state and a blank one, got %s and %s", a, b)
	}

	changed := newWorkspace()
	changed.SetGeneration(7)
	changed.Spec.ForProvider.Module = "other"
	id := PlanID(changed, commonv1beta1.StateSummary{Lineage: "l", Serial: 3}, "deletes")

	if ids[id] != "the plan" {
		t.Errorf("want the same ID for the same effects, got %s", id)
	}

	if len(id) != len("d-")+32 {
		t.Errorf("want 128 bits, got %s", id)
	}

	switch {
	case Approves(changed, ""), Approves(changed, id):
		t.Error("want no approval without the annotation")
	default:
		changed.SetAnnotations(map[string]string{ApprovePlanAnnotationKey: id})

		if !Approves(changed, id) || Approves(changed, id+"0") {
			t.Error("want an approval of exactly that ID")
		}
	}
}
