// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"fmt"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	"github.com/crossplane-contrib/provider-terraform/internal/schedule"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// lostState returns an error if the state that was found is not the one that the Workspace had,
// and no person has accepted that. To continue would create everything in it a second time, or
// change resources of another owner.
func (g *stateGuard) lostState(ws workspace.Workspace, found *terraform.State) error {
	// Observing another state does no harm.
	if workspace.OnlyObserves(ws) {
		return nil
	}

	place, err := g.cli.StatePlace()
	if err != nil {
		return err
	}

	f := workspace.Found{StateSummary: summarizeState(found), Empty: found.Empty()}
	where := ""

	if place.OnDisk {
		here, err := g.beganHere(ws)
		if err != nil {
			return err
		}

		f.OtherDisk = !here
		where = " The module has no backend now, or a local one. If it had another one before, restore that, and the state is there. Otherwise its state was on the disk of the instance that served the Workspace before, in the workspace_dir of the backend, or below the spec.forProvider.entrypoint of that time."
	}

	if host := g.otherDisk(ws); !place.OnDisk && host != "" {
		where = fmt.Sprintf(" If the last run could not save it, it is on the disk of %s: let that instance serve the Workspace again.", host)
	}

	if place.HTTP && found.Lineage == "" {
		where += " The server has answered that there is none. Some answer so to credentials that may not read it: check them first."
	}

	reason, loss := workspace.Lost(ws, f)
	if reason == "" {
		return nil
	}

	then := "what it lacks is created once more"

	switch {
	case meta.WasDeleted(ws) && !f.Empty && !workspace.Knows(ws, f.Lineage): // See mayDestroy.
		then = "nothing is destroyed"
	case meta.WasDeleted(ws):
		then = "only what it has is destroyed"
	}

	err = errors.Errorf("the state of Terraform workspace %q %s.%s Nothing was changed. Bring the state back: with the earlier backend and annotation %s, or from a backup. Or accept what is there now, so that %s, with the annotation %s=%s",
		meta.GetExternalName(ws), reason, where, meta.AnnotationKeyExternalName, then, workspace.AcceptLostStateAnnotationKey, loss)
	if meta.WasDeleted(ws) {
		err = errors.Errorf("%w. To delete the Workspace and leave its infrastructure behind, %s", err, howToOrphan(ws))
	}

	return err
}

// otherDisk returns the instance that made the last run of the Workspace if that was on another disk, or "".
func (g *stateGuard) otherDisk(ws workspace.Workspace) string {
	p := g.predecessors(ws)
	if len(p.Hosts) == 0 || p.Hosts[0] == g.host() {
		return ""
	}

	// The record is on the disk: it is of that instance on the same volume, or of this one since it has the Workspace.
	if n, err := g.cli.RunRecord(); err != nil || n != nil && (n.Host == p.Hosts[0] || n.Host == g.host() && n.Taken.Equal(p.Until)) {
		return ""
	}

	return p.Hosts[0]
}

// withLostState returns the loss of the state if a plan has failed with err because there is no state, and
// none can be made.
func (g *stateGuard) withLostState(ws workspace.Workspace, err error) error {
	if !terraform.LacksState(err) {
		return err
	}

	if lost := g.lostState(ws, &terraform.State{}); lost != nil {
		return errors.Errorf("%w: %w", lost, err)
	}

	return err
}

// onlyObservesOther says whether a Workspace that only observes now sees another state than the one that
// it had. The status keeps the one that it had. Otherwise its loss would be forgotten, and everything in
// it would be created a second time as soon as the Workspace may create again.
func onlyObservesOther(ws workspace.Workspace, seen schedule.Observation) bool {
	if !workspace.OnlyObserves(ws) || !workspace.HasBegun(ws) && ws.GetOwnership().Lineage == "" {
		return false
	}

	reason, _ := workspace.Lost(ws, workspace.Found{
		StateSummary: *seen.State,
		Empty:        seen.State.Resources == 0 && len(seen.Outputs) == 0,
	})

	return reason != ""
}

// beganHere says whether the directory of the Workspace is the one in which the creation of
// its infrastructure began.
func (g *stateGuard) beganHere(ws workspace.Workspace) (bool, error) {
	n, err := g.cli.RunRecord()
	if err != nil || n == nil {
		return false, err
	}

	started := ws.GetOwnership().CreationStarted

	return n.CreationStarted.Equal(started) || (n.Replaced != nil && n.Replaced.Equal(started)), nil
}
