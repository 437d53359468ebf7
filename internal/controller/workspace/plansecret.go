// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"slices"

	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/schedule"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// planSecretType is the type of the Secret with the plan of a Workspace.
const planSecretType corev1.SecretType = workspace.KeyPrefix + "plan"

// Keys of that Secret. The key of the ID is random: users who may read the Workspace, but not the Secret, could otherwise
// try values of variables until the ID is the same.
const (
	planSecretKey  = "key"
	planSecretID   = "id"
	planSecretText = "plan"
)

// planSecretName returns the name of the Secret with the plan of a Workspace. That of a cluster-scoped one is in the
// namespace of the Leases.
func (ps *pass) planSecretName(ws workspace.Workspace) types.NamespacedName {
	return types.NamespacedName{Namespace: cmp.Or(ws.GetNamespace(), ps.PlanNamespace), Name: "plan-" + string(ws.GetUID())}
}

// planSecret returns the Secret with the plan of a Workspace, which it makes if there is none. The Secret is read from
// the API server: with the key of an old one, no plan would have the ID that was approved.
func (ps *pass) planSecret(ctx context.Context, ws workspace.Workspace) (*corev1.Secret, error) {
	name, s := ps.planSecretName(ws), &corev1.Secret{}
	if name.Namespace == "" {
		return nil, errors.New("there is no namespace for the Secret with the plan: set --lease-namespace")
	}

	err := ps.live.Get(ctx, name, s)
	if kerrors.IsNotFound(err) {
		if err = ps.createPlanSecret(ctx, ws, name); err == nil || kerrors.IsAlreadyExists(err) {
			err = ps.live.Get(ctx, name, s)
		}
	}

	switch {
	case err != nil:
		return nil, errors.Wrapf(err, "cannot use Secret %s for the plan", name)
	case s.Type != planSecretType || !slices.ContainsFunc(s.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.UID == ws.GetUID() }):
		return nil, errors.Errorf("cannot use Secret %s for the plan: something else has made it. Delete it", name)
	case len(s.Data[planSecretKey]) == 0:
		return nil, errors.Errorf("cannot use Secret %s for the plan: it has no %s. Delete it", name, planSecretKey)
	default:
		return s, nil
	}
}

func (ps *pass) createPlanSecret(ctx context.Context, ws workspace.Workspace, name types.NamespacedName) error {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // It never fails.

	gvk := workspace.KindOf(ws).GroupVersionKind

	return ps.kube.Create(ctx, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: name.Namespace, Name: name.Name,
			OwnerReferences: []metav1.OwnerReference{{APIVersion: gvk.GroupVersion().String(), Kind: gvk.Kind, Name: ws.GetName(), UID: ws.GetUID()}},
		},
		Type: planSecretType,
		Data: map[string][]byte{planSecretKey: key},
	})
}

// showPlan writes the text of a plan that waits for approval.
func (ps *pass) showPlan(ctx context.Context, s *corev1.Secret, id string, text []byte) error {
	if string(s.Data[planSecretID]) == id {
		return nil
	}

	patch, _ := json.Marshal(map[string]any{"data": map[string][]byte{planSecretID: []byte(id), planSecretText: text}}) // Bytes always can be.

	return errors.Wrapf(ps.kube.Patch(ctx, s, client.RawPatch(types.MergePatchType, patch)), "cannot write the plan to Secret %s", client.ObjectKeyFromObject(s))
}

// hideOldPlan removes the text of a plan that does not wait any more. The key stays. The status of an apply does not have
// the Secret.
func (ps *pass) hideOldPlan(ctx context.Context, ws workspace.Workspace, old *commonv1beta1.PlanSummary, seen schedule.Observation) {
	switch {
	case old == nil, seen.Plan != nil && seen.Plan.Secret != "":
		return
	case old.Secret == "" && (ps.approves != commonv1beta1.ApprovalAlways || !seen.UpToDate):
		return
	}

	name := ps.planSecretName(ws)
	s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: name.Namespace, Name: name.Name}}
	patch := client.RawPatch(types.MergePatchType, []byte(`{"data":{"`+planSecretID+`":null,"`+planSecretText+`":null}}`))

	if err := ps.kube.Patch(ctx, s, patch); client.IgnoreNotFound(err) != nil {
		ps.logFor(ws).Info("Cannot remove the plan from its Secret", "secret", name, "error", err)
	}
}
