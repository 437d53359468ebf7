// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package claim

import (
	"github.com/crossplane-contrib/provider-terraform/internal/shard/lease"
)

// An Action is the action of an instance on a Workspace.
type Action string

// The actions.
const (
	// Ignore the Workspace: this instance does not serve it.
	Ignore Action = "ignore"

	// Proceed: this instance may work on it, and passes it on to the next reconciler, which decides
	// whether there is something to do now.
	Proceed Action = "proceed"

	// Take it: write a claim, on the condition that the Workspace has not changed since this
	// decision. Then decide again.
	Take Action = "take"

	// Wait for the instance that has claimed it.
	Wait Action = "wait"

	// WaitForUnsharded waits for the unsharded instance, which may work on any
	// Workspace and claims none.
	WaitForUnsharded Action = "wait for the unsharded instance"

	// Release it: remove the claim when nothing runs.
	Release Action = "release"
)

// A Situation contains everything that decides the action of an instance on a Workspace.
type Situation struct {
	// Me is the instance itself. It is the zero value for an instance that claims nothing.
	Me Claim

	// Serves says whether the instance is to serve the Workspace, according to the labels that it
	// has last read, or to the range of its UID.
	Serves bool

	// Holds says that the instance has taken the Workspace and has not begun to release it since.
	Holds bool

	// Claimed is the last read claim on the Workspace.
	Claimed Claim

	// Claimant is the state of the instance that Claimed names.
	Claimant lease.State

	// UnshardedPeer is the state of the unsharded instance, as a shard sees it. It is Dead for the
	// unsharded instance itself.
	UnshardedPeer lease.State
}

// sharded says whether the instance claims the Workspaces that it works on. An unsharded one does
// not.
func (s *Situation) sharded() bool { return s.Me != Claim{} }

// Decide returns the action of an instance on a Workspace.
func Decide(s Situation) Action {
	others := s.Claimed != (Claim{}) && s.Claimed != s.Me

	switch {
	case !s.Serves && s.Holds:
		return Release
	case !s.Serves:
		return Ignore
	case others && s.Claimant != lease.Dead:
		return Wait
	case !s.sharded():
		return Proceed
	case s.Holds && s.Claimed == s.Me:
		// Both conditions are necessary. The last read version of the Workspace may be older than
		// its release, and a person may have removed the claim.
		return Proceed
	case s.UnshardedPeer != lease.Dead:
		return WaitForUnsharded
	default:
		return Take
	}
}
