// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"

	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
)

func TestCauseOf(t *testing.T) {
	t.Parallel()

	const (
		observe, create, update, del = xpv2.ManagementActionObserve, xpv2.ManagementActionCreate, xpv2.ManagementActionUpdate, xpv2.ManagementActionDelete
		late, all                    = xpv2.ManagementActionLateInitialize, xpv2.ManagementActionAll
	)

	invalid := func(enabled bool, p xpv2.ManagementPolicies) string {
		err := managed.NewManagementPoliciesResolver(enabled, p).Validate()
		if err == nil {
			t.Fatalf("%v is supported", p)
		}

		return err.Error()
	}

	cases := map[string]struct {
		reason   string
		policies xpv2.ManagementPolicies
		enabled  bool
		paused   bool
		text     string
		want     string
	}{
		"Step":    {reason: "The step is not a part of the cause.", text: "connect failed: no Secret", want: "no Secret"},
		"Another": {reason: "Only a step in front is left out.", text: "delete failed: create failed: x", want: "create failed: x"},
		"OwnerRefused": {
			reason: "The right that is missing is named.", text: "connect failed: cannot create object: secrets is forbidden: cannot set blockOwnerDeletion in this case",
			want: "the provider needs the right to update workspaces/finalizers: cannot create object: secrets is forbidden: cannot set blockOwnerDeletion in this case",
		},
		"OwnerOfSecretRefused": {
			reason: "The Secret is named, too.", text: "cannot create or update connection secret: cannot set blockOwnerDeletion in this case",
			want: "cannot create or update connection secret ns/out: the provider needs the right to update workspaces/finalizers: cannot set blockOwnerDeletion in this case",
		},
		"OwnerRefusedToModule": {
			reason: "The module has made it.", text: "update failed: cannot apply: cannot set blockOwnerDeletion in this case",
			want: "cannot apply: cannot set blockOwnerDeletion in this case",
		},
		"SecretOfAnother": {
			reason: "The Secret and the field are named.", text: `cannot create or update connection secret: existing secret is not controlled by UID "1-2"`,
			want: "cannot create or update connection secret ns/out: it exists and belongs to another object. If that is gone, such as an earlier Workspace of this name, the Secret follows it. Otherwise: choose another name in spec.writeConnectionSecretToRef, each Workspace needs a Secret of its own",
		},
		"SecretOfPeople": {
			reason: "A Secret that people have made stays.", text: `cannot create or update connection secret: refusing to modify uncontrolled secret of type "Opaque"`,
			want: `cannot create or update connection secret ns/out: it exists with the type "Opaque", and the provider has not made it: choose another name in spec.writeConnectionSecretToRef`,
		},
		"Secret": {
			reason: "Another cause stays.", text: `cannot create or update connection secret: cannot create object: secrets "out" is forbidden: exceeded quota`,
			want: `cannot create or update connection secret ns/out: cannot create object: secrets "out" is forbidden: exceeded quota`,
		},
		"SecretWithoutNamespace": {
			reason: "The field of the namespace is named.", text: `cannot create or update connection secret: cannot create object: namespaces "ns" not found`,
			want: "cannot create or update connection secret ns/out: its namespace does not exist: create it, or correct spec.writeConnectionSecretToRef.namespace",
		},
		"SecretWhoseNamespaceGoes": {
			reason: "So it is when the namespace goes.", text: `cannot create or update connection secret: cannot create object: secrets "out" is forbidden: unable to create new content in namespace ns because it is being terminated`,
			want: "cannot create or update connection secret ns/out: its namespace is being deleted: wait until it is gone and create it again, or correct spec.writeConnectionSecretToRef.namespace",
		},
		"Nothing": {
			reason: "The policy, and what to do about it, are named.", policies: xpv2.ManagementPolicies{observe}, text: "observe failed: external resource does not exist",
			want: "external resource does not exist: the state has no resources, and spec.managementPolicies is [Observe]. To create them, add Create. To observe others, correct the backend, or the annotation crossplane.io/external-name",
		},
		"PausedByPolicies": {
			reason: "It is not left open which of the two it is.", policies: xpv2.ManagementPolicies{}, text: "Reconciliation is paused either through the `spec.managementPolicies` or the pause annotation",
			want: "Reconciliation is paused, also a deletion: spec.managementPolicies is []",
		},
		"PausedByAnnotation": {
			reason: "An annotation has a name.", policies: xpv2.ManagementPolicies{all}, paused: true, text: "Reconciliation is paused either through the `spec.managementPolicies` or the pause annotation",
			want: "Reconciliation is paused, also a deletion: the annotation crossplane.io/paused is true",
		},
		"PausedTwice": {
			reason: "Both have to end.", policies: xpv2.ManagementPolicies{}, paused: true, text: "Reconciliation is paused either through the `spec.managementPolicies` or the pause annotation",
			want: "Reconciliation is paused, also a deletion: the annotation crossplane.io/paused is true and spec.managementPolicies is []",
		},
		"None": {reason: "Other texts stay.", text: "cannot add finalizer", want: "cannot add finalizer"},
		"CreateOnly": {
			reason: "The nearest set is named.", enabled: true, policies: xpv2.ManagementPolicies{create},
			want: "spec.managementPolicies is [Create], which is not supported. Similar and supported: [Observe, Create]",
		},
		"NoObserve": {
			reason: "All nearest sets are named.", enabled: true, policies: xpv2.ManagementPolicies{update, del},
			want: "spec.managementPolicies is [Update, Delete], which is not supported. Similar and supported: " +
				"[Observe, Update], [Observe, Delete], [Observe, Create, Update, Delete]",
		},
		"AllAndMore": {
			reason: "All actions need no other.", enabled: true, policies: xpv2.ManagementPolicies{all, late},
			want: `spec.managementPolicies is ["*", LateInitialize], which is not supported. Similar and supported: ["*"]`,
		},
		"Off": {
			reason: "A flag of the provider forbids them.", policies: xpv2.ManagementPolicies{observe},
			want: `spec.managementPolicies is [Observe]: this provider runs with --no-enable-management-policies, and supports only ["*"]`,
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if tc.text == "" {
				tc.text = invalid(tc.enabled, tc.policies)
			}

			ws := with()
			if tc.paused {
				meta.AddAnnotations(ws, map[string]string{meta.AnnotationKeyReconciliationPaused: "true"})
			}

			ws.Spec.ManagementPolicies = tc.policies
			ws.Spec.WriteConnectionSecretToReference = &xpv2.SecretReference{Namespace: "ns", Name: "out"}

			if diff := cmp.Diff(tc.want, causeOf(ws, tc.text)); diff != "" {
				t.Errorf("%s\ncauseOf(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestPaused ensures that the condition of a Workspace that is paused says why. Its Event is gone after an hour.
func TestPaused(t *testing.T) {
	t.Parallel()

	r := newAttempt(t, with())
	r.pause(t)

	const want = "Reconciliation is paused, also a deletion: the annotation crossplane.io/paused is true"

	if got := r.ws.GetCondition(xpv2.TypeSynced); got.Reason != xpv2.ReasonReconcilePaused || !strings.HasPrefix(got.Message, want) {
		t.Errorf("Synced: want %s with message %q, got %+v", xpv2.ReasonReconcilePaused, want, got)
	}
}

// TestExplainFailure writes a failure as the managed reconciler does, again and again.
func TestExplainFailure(t *testing.T) {
	t.Parallel()

	r := newAttempt(t, with())
	since := metav1.NewTime(time.Now().Add(-time.Hour).Truncate(time.Second))

	var written []clusterv1beta1.WorkspaceStatus

	for range 2 {
		failure := xpv2.ReconcileError(errors.New("observe failed: main.tf:1: broken"))
		if len(written) == 0 {
			failure.LastTransitionTime = since
		}

		r.ws.SetConditions(failure)

		if err := (managedClient{Client: r.kube, cache: r.kube, connector: r.connector}).Status().Update(t.Context(), r.ws); err != nil {
			t.Fatal(err)
		}

		r.ws = r.recorded(t)
		written = append(written, r.ws.Status)
	}

	synced, ready := r.ws.GetCondition(xpv2.TypeSynced), r.ws.GetCondition(xpv2.TypeReady)
	if synced.Message != "main.tf:1: broken" || !synced.LastTransitionTime.Equal(&since) {
		t.Errorf("Synced: want the cause without a step, since %v, got %+v", since, synced)
	}

	if ready.Status != corev1.ConditionFalse || ready.Reason != xpv2.ReasonUnavailable || ready.Message != "Not observed yet: see Synced" {
		t.Errorf("Ready: want False with a reason, got %+v", ready)
	}

	// The client of the package statusclient does not write the same status again.
	if diff := cmp.Diff(written[0], written[1]); diff != "" {
		t.Errorf("status of the same failure: -first, +second:\n%s", diff)
	}
}
