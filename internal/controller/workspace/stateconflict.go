// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"
	"fmt"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/listing"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// stateConflicts finds Workspaces that would share one state: the same name in two
// namespaces and the same backend are enough for that.
type stateConflicts struct {
	// live reads the Workspaces of all instances from the API server.
	live client.Reader

	// kube writes the statuses of the Workspaces of this instance.
	kube client.Client

	now func() time.Time
}

// A foreignStateError is the refusal to work on a state because it belongs to another Workspace.
type foreignStateError struct {
	// name of the Terraform workspace, and owner of its state.
	name, owner string

	// certain says that the status of the owner names the state.
	certain bool
}

func (e foreignStateError) Error() string {
	belongs, remedy := "belongs to", ""
	if !e.certain {
		belongs, remedy = "may belong to", "wait until that one was reconciled, "
	}

	return fmt.Sprintf("the state of Terraform workspace %q %s %s, which uses the same backend: %sset another annotation %s, or use another backend",
		e.name, belongs, e.owner, remedy, meta.AnnotationKeyExternalName)
}

// takeOver records the supplied Workspace as the owner of the state that was found, unless the state
// belongs to another one. See workspace.Contest for the reason of each step. isThere returns an
// error unless the state is still the one that was found.
func (c *stateConflicts) takeOver(ctx context.Context, ws workspace.Workspace, found commonv1beta1.StateSummary, isThere func() error) error {
	first, err := c.contest(ctx, ws, found.Lineage)
	// An undecided one does not give up: the other one would take it for its own.
	if other := first.Undecided(); other != "" {
		return errors.Errorf("what is in the state of Terraform workspace %q may have been created by %s, too: both use the same backend and were interrupted. Nothing was changed. Delete the one that is not to have it: what is in the state stays",
			workspace.TerraformWorkspace(ws), other)
	}

	if err != nil {
		return c.giveUp(ctx, ws, found.Lineage, err)
	}

	// The owner may have destroyed everything and be gone since the state was read.
	if err := isThere(); err != nil {
		return err
	}

	before, seen := ws.GetOwnership(), ws.GetObservation()
	workspace.Begin(ws, found, c.now())

	if err := c.write(ctx, ws, "that the state is taken over"); err != nil {
		return err
	}

	contest, err := c.contest(ctx, ws, found.Lineage)
	if foreign := (foreignStateError{}); errors.As(err, &foreign) {
		workspace.Restore(ws, before)
		ws.SetObservation(seen)

		return errors.Join(err, c.write(ctx, ws, "that the state is not taken over"))
	}

	if err != nil {
		return err
	}

	if other := contest.Begun(); other != "" {
		return errors.Errorf("the state of Terraform workspace %q is about to be taken over by %s, too: wait until that one was reconciled", workspace.TerraformWorkspace(ws), other)
	}

	workspace.Own(ws, found.Lineage)

	return c.write(ctx, ws, "whose the state is")
}

// giveUp withdraws the record that the Workspace began to create or to take over the state with the
// supplied lineage, if err says that the state certainly belongs to another Workspace. Such a
// record keeps other Workspaces from the state. It returns err.
func (c *stateConflicts) giveUp(ctx context.Context, ws workspace.Workspace, lineage string, err error) error {
	foreign := foreignStateError{}
	if !errors.As(err, &foreign) || !foreign.certain || !workspace.GiveUp(ws, lineage) {
		return err
	}

	return errors.Join(err, c.write(ctx, ws, "that the state is not taken over"))
}

// contest returns the Contest for the state with the supplied lineage, which the Workspace has
// found. It returns a foreignStateError beside it if the state belongs to another Workspace.
func (c *stateConflicts) contest(ctx context.Context, ws workspace.Workspace, lineage string) (*workspace.Contest, error) {
	contest := workspace.NewContest(ws, lineage, c.now())
	if err := c.each(ctx, contest.Add); err != nil {
		return contest, errors.Wrap(err, "cannot find out whom the state belongs to")
	}

	if owner, certain := contest.Owner(); owner != "" {
		return contest, foreignStateError{name: workspace.TerraformWorkspace(ws), owner: owner, certain: certain}
	}

	return contest, nil
}

// each calls fn with all Workspaces, as the API server has them, and a description of each.
func (c *stateConflicts) each(ctx context.Context, fn func(ws workspace.Workspace, description string)) error {
	for _, kind := range workspace.Kinds() {
		_, err := listing.EachObject(ctx, c.live, kind.GroupVersionKind, kind.List, listing.PageSize, func(o client.Object) error {
			ws, ok := o.(workspace.Workspace)
			if !ok {
				return errors.Errorf("%T is not a Workspace", o)
			}

			fn(ws, fmt.Sprintf("the Workspace %q of %s", strings.TrimPrefix(client.ObjectKeyFromObject(o).String(), "/"), kind.GroupVersionKind.Group))

			return nil
		})
		if err != nil {
			return err
		}
	}

	return nil
}

func (c *stateConflicts) write(ctx context.Context, ws workspace.Workspace, what string) error {
	return errors.Wrapf(c.kube.Status().Update(ctx, ws), "cannot record %s", what)
}
