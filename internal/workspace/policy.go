// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"slices"
	"strings"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
)

// OnlyObserves says whether a Workspace may only observe a state, so that sharing the state is
// harmless. LateInitialize does not count, because a Workspace has nothing to initialize late.
func OnlyObserves(mg resource.Managed) bool {
	p := mg.GetManagementPolicies()

	return len(p) > 0 && !slices.ContainsFunc(p, func(a xpv2.ManagementAction) bool {
		return a != xpv2.ManagementActionObserve && a != xpv2.ManagementActionLateInitialize
	})
}

// MayCreate says whether the management policies of a Workspace allow to create.
func MayCreate(mg resource.Managed) bool { return allows(mg, xpv2.ManagementActionCreate) }

// MayUpdate says whether the management policies of a Workspace allow updates.
func MayUpdate(mg resource.Managed) bool { return allows(mg, xpv2.ManagementActionUpdate) }

// MayDelete says whether the policies of a Workspace allow that its deletion destroys something.
// Management policies with this action take precedence over the deletion policy, which only the
// cluster-scoped kind has.
func MayDelete(mg resource.Managed) bool {
	if slices.Contains(mg.GetManagementPolicies(), xpv2.ManagementActionDelete) {
		return true
	}

	o, ok := mg.(resource.Orphanable)

	return allows(mg, xpv2.ManagementActionDelete) && (!ok || o.GetDeletionPolicy() != xpv2.DeletionOrphan)
}

// PausedPrefix begins the text of the managed reconciler, and of WhyPaused, about a Workspace that is paused.
const PausedPrefix = "Reconciliation is paused"

// WhyPaused says what pauses a Workspace, for its condition Synced.
func WhyPaused(mg resource.Managed) string {
	var why []string

	if meta.IsPaused(mg) {
		why = append(why, "the annotation "+meta.AnnotationKeyReconciliationPaused+" is true")
	}

	if len(mg.GetManagementPolicies()) == 0 {
		why = append(why, "spec.managementPolicies is []")
	}

	return PausedPrefix + ", also a deletion: " + strings.Join(why, " and ")
}

func allows(mg resource.Managed, a xpv2.ManagementAction) bool {
	p := mg.GetManagementPolicies()

	return len(p) == 0 || slices.Contains(p, xpv2.ManagementActionAll) || slices.Contains(p, a)
}
