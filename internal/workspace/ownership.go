// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"cmp"
	"encoding/hex"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
)

// A state is identified by its lineage and belongs to one Workspace. The rules here find that
// Workspace from the statuses of all Workspaces. They read no annotation that the provider
// writes: copies, restored backups and GitOps tools write annotations, but no status.

// Owns says whether a Workspace has a state of its own: it created one, took one over, or was
// reconciled with one by a version of the provider that recorded no ownership. An observation of
// a state is not enough.
func Owns(ws Workspace) bool {
	o := ws.GetOwnership()

	return o.Lineage != "" || o.CreationSucceeded != nil || (ws.GetObservation().Checksum != "" && !OnlyObserves(ws))
}

// IsStateless says whether no state of the Workspace can exist yet: it has observed none, and has
// never begun to make one.
func IsStateless(ws Workspace) bool {
	own, seen := ws.GetOwnership(), ws.GetObservation()

	return own.CreationStarted == nil && own.Lineage == "" && seen.Checksum == "" && seen.State == nil
}

// IsBlank says whether nothing was ever applied to a state without resources and outputs. Some
// backends make such a state when they are read. Every apply and every destroy raises the serial.
func IsBlank(s commonv1beta1.StateSummary) bool { return s.Resources == 0 && s.Serial <= 1 }

// A StateOwnership says how strongly, according to its status, a Workspace owns a state. Greater
// values take precedence.
type StateOwnership int

const (
	// OwnershipNone means that the Workspace does not own the state.
	OwnershipNone StateOwnership = iota

	// OwnershipPossible means that an older version of the provider reconciled the Workspace and
	// recorded no lineage. The state may be its own.
	OwnershipPossible

	// OwnershipBegun means that the Workspace has begun to create the resources in the state, or
	// to take them over, and has not recorded the end.
	OwnershipBegun

	// OwnershipRemembered means that the Workspace was reconciled with the state, but has
	// not recorded it as its own yet.
	OwnershipRemembered

	// OwnershipRecorded means that the Workspace has recorded the state as its own.
	OwnershipRecorded
)

// OwnershipOf says how strongly a Workspace owns the state with the supplied lineage in the
// Terraform workspace of the supplied name.
func OwnershipOf(ws Workspace, lineage, name string) StateOwnership {
	own, seen, known := ws.GetOwnership(), ws.GetObservation().State, knownLineage(ws)

	switch {
	case own.Lineage == lineage:
		return OwnershipRecorded
	case own.Lineage != "" || (known != "" && known != lineage):
		return OwnershipNone
	case known == "" && TerraformWorkspace(ws) != name:
		return OwnershipNone
	case known == lineage && wasReconciled(ws) && !IsBlank(*seen):
		return OwnershipRemembered
	case own.CreationStarted != nil:
		return OwnershipBegun
	case seen == nil && wasReconciled(ws) && isLegacyChecksum(ws.GetObservation().Checksum):
		return OwnershipPossible
	default:
		return OwnershipNone
	}
}

// MayWorkOn says whether a Workspace may be working on the state with the supplied lineage in the
// Terraform workspace of the supplied name. The lineage is empty if the state was not written
// yet.
func MayWorkOn(ws Workspace, lineage, name string) bool {
	if lineage != "" {
		return OwnershipOf(ws, lineage, name) >= OwnershipBegun
	}

	return HasBegun(ws) && ws.GetOwnership().Lineage == "" && TerraformWorkspace(ws) == name
}

// wasReconciled says whether a Workspace was reconciled with a state, not only observed one.
func wasReconciled(ws Workspace) bool {
	return ws.GetObservation().Checksum != "" && (!OnlyObserves(ws) || HasBegun(ws))
}

// OwnershipOfFound says how strongly a Workspace owns the state with the supplied lineage that it
// finds. A Workspace that an older version of the provider has reconciled owns the state that it
// finds.
func OwnershipOfFound(ws Workspace, lineage string) StateOwnership {
	t := OwnershipOf(ws, lineage, TerraformWorkspace(ws))
	if t == OwnershipPossible {
		return OwnershipRemembered
	}

	return t
}

// HasBegun says whether a Workspace has begun to create infrastructure, or to take over existing
// infrastructure.
func HasBegun(ws Workspace) bool { return ws.GetOwnership().CreationStarted != nil }

// Knows says whether the state with the supplied lineage may be that of a Workspace: it is the
// last observed state, or none was observed.
func Knows(ws Workspace, lineage string) bool {
	known := cmp.Or(knownLineage(ws), ws.GetOwnership().Lineage)

	return known == "" || known == lineage
}

// TerraformWorkspace returns the name of the Terraform workspace of a Workspace.
func TerraformWorkspace(o client.Object) string {
	return cmp.Or(meta.GetExternalName(o), o.GetName())
}

// isLegacyChecksum says whether a version of the provider that recorded no state has written the
// checksum, which was an MD5.
func isLegacyChecksum(s string) bool {
	b, err := hex.DecodeString(s)

	return err == nil && len(b) == 16
}

// knownLineage returns the lineage of the last state that a Workspace has observed.
func knownLineage(ws Workspace) string {
	if s := ws.GetObservation().State; s != nil {
		return s.Lineage
	}

	return ""
}

// A Contest decides whether a Workspace may take over a state. All other Workspaces must be added
// to it before it is asked.
//
// A Workspace takes over a state in three steps. It checks that no other Workspace precedes it.
// It records in its status that it has begun (Begin). After that write, it checks that no other
// Workspace precedes it or has begun, too. Only then does it record the lineage. Of two
// Workspaces that begin at the same time, at least one sees the other in the last step, so that
// they never record the same lineage.
type Contest struct {
	lineage, name string
	mine          contestant

	// first is the one of the other Workspaces that precedes the rest of them. It is nil if no
	// other Workspace owns the state to any degree.
	first *contestant

	// begun is another Workspace that may be about to record the lineage. It is nil if there is
	// none.
	begun *contestant

	// rival is another Workspace that has begun to create its resources in the state, when the
	// state was empty. It is nil if there is none.
	rival *contestant
}

// A contestant is one of the Workspaces in a Contest.
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
}

// NewContest returns a Contest of the supplied Workspace for the state with the supplied lineage,
// which it has found. now is the time at which it would begin, if it has not begun.
func NewContest(ws Workspace, lineage string, now time.Time) *Contest {
	mine := contestantOf(ws, lineage, OwnershipOfFound(ws, lineage))
	if mine.started.IsZero() {
		mine.started = now
	}

	return &Contest{lineage: lineage, name: TerraformWorkspace(ws), mine: mine}
}

func contestantOf(ws Workspace, lineage string, t StateOwnership) contestant {
	c := contestant{
		ownership: t,
		deleted:   meta.WasDeleted(ws),
		created:   ws.GetCreationTimestamp(),
		uid:       string(ws.GetUID()),
		certain:   t == OwnershipRecorded || knownLineage(ws) == lineage,
	}

	if s := ws.GetOwnership().CreationStarted; s != nil {
		c.started = s.Time
	}

	c.creates = t == OwnershipBegun && !c.deleted && c.certain && IsBlank(*ws.GetObservation().State)

	return c
}

// Add adds another Workspace. The description names it in messages.
func (c *Contest) Add(ws Workspace, description string) {
	t := OwnershipOf(ws, c.lineage, c.name)
	if t == OwnershipNone || string(ws.GetUID()) == c.mine.uid {
		return
	}

	other := contestantOf(ws, c.lineage, t)
	other.description = description

	if c.first == nil || other.ownerBefore(*c.first) {
		c.first = &other
	}

	if other.creates {
		c.rival = &other
	}

	if other.certain && (t == OwnershipRecorded || !other.started.IsZero()) {
		c.begun = &other
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

// Owner returns the description of the Workspace that precedes the contestant, and whether this
// is certain. It is not certain if the status of the other one does not name the lineage yet. The
// description is empty if no Workspace precedes the contestant.
func (c *Contest) Owner() (description string, certain bool) {
	if c.first == nil || !c.first.ownerBefore(c.mine) {
		return "", false
	}

	return c.first.description, c.first.certain
}

// Undecided returns the description of another Workspace if the resources in the state may be of
// the one or of the other: both have begun to create theirs when the state was empty, and neither
// has recorded the end. The times at which they began do not decide: one of them may have been
// killed before it saved anything. The description is empty if there is no such Workspace.
func (c *Contest) Undecided() string {
	if !c.mine.creates || c.rival == nil || c.first.ownership > OwnershipBegun {
		return ""
	}

	return c.rival.description
}

// Begun returns the description of another Workspace that has begun to take over the state and
// may be about to record it, although the state does not belong to it. It gives up when it is
// reconciled. The description is empty if there is none.
func (c *Contest) Begun() string {
	if c.begun == nil {
		return ""
	}

	return c.begun.description
}

// Begin records in the status of the Workspace that it takes over the supplied state, which is
// not empty.
func Begin(ws Workspace, s commonv1beta1.StateSummary, now time.Time) {
	begin(ws, s)

	own := ws.GetOwnership()
	if own.CreationStarted == nil {
		own.CreationStarted = seconds(now)
	}

	ws.SetOwnership(own)
}

// BeginCreation records in the status of the Workspace that it creates its infrastructure, from
// the supplied empty state.
func BeginCreation(ws Workspace, s commonv1beta1.StateSummary, now time.Time) {
	begin(ws, s)

	own := ws.GetOwnership()
	own.CreationStarted, own.CreationSucceeded = seconds(now), nil
	ws.SetOwnership(own)
}

func begin(ws Workspace, s commonv1beta1.StateSummary) {
	seen := ws.GetObservation()
	seen.State = &s
	ws.SetObservation(seen)

	own := ws.GetOwnership()
	if own.Lineage != s.Lineage {
		own.Lineage = ""
	}

	ws.SetOwnership(own)
}

// seconds returns a time as the API server keeps it.
func seconds(t time.Time) *metav1.Time { return &metav1.Time{Time: t.Truncate(time.Second)} }

// Restore sets the state and the creation in the ownership of the Workspace to earlier values.
func Restore(ws Workspace, before commonv1beta1.Ownership) {
	own := ws.GetOwnership()
	own.Lineage, own.CreationStarted, own.CreationSucceeded = before.Lineage, before.CreationStarted, before.CreationSucceeded
	ws.SetOwnership(own)
}

// GiveUp removes the record that the Workspace has begun to create, or to take over, the
// resources in the state with the supplied lineage. It says whether there was such a record. The
// Workspace does not remember that state any more: otherwise it would take it for lost when it
// gets a backend of its own.
func GiveUp(ws Workspace, lineage string) bool {
	own := ws.GetOwnership()
	if own.CreationStarted == nil || own.CreationSucceeded != nil || own.Lineage != "" || knownLineage(ws) != lineage {
		return false
	}

	own.CreationStarted = nil
	ws.SetOwnership(own)

	seen := ws.GetObservation()
	seen.State = nil
	ws.SetObservation(seen)

	return true
}

// Own records in the status of the Workspace that the state with the supplied lineage
// belongs to it.
func Own(ws Workspace, lineage string) {
	own := ws.GetOwnership()
	own.Lineage = lineage
	ws.SetOwnership(own)
}

// Succeed records in the status of the Workspace, if it has begun a creation, that the creation
// is complete.
func Succeed(ws Workspace, now time.Time) {
	own := ws.GetOwnership()
	if own.CreationStarted == nil || own.CreationSucceeded != nil {
		return
	}

	own.CreationSucceeded = seconds(now)
	ws.SetOwnership(own)
}
