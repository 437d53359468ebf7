// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"cmp"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
)

// A Contest decides whether a Workspace may take over a state. All other Workspaces must be added
// to it before it is asked.
//
// A Workspace takes over a state in three steps. It checks that no other Workspace precedes it.
// It records in its status that it has begun (Begin). After that write, it checks that no other
// Workspace precedes it or has begun, too. Only then does it record the lineage. Of two
// Workspaces that begin at the same time, at least one sees the other in the last step, so that
// they never record the same lineage.
type Contest struct {
	lineage string
	mine    contestant

	// first is the other Workspace that precedes the rest of them, or nil.
	first *contestant

	// rival describes another Workspace that has begun to create its resources in the state, when the
	// state was empty.
	rival string

	// Begun describes another Workspace that has begun to take over the state and may be about to
	// record it, although the state does not belong to it. It gives up when it is reconciled.
	Begun string
}

type contestant struct {
	ownership StateOwnership
	deleted   bool
	started   time.Time
	created   metav1.Time
	uid       string

	// certain says that the status of the Workspace names the lineage.
	certain bool

	// creates says that the Workspace has begun to create its resources in the state, which was
	// empty then, and has not recorded the end. It is not being deleted.
	creates bool

	description string

	// name of its Terraform workspace.
	name string
}

// NewContest returns a Contest of the supplied Workspace for the state with the supplied lineage,
// which it has found. now is the time at which it would begin, if it has not begun.
func NewContest(ws Workspace, lineage string, now time.Time) *Contest {
	mine := contestantOf(ws, lineage, TerraformWorkspace(ws))
	mine.ownership = max(mine.ownership, OwnershipOfFound(ws, lineage))

	if mine.started.IsZero() {
		mine.started = now
	}

	return &Contest{lineage: lineage, mine: mine}
}

func contestantOf(ws Workspace, lineage, name string) contestant {
	t := ownershipOf(ws, lineage, name)

	// It has created its infrastructure and does not know the lineage of its state yet, since there was
	// none when it began. The state belongs to it rather than to a Workspace that began earlier and has
	// created nothing.
	if t == OwnershipBegun && Remembered(ws).Lineage == "" && ws.GetOwnership().CreationSucceeded != nil {
		t = OwnershipRemembered
	}

	c := contestant{
		name:      TerraformWorkspace(ws),
		ownership: t,
		deleted:   meta.WasDeleted(ws),
		created:   ws.GetCreationTimestamp(),
		uid:       string(ws.GetUID()),
		certain:   t == OwnershipRecorded || Remembered(ws).Lineage == lineage,
	}

	if s := ws.GetOwnership().CreationStarted; s != nil {
		c.started = s.Time
	}

	c.creates = t == OwnershipBegun && !c.deleted && c.certain && IsBlank(*ws.GetObservation().State)

	return c
}

// Add adds another Workspace. The description names it in messages.
func (c *Contest) Add(ws Workspace, description string) {
	other := contestantOf(ws, c.lineage, c.mine.name)
	if other.ownership == OwnershipNone || other.uid == c.mine.uid {
		return
	}

	other.description = description

	if c.first == nil || other.ownerBefore(*c.first) {
		c.first = &other
	}

	if other.creates {
		c.rival = description
	}

	if other.certain && (other.ownership == OwnershipRecorded || !other.started.IsZero()) {
		c.Begun = description
	}
}

// ownerBefore says whether the state belongs to c rather than to d. If both own it to the same
// degree, one that is being deleted comes last, and then the earlier begin decides.
func (c contestant) ownerBefore(d contestant) bool {
	return cmp.Or(
		cmp.Compare(d.ownership, c.ownership),
		cmp.Compare(rank(c.deleted), rank(d.deleted)),
		cmp.Compare(rank(c.started.IsZero()), rank(d.started.IsZero())),
		c.started.Compare(d.started),
		c.created.Compare(d.created.Time),
		cmp.Compare(c.uid, d.uid),
	) < 0
}

func rank(last bool) int {
	if last {
		return 1
	}

	return 0
}

// Owner describes the Workspace that precedes the contestant, if there is one, and says whether this
// is certain. It is not if the status of the other one does not name the lineage yet.
func (c *Contest) Owner() (description string, certain bool) {
	if c.first == nil || !c.first.ownerBefore(c.mine) {
		return "", false
	}

	return c.first.description, c.first.certain
}

// OwnerGoes says whether the Workspace that Owner describes is being deleted. There must be one.
func (c *Contest) OwnerGoes() bool { return c.first.deleted }

// OwnerName returns the name of the Terraform workspace of the Workspace that Owner describes. There must be one.
func (c *Contest) OwnerName() string { return c.first.name }

// Undecided describes another Workspace if the resources in the state may be of the one or of the
// other: both have begun to create theirs when the state was empty, and neither has recorded the end.
// The times at which they began do not decide: one of them may have been killed before it saved
// anything.
func (c *Contest) Undecided() string {
	if !c.mine.creates || c.rival == "" || c.first.ownership > OwnershipBegun {
		return ""
	}

	return c.rival
}
