// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
)

// No plan is kept until a person approves it: the plan is made again, perhaps by another instance, and has to have the
// same ID. So an ID depends only on what a plan does and on the state that it starts from. It does not depend on the
// generation of the Workspace or on the revision of its module, which the commit of an approval would change.

// ApprovalOf returns the stricter one of the approvals of a Workspace and, in shared, of its ProviderConfig. One that this
// version does not know is the strictest that it knows.
func ApprovalOf(ws Workspace, shared commonv1beta1.Approval) commonv1beta1.Approval {
	all := []commonv1beta1.Approval{commonv1beta1.ApprovalNever, commonv1beta1.ApprovalDestroy, commonv1beta1.ApprovalAlways}
	strictest := 0

	for _, a := range []commonv1beta1.Approval{ws.GetParameters().Approval, shared} {
		i := slices.Index(all, cmp.Or(a, commonv1beta1.ApprovalNever))
		if i < 0 {
			i = len(all) - 1
		}

		strictest = max(strictest, i)
	}

	return all[strictest]
}

// PlanID returns the ID of a plan that starts from the supplied state. deletes is a digest of everything that it deletes
// or replaces. As each apply raises the serial of the state, an ID can be applied only once.
func PlanID(ws Workspace, s commonv1beta1.StateSummary, deletes string) string {
	return approvalID("d-", ws, s, deletes)
}

// ReadPlanID returns the ID of a plan with the supplied effects, which contain values of any kind. key is a secret. cli is
// the program that has made the plan.
func ReadPlanID(ws Workspace, s commonv1beta1.StateSummary, key []byte, cli string, effects []byte) string {
	// Some backends make an empty state again and again, until something is in it.
	if IsBlank(s) {
		s = commonv1beta1.StateSummary{}
	}

	mac := hmac.New(sha256.New, key)
	_, _ = fmt.Fprintf(mac, "%q", []string{cli, string(effects)}) // It never fails.

	return approvalID("p-", ws, s, string(mac.Sum(nil)))
}

// DeletionID returns the ID of the deletion of everything in the supplied state.
func DeletionID(ws Workspace, s commonv1beta1.StateSummary) string {
	return approvalID(deletionPrefix, ws, s, "")
}

const deletionPrefix = "x-"

// IsDeletion says whether an ID is one of DeletionID.
func IsDeletion(id string) bool { return strings.HasPrefix(id, deletionPrefix) }

// Approves says whether a person has approved the plan, or the deletion, with the supplied ID.
func Approves(ws Workspace, id string) bool {
	return id != "" && Answer(ws, ApprovePlanAnnotationKey) == id
}

// approvalID has 128 bits: an author who could search for two plans with one ID would get the approval for the harmless
// one.
func approvalID(prefix string, ws Workspace, s commonv1beta1.StateSummary, effects string) string {
	text, _ := json.Marshal([]any{ws.GetUID(), s.Lineage, s.Serial, []byte(effects)}) // It always can be.

	return fmt.Sprintf("%s%.16x", prefix, sha256.Sum256(text))
}
