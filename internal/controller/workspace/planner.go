// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"
	"fmt"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"

	"github.com/crossplane-contrib/provider-terraform/internal/schedule"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

const reasonPlanned event.Reason = "PlannedChanges"

// A planner finds out what exists, and what differs from the module.
type planner struct {
	*pass

	cli      planCLI
	states   *kubernetesStates
	locks    *locker
	guard    *stateGuard
	unsaved  *unsavedState
	approver *approver

	// plan is the one of this pass, or nil without one that may be applied.
	plan *terraform.Plan
}

// A planCLI makes plans.
type planCLI interface {
	Plan(ctx context.Context, lock bool) (*terraform.Plan, error)
	Source() string
	Incomplete() error
	IsModuleEmpty(alone bool) (bool, error)
	CheckUnread(s *terraform.State) error
}

// nothingFollows says whether the management policies forbid what an observation calls for.
func nothingFollows(ws workspace.Workspace, exists bool) bool {
	return !meta.WasDeleted(ws) && !workspace.MayUpdate(ws) && (exists || !workspace.MayCreate(ws))
}

// errNoSlot is the result of Observe for a change that has to wait for an apply slot. After a conflict,
// the managed reconciler requeues the Workspace, and neither records an Event nor writes the status.
var errNoSlot = kerrors.NewConflict(schema.GroupResource{Resource: "workspaces"}, "", errors.New("all apply slots are in use"))

// observeDeleted says whether there may be resources to destroy, or a Terraform workspace to delete. If that is
// not known, the answer is yes: it costs no run, and to destroy nothing is not an error.
func (pl *planner) observeDeleted(ws workspace.Workspace) managed.ExternalObservation {
	r := pl.records.Get(ws)

	// The removal of the finalizer may need another reconcile.
	return managed.ExternalObservation{ResourceExists: !r.Observed() || !r.Observation.Deleted}
}

// observe plans, unless the last observation holds or the Workspace is being deleted, and reports the result.
func (pl *planner) observe(ctx context.Context, ws workspace.Workspace) (managed.ExternalObservation, error) {
	if meta.WasDeleted(ws) {
		return pl.observeDeleted(ws), nil
	}

	if r := pl.records.Get(ws); r.Observed() && pl.holds(ws, r) {
		return pl.report(ctx, ws, r.Observation)
	}

	suspect, before := pl.locks.mayBeLocked(ws), pl.records.Get(ws).Observation
	pl.records.ForgetObservation(ws)

	o, err := pl.planned(ctx, ws, suspect)
	if err == nil {
		err = pl.awaitApproval(ctx, ws, &o, before)
	}

	if err != nil {
		return managed.ExternalObservation{}, err
	}

	pl.records.Observe(ws, o, pl.secrets)

	if o.Awaiting != nil {
		return pl.report(ctx, ws, o)
	}

	// Expected changes already hold an apply slot. Unexpected drift waits for one without blocking a
	// worker. The status is not written then, so that each Event would be repeated after the next plan.
	if !o.UpToDate && !nothingFollows(ws, o.Exists) && !pl.slots.Acquire(schedule.RequestFor(ws)) {
		return managed.ExternalObservation{}, errNoSlot
	}

	pl.announcePlan(ws, o)

	return pl.report(ctx, ws, o)
}

// announcePlan records an Event about changes that the status does not have yet.
func (pl *planner) announcePlan(ws workspace.Workspace, o schedule.Observation) {
	// A creation follows at once. Its condition and its Event have the same list.
	creates := !o.Exists && !nothingFollows(ws, o.Exists)
	if o.Plan == nil || !isNews(ws, o.Plan) || creates {
		return
	}

	text := "Plan: " + describe(o.Plan)
	if o.Exists && !workspace.MayUpdate(ws) {
		text += notApplied
	}

	pl.recorder.Event(ws, event.Normal(reasonPlanned, text))
}

// awaitApproval records in the observation whether its plan waits for approval. before is the last observation.
func (pl *planner) awaitApproval(ctx context.Context, ws workspace.Workspace, o *schedule.Observation, before schedule.Observation) error {
	// Without Create, an update of nothing fails whatever is approved.
	if nothingFollows(ws, o.Exists) || !o.Exists && !workspace.MayCreate(ws) {
		return nil
	}

	a, err := pl.approver.approval(ctx, ws, pl.plan, before)
	if err != nil {
		return err
	}

	if o.Awaiting = a.waits; a.id != "" {
		o.Plan.ID, o.Plan.Secret, o.Plan.Destroyed = a.id, a.secret, pl.plan.Deletions.First
	}

	if a.waits != nil {
		pl.announceWait(ws, a)

		pl.plan = nil
	}

	return nil
}

func (pl *planner) holds(ws workspace.Workspace, r schedule.Record) bool {
	return pl.policy.Stale(pl.policy.Facts(ws), r, pl.now()) == "" && pl.cli.Incomplete() == nil && (workspace.Owns(ws) || workspace.OnlyObserves(ws))
}

// planned observes the infrastructure with a plan. suspect: see mayBeLocked.
func (pl *planner) planned(ctx context.Context, ws workspace.Workspace, suspect bool) (schedule.Observation, error) {
	if err := pl.unsaved.saveOrUseState(ctx, ws); err != nil {
		return schedule.Observation{}, err
	}

	p, locked, err := pl.makePlan(ctx, ws, suspect)

	// Nothing else removes these states: a Workspace that was never observed, or may not be
	// deleted from, is deleted without a run. Each poll would make them again.
	if (err != nil && workspace.IsStateless(ws)) || (nothingFollows(ws, false) && (err != nil || p.Prior.Empty())) {
		pl.states.removeEmptyStates(ctx, ws)
	}

	if err != nil {
		return schedule.Observation{}, pl.guard.withLostState(ws, err)
	}

	state := p.Prior

	if err := pl.unsaved.mayShrink(ws, p); err != nil {
		return schedule.Observation{}, err
	}

	if mayHideLoss(ws, p, state) {
		if err := pl.guard.lostState(ws, state); err != nil {
			return schedule.Observation{}, err
		}
	}

	if !workspace.OnlyObserves(ws) {
		if err := pl.guard.ownState(ctx, ws, state, p.Changes); err != nil {
			return schedule.Observation{}, err
		}
	}

	if err := pl.keepsModule(ws, p); err != nil {
		return schedule.Observation{}, err
	}

	p.Warnings = p.Warnings.WithPlan(ignoredInterval(ws))
	pl.plan = p

	return schedule.Observation{
		Source: pl.cli.Source(),
		// A module with nothing to create is complete without a state. Otherwise it would be
		// created over and over again.
		Exists:   !state.Empty() || !p.Changes,
		UpToDate: !p.Changes,
		Locked:   locked,
		Plan:     summarize(p),
		Outputs:  state.Outputs,
		State:    new(summarizeState(state)),
		Warnings: p.Warnings.WithPlan(warnOfDeposed(state)).Texts(),
	}, nil
}

// ignoredInterval warns of a poll interval that is none, such as "1d": the Workspace is polled as if it had no annotation.
func ignoredInterval(ws workspace.Workspace) terraform.Warnings {
	value := ws.GetAnnotations()[meta.AnnotationKeyPollInterval]
	if _, ok := meta.GetPollInterval(ws); ok || value == "" {
		return terraform.Warnings{}
	}

	return terraform.Warnings{First: []terraform.Diagnostic{{
		File: "annotation " + meta.AnnotationKeyPollInterval, Summary: "No effect", Detail: fmt.Sprintf("%q is no positive duration such as 90m or 24h", value),
	}}}
}

// warnOfDeposed warns of objects that a plan names like the resources that have replaced them, and that each retry may add to.
func warnOfDeposed(s *terraform.State) terraform.Warnings {
	if s.Deposed == 0 {
		return terraform.Warnings{}
	}

	return terraform.Warnings{First: []terraform.Diagnostic{{
		Summary: "Replaced objects still exist",
		Detail: fmt.Sprintf("earlier applies have failed before they destroyed %d that they replaced. The plan destroys them under the addresses of their resources. If each try leaves one more, pause the Workspace until the cause is mended",
			s.Deposed),
	}}}
}

// mayHideLoss says whether a state has to be compared with the state that the status records. A
// plan without changes is harmless, even if it was made from the wrong state. But if the status
// showed a state without resources, without a lineage, or with another one than that of the Workspace, or an old one with
// fewer resources, it would hide the loss of the earlier state. The CLI plans with the resources of the old state and
// without its lineage, if the state is removed between its two reads (refreshState in OpenTofu's package
// states/remote).
func mayHideLoss(ws workspace.Workspace, p *terraform.Plan, s *terraform.State) bool {
	own, had, found := ws.GetOwnership().Lineage, workspace.Remembered(ws), summarizeState(s)
	lacks := found.Serial <= had.Serial && found.Resources < had.Resources

	return p.Changes || s.Empty() || s.Lineage == "" || own != "" && s.Lineage != own || lacks
}

// makePlan returns a plan. locked says that a lock with a named holder prevented one that takes it.
func (pl *planner) makePlan(ctx context.Context, ws workspace.Workspace, suspect bool) (p *terraform.Plan, locked bool, err error) {
	// After an instance that died, a plan that takes the lock detects a lock that was left.
	// Otherwise that lock would stay until there is something to apply.
	if suspect {
		err = pl.locks.withLock(ctx, ws, func() (err error) {
			p, err = pl.cli.Plan(ctx, true)

			return err
		})
		if !terraform.IsLocked(err) {
			return p, false, err
		}

		// Only such a lock is tried again. Without a holder it is never removed, and may mean that the
		// provider has no right to lock.
		_, locked = terraform.LockOf(err)
	}

	// If another process works with the state, a plan without a lock does not disturb it.
	err = pl.locks.retryAfterUnlock(ctx, ws, true, func() (err error) {
		p, err = pl.cli.Plan(ctx, false)

		return err
	})

	return p, locked, err
}
