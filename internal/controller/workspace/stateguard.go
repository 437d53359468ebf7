// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/runner"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// Two Workspaces would share one state if they have the same name in two namespaces and the same
// backend. The rules about that are in the package internal/workspace.

// A stateGuard makes sure that a state belongs to the Workspace, and is the one that the Workspace had, before
// anything is done to it.
type stateGuard struct {
	*pass

	cli    guardCLI
	states *kubernetesStates
}

// A guardCLI knows the state, where it is, and the record of the last run.
type guardCLI interface {
	stateReader
	recordReader

	StatePlace() (runner.StatePlace, error)
}

// A foreignStateError is the refusal to work on a state because it belongs to another Workspace.
type foreignStateError struct {
	// name of the Terraform workspace, and owner of its state.
	name, owner string

	// certain says that the status of the owner names the state, and goes that the owner is being deleted, and the
	// Workspace is not.
	certain, goes bool

	// copied says that the owner has a state of another name, with the same lineage.
	copied bool

	// secret with the state, if the owner has the same one by another name and another suffix.
	secret string
}

func (e foreignStateError) Error() string {
	belongs, uses, remedy := "belongs to", "uses the same backend or a copy of the state", ""
	if !e.certain {
		belongs, uses, remedy = "may belong to", "may use the same backend", "this Workspace goes on when that one was planned again, or has created its infrastructure, with another state. If both use the same: "
	}

	// What the owner leaves there is of another module, so that it is no remedy to wait for its end.
	if e.secret != "" {
		return fmt.Sprintf("the state of Terraform workspace %q is the Secret %s, which %s %s: the external names and secret_suffixes of the two make the same name. Do not delete this Secret. Set another annotation %s, or use another secret_suffix",
			e.name, e.secret, belongs, e.owner, meta.AnnotationKeyExternalName)
	}

	if e.goes {
		return fmt.Sprintf("the state of Terraform workspace %q %s %s, which %s and is being deleted: this Workspace goes on when that one is gone", e.name, belongs, e.owner, uses)
	}

	const splitOff = "was split off, and has no resource in common with the other one (a deletion would destroy it), set \"lineage\" in it to a new UUID, raise its \"serial\", and put it back"

	if e.copied {
		remedy += "if this copy was left over, delete it; if it " + splitOff + "; or "
	}

	message := fmt.Sprintf("the state of Terraform workspace %q %s %s, which %s: %sset another annotation %s, or use another backend, which creates the infrastructure once more",
		e.name, belongs, e.owner, uses, remedy, meta.AnnotationKeyExternalName)
	if e.certain {
		message += ". To take over what exists, delete that Workspace so that its infrastructure stays (policies without Delete)"
	}

	// In another place, a copy has the same name.
	if e.certain && !e.copied {
		message += ". If it is a copy that " + splitOff
	}

	return message
}

// ownState makes sure that the state that was found belongs to the Workspace, before anything is
// done to the state. changes says that something is to be done.
func (g *stateGuard) ownState(ctx context.Context, ws workspace.Workspace, found *terraform.State, changes bool) error {
	if found.Lineage == "" && !found.Empty() {
		return errors.Errorf("the state of Terraform workspace %q has no lineage, without which its owner cannot be known. Nothing was changed. "+
			"Set \"lineage\" in the state to a new UUID, raise its \"serial\", and put it back", workspace.TerraformWorkspace(ws))
	}

	// Two Workspaces may apply to the same empty state. The lock on the state, or the plan, which
	// the faster apply makes stale, stops the slower one.
	if found.Lineage == ws.GetOwnership().Lineage || found.Lineage == "" || isBlank(found) {
		return nil
	}

	mine, err := g.createdHere(ws, found)

	switch {
	case err != nil:
		return err
	case mine:
		workspace.Own(ws, found.Lineage)

		// Without changes the owner is recorded with the rest of the status.
		if !changes {
			return nil
		}

		return g.recordOwner(ctx, ws, "whose the state is")
	case !changes && (found.Empty() || workspace.OwnershipOfFound(ws, found.Lineage) >= workspace.OwnershipRemembered):
		return nil
	default:
		return g.takeOver(ctx, ws, found)
	}
}

// createdHere says whether the Workspace has certainly created what is in the state that was found: it began to
// create its infrastructure in its own directory, and the state is there. A state that has come there otherwise
// may have another owner.
func (g *stateGuard) createdHere(ws workspace.Workspace, found *terraform.State) (bool, error) {
	place, err := g.cli.StatePlace()
	if err != nil || !place.InWorkdir || !workspace.HasBegun(ws) || !workspace.Knows(ws, found.Lineage) {
		return false, err
	}

	return g.beganHere(ws)
}

// takeOver records the Workspace as the owner of the state that was found, unless the state belongs to
// another one. See workspace.Contest for the reason of each step.
func (g *stateGuard) takeOver(ctx context.Context, ws workspace.Workspace, found *terraform.State) error {
	first, err := g.contest(ctx, ws, found.Lineage)
	// An undecided one does not give up: the other one would take it for its own.
	if other := first.Undecided(); other != "" {
		return errors.Errorf("what is in the state of Terraform workspace %q may have been created by %s, too: both use the same backend and were interrupted. Nothing was changed. Delete the one that is not to have it: what is in the state stays",
			workspace.TerraformWorkspace(ws), other)
	}

	if err != nil {
		return g.giveUp(ctx, ws, found.Lineage, err)
	}

	if err := g.unchangedSince(ctx, ws, found); err != nil {
		return err
	}

	// The managed reconciler adds the finalizer only after it has published the outputs, which may fail. After a conflict, the
	// protector adds it.
	if !meta.WasDeleted(ws) {
		if err := resource.NewAPIFinalizer(g.kube, managed.FinalizerName).AddFinalizer(ctx, ws); err != nil && !kerrors.IsConflict(err) {
			return errors.Wrap(err, "cannot add the finalizer")
		}
	}

	before, seen := ws.GetOwnership(), ws.GetObservation()
	workspace.Begin(ws, summarizeState(found), g.now())

	if err := g.recordOwner(ctx, ws, "that the state is taken over"); err != nil {
		return err
	}

	second, err := g.contest(ctx, ws, found.Lineage)
	if foreign := (foreignStateError{}); errors.As(err, &foreign) {
		workspace.Restore(ws, before)
		ws.SetObservation(seen)

		return errors.Join(err, g.recordOwner(ctx, ws, "that the state is not taken over"))
	}

	if err != nil {
		return err
	}

	if other := second.Begun; other != "" {
		return errors.Errorf("the state of Terraform workspace %q is about to be taken over by %s, too: wait until that one was reconciled. If it is refused, too, delete it: that destroys nothing", workspace.TerraformWorkspace(ws), other)
	}

	workspace.Own(ws, found.Lineage)

	if ws.GetOwnership().TakenOverAt == nil {
		return g.recordOwner(ctx, ws, "whose the state is")
	}

	message := describeTakenOver(ws, found)
	transition(ws, workspace.TypeStateTakenOver, corev1.ConditionTrue, reasonResourcesFound, message)

	if err := g.recordOwner(ctx, ws, "whose the state is"); err != nil {
		return err
	}

	g.recorder.Event(ws, event.Warning(reasonTookOver, errors.New(message)))

	return nil
}

// unchangedSince returns an error if the state has changed since it was found, unless the Workspace
// has created what is in it. Its owner may have destroyed everything and be gone since.
func (g *stateGuard) unchangedSince(ctx context.Context, ws workspace.Workspace, found *terraform.State) error {
	if ws.GetOwnership().CreationSucceeded != nil {
		return nil
	}

	latest, err := g.cli.State(ctx)
	if err == nil && (latest.Lineage != found.Lineage || latest.Serial != found.Serial) {
		err = errors.Errorf("the state of Terraform workspace %q has changed since it was planned", workspace.TerraformWorkspace(ws))
	}

	return err
}

// giveUp withdraws the record that the Workspace began to create or to take over the state, if err
// says that the state certainly belongs to another Workspace. Such a record keeps others from the
// state. It returns err.
func (g *stateGuard) giveUp(ctx context.Context, ws workspace.Workspace, lineage string, err error) error {
	foreign := foreignStateError{}
	if !errors.As(err, &foreign) || !foreign.certain {
		return err
	}

	// Of a copy, both may have created something.
	if !foreign.copied {
		workspace.Disown(ws)
	}

	if !workspace.GiveUp(ws, lineage) {
		return err
	}

	return errors.Join(err, g.recordOwner(ctx, ws, "that the state is not taken over"))
}

// contest returns the Contest for the state with the supplied lineage, which the Workspace has
// found. It returns a foreignStateError beside it if the state belongs to another Workspace.
func (g *stateGuard) contest(ctx context.Context, ws workspace.Workspace, lineage string) (*workspace.Contest, error) {
	contest := workspace.NewContest(ws, lineage, g.now())
	if err := g.eachWorkspace(ctx, contest.Add); err != nil {
		return contest, errors.Wrap(err, "cannot find out whom the state belongs to")
	}

	if owner, certain := contest.Owner(); owner != "" {
		e := foreignStateError{name: workspace.TerraformWorkspace(ws), owner: owner, certain: certain, goes: contest.OwnerGoes() && !meta.WasDeleted(ws)}
		if other := contest.OwnerName(); other != e.name {
			e.secret = g.states.sharedSecret(ctx, e.name, other)
			e.copied = e.secret == ""
		}

		return contest, e
	}

	return contest, nil
}

// recordOwner writes the status. what is recorded, for the error.
func (g *stateGuard) recordOwner(ctx context.Context, ws workspace.Workspace, what string) error {
	return errors.Wrapf(g.kube.Status().Update(ctx, ws), "cannot record %s", what)
}

func summarizeState(s *terraform.State) commonv1beta1.StateSummary {
	return commonv1beta1.StateSummary{
		Lineage:   s.Lineage,
		Serial:    int64(s.Serial), //nolint:gosec // It never gets near the limit.
		Resources: s.Managed,
	}
}

// isBlank says whether nothing was ever applied to a state.
func isBlank(s *terraform.State) bool {
	return s.Empty() && workspace.IsBlank(summarizeState(s))
}
