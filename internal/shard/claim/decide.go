// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package claim

import (
	"github.com/crossplane-contrib/provider-terraform/internal/shard/session"
)

// An Action is the action of an instance on a Workspace.
type Action string

// The actions.
const (
	// Ignore the Workspace: this instance does not serve it.
	Ignore Action = "ignore"

	// Proceed: this instance may work on it, if there is something to do.
	Proceed Action = "proceed"

	// Take it, if there is something to do: write a claim, on the condition that the Workspace has not
	// changed since this decision.
	Take Action = "take"

	// Wait for the session that has claimed it.
	Wait Action = "wait"

	// Release it: remove the claim when nothing runs.
	Release Action = "release"
)

// A Situation contains everything that decides the action of an instance on a Workspace.
type Situation struct {
	// Me is the claim of this process. It is the zero value for one without a session, which claims
	// nothing.
	Me Claim

	// Serves says whether the instance is to serve the Workspace, according to the labels that it
	// has last read, or to the range of its UID.
	Serves bool

	// Holds says that this process has taken the Workspace and has not begun to release it since.
	Holds bool

	// Claimed is the last read claim on the Workspace.
	Claimed Claim

	// Claimant is the state of the session that Claimed names, if it is not that of this process.
	Claimant session.State
}

// Decide returns the action of an instance on a Workspace.
func Decide(s Situation) Action {
	mine := s.Claimed.Same(s.Me)

	switch {
	case !s.Serves && s.Holds:
		return Release
	case !s.Serves:
		return Ignore
	case s.Claimed != (Claim{}) && !mine && s.Claimant != session.Dead:
		return Wait
	case s.Me == (Claim{}), s.Holds && mine:
		// Both conditions are necessary. The last read version of the Workspace may be older than
		// its release, and a person may have removed the claim.
		return Proceed
	default:
		return Take
	}
}
