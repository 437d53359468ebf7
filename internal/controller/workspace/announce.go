// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/runner"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// This file writes to the status that an apply begins, and takes that back if it has done nothing.

// announce records in the status that creation begins. Nothing may be created before: another
// instance that found an incomplete creation could not know which Workspace owns it. The managed
// reconciler writes the status only after Create, which may take long.
func (a *applier) announce(ctx context.Context, ws workspace.Workspace) error {
	here, err := a.guard.beganHere(ws)
	if err != nil {
		return err
	}

	// The status keeps the start of an earlier creation if it cannot be written.
	var replaced *metav1.Time
	if here {
		replaced = ws.GetOwnership().CreationStarted
	}

	prior := a.plan.Prior
	workspace.BeginCreation(ws, summarizeState(prior), a.now())

	// The run record is written first: a disk without it is not the one on which creation began.
	if err := a.unsaved.writeRunRecord(ws, prior, replaced); err != nil {
		return err
	}

	s := summarize(a.plan)
	if s != nil {
		o := ws.GetObservation()
		o.Plan = s
		ws.SetObservation(o)
	}

	creating(ws, s)

	if err := a.kube.Status().Update(ctx, ws); err != nil {
		return errors.Wrap(err, "cannot record that creation begins")
	}

	if a.cli.WhyNewPlan() == "" {
		return nil
	}

	// An apply that makes its own plan does not notice that the state has changed.
	if prior.Lineage == "" {
		return a.checkNoState(ctx)
	}

	_, err = a.guard.contest(ctx, ws, prior.Lineage)

	return err
}

// announceUpdate shows an apply that was approved, and one that no change of the specification has caused. If this process died
// in the latter, the Workspace would seem to be settled: the next process would remove the lock, and repeat the apply, only at
// the next poll. Nothing depends on this write otherwise, so that a refused one prevents no correction.
func (a *applier) announceUpdate(ctx context.Context, ws workspace.Workspace) {
	ready, synced, plan := ws.GetCondition(xpv2.TypeReady), ws.GetCondition(xpv2.TypeSynced), ws.GetObservation().Plan
	settled := ready.Status == corev1.ConditionTrue && ready.ObservedGeneration == ws.GetGeneration() && synced.Status == corev1.ConditionTrue

	if settled || plan != nil && plan.ID != "" {
		applying(ws, plan)

		_ = a.kube.Status().Update(ctx, ws)
	}
}

// checkNoState returns an error if another process has made a state since the plan.
func (a *applier) checkNoState(ctx context.Context) error {
	s, err := a.state.State(ctx)
	if err == nil && s.Lineage != "" {
		err = runner.ErrStateTaken
	}

	return err
}

// withdrawCreation restores the ownership after an apply that failed before it did anything. If the
// state was locked or has changed, another process is about to write to it, and what that process
// creates does not belong to this Workspace.
func (a *applier) withdrawCreation(ctx context.Context, ws workspace.Workspace, before commonv1beta1.Ownership, err error) {
	if !terraform.IsLocked(err) && !errors.Is(err, runner.ErrStateTaken) && !errors.As(err, &refusedError{}) && !a.createdNothing() {
		return
	}

	a.restoreOwnership(ctx, ws, before)
}

func (a *applier) restoreOwnership(ctx context.Context, ws workspace.Workspace, before commonv1beta1.Ownership) {
	workspace.Restore(ws, before)

	// If this write fails, the next reconcile finds out which Workspace owns the state.
	_ = a.kube.Status().Update(ctx, ws)
}

// createdNothing says whether a failed apply is known to have created nothing. It says so only where
// the state is on a disk: without that disk, a creation that has begun could not continue unless a
// person accepts it.
func (a *applier) createdNothing() bool {
	place, err := a.guard.cli.StatePlace()

	return err == nil && place.OnDisk && a.left != nil && a.left.Empty()
}
