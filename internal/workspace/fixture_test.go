// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	namespacedv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/namespaced/v1beta1"
)

const (
	legacyChecksum = "0123456789abcdef0123456789abcdef"
	checksum       = legacyChecksum + legacyChecksum
)

// epoch is the creation time of all Workspaces of these tests.
func epoch() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }

type option func(ws *namespacedv1beta1.Workspace)

// newWorkspace returns a Workspace whose Terraform workspace is called "name".
func newWorkspace(uid string, opts ...option) *namespacedv1beta1.Workspace {
	ws := &namespacedv1beta1.Workspace{}
	ws.SetName(uid)
	ws.SetUID(types.UID(uid))
	ws.SetCreationTimestamp(metav1.NewTime(epoch()))
	meta.SetExternalName(ws, "name")

	for _, o := range opts {
		o(ws)
	}

	return ws
}

func named(name string) option {
	return func(ws *namespacedv1beta1.Workspace) { meta.SetExternalName(ws, name) }
}

func older() option {
	return func(ws *namespacedv1beta1.Workspace) {
		ws.SetCreationTimestamp(metav1.NewTime(epoch().Add(-time.Hour)))
	}
}

func deleted() option {
	return func(ws *namespacedv1beta1.Workspace) {
		now := metav1.NewTime(epoch())
		ws.SetDeletionTimestamp(&now)
	}
}

func observes() option {
	return func(ws *namespacedv1beta1.Workspace) {
		ws.SetManagementPolicies(xpv2.ManagementPolicies{xpv2.ManagementActionObserve})
	}
}

func reconciled(checksum string) option {
	return func(ws *namespacedv1beta1.Workspace) {
		o := ws.GetObservation()
		o.Checksum = checksum
		ws.SetObservation(o)
	}
}

// seen records a state with one resource in the status of a Workspace.
func seen(lineage string) option {
	return remembers(commonv1beta1.StateSummary{Lineage: lineage, Serial: 3, Resources: 1})
}

func remembers(s commonv1beta1.StateSummary) option {
	return func(ws *namespacedv1beta1.Workspace) {
		o := ws.GetObservation()
		o.State = &s
		ws.SetObservation(o)
	}
}

func owns(lineage string) option {
	return func(ws *namespacedv1beta1.Workspace) { Own(ws, lineage) }
}

// began records that a creation began, the supplied time after the epoch.
func began(after time.Duration) option {
	return func(ws *namespacedv1beta1.Workspace) {
		own := ws.GetOwnership()
		own.CreationStarted = seconds(epoch().Add(after))
		ws.SetOwnership(own)
	}
}

// tookOver records that the Workspace took over what is in its state.
func tookOver() option {
	return func(ws *namespacedv1beta1.Workspace) {
		own := ws.GetOwnership()
		own.TakenOverAt = seconds(epoch())
		ws.SetOwnership(own)
	}
}

func succeeded() option {
	return func(ws *namespacedv1beta1.Workspace) { Succeed(ws, epoch()) }
}
