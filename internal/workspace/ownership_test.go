// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	namespacedv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/namespaced/v1beta1"
)

func TestOwns(t *testing.T) {
	t.Parallel()

	policies := func(actions ...xpv2.ManagementAction) option {
		return func(ws *namespacedv1beta1.Workspace) { ws.SetManagementPolicies(actions) }
	}
	annotated := func(ws *namespacedv1beta1.Workspace) { meta.SetExternalCreateSucceeded(ws, epoch()) }

	cases := map[string]struct {
		reason string
		opts   []option
		want   bool
	}{
		"New":         {reason: "It has no status."},
		"Begun":       {reason: "The creation may have failed before it created anything.", opts: []option{began(0)}},
		"Owner":       {reason: "It has recorded a state as its own.", opts: []option{owns("l")}, want: true},
		"Creator":     {reason: "It created the infrastructure.", opts: []option{began(0), succeeded()}, want: true},
		"Adopter":     {reason: "It was reconciled with the state.", opts: []option{reconciled(legacyChecksum)}, want: true},
		"Observer":    {reason: "It only observes, and has the checksum of an older version.", opts: []option{observes(), reconciled(legacyChecksum)}},
		"Updated":     {reason: "An older version has updated it, and left out the checksum.", opts: []option{available()}, want: true},
		"Interrupted": {reason: "An older version may have created nothing.", opts: []option{interrupted()}},
		"Late":        {reason: "It only observes: a Workspace has nothing to initialize late.", opts: []option{policies(xpv2.ManagementActionObserve, xpv2.ManagementActionLateInitialize), reconciled(checksum)}},
		"Deleter":     {reason: "It may destroy the infrastructure.", opts: []option{policies(xpv2.ManagementActionObserve, xpv2.ManagementActionDelete), reconciled(checksum)}, want: true},
		"Pensioner":   {reason: "It created the infrastructure, and only observes now.", opts: []option{began(0), succeeded(), observes()}, want: true},
		"Annotated":   {reason: "A copy has the annotations of the original.", opts: []option{annotated}},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if got := Owns(newWorkspace("a", tc.opts...)); got != tc.want {
				t.Errorf("\n%s\nOwns(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

func TestTitleTo(t *testing.T) {
	t.Parallel()

	blank := remembers(commonv1beta1.StateSummary{Lineage: "l", Serial: 1})

	cases := map[string]struct {
		reason string
		opts   []option
		want   StateOwnership
		own    StateOwnership
	}{
		"New":          {reason: "It has no state yet."},
		"Owner":        {reason: "Its status says so.", opts: []option{owns("l")}, want: OwnershipRecorded, own: OwnershipRecorded},
		"OwnerOfOther": {reason: "It has another state.", opts: []option{owns("k"), reconciled(checksum), began(0)}},
		"OwnerOfLost":  {reason: "It has recorded another state. This counts more than the last observed one.", opts: []option{owns("k"), seen("l"), reconciled(checksum)}},
		"Observer":     {reason: "It only observes, and owns nothing.", opts: []option{observes(), reconciled(legacyChecksum), seen("l")}},
		"FormerLooker": {reason: "It has only observed the state.", opts: []option{seen("l")}},
		"Legacy":       {reason: "It is unknown which state it has.", opts: []option{reconciled(legacyChecksum)}, want: OwnershipPossible, own: OwnershipRemembered},
		"Updated":      {reason: "It has no checksum until the next plan.", opts: []option{available()}, want: OwnershipPossible, own: OwnershipRemembered},
		"Returned":     {reason: "An older version has done nothing but write the status, which keeps the checksum of this one.", opts: []option{reconciled(checksum)}, want: OwnershipPossible, own: OwnershipRemembered},
		"GaveUp": {reason: "It was to take over that state, which belongs to another Workspace.", opts: []option{reconciled(checksum), began(0), seen("l"), func(ws *namespacedv1beta1.Workspace) {
			GiveUp(ws, "l")
		}}},
		"UpdatedNow":  {reason: "This version records what it has begun.", opts: []option{available(), began(0)}, want: OwnershipBegun, own: OwnershipBegun},
		"Interrupted": {reason: "An older version has begun to create. What is there may have another owner.", opts: []option{interrupted()}},
		"Creating": {reason: "This version has created nothing yet.", opts: []option{func(ws *namespacedv1beta1.Workspace) {
			ws.SetConditions(xpv2.Creating(), xpv2.ReconcileError(errors.New("create failed")))
		}}},
		"UpdatedThen": {reason: "Its condition Ready has changed since.", opts: []option{available(), func(ws *namespacedv1beta1.Workspace) {
			RecordAvailable(ws)
			ws.SetConditions(xpv2.Deleting())
		}}, want: OwnershipPossible, own: OwnershipRemembered},
		"NotUpdated":    {reason: "There is nothing to restore.", opts: []option{func(ws *namespacedv1beta1.Workspace) { RecordAvailable(ws) }}},
		"LegacyNamed":   {reason: "It has another Terraform workspace.", opts: []option{named("other"), reconciled(legacyChecksum)}, own: OwnershipRemembered},
		"LegacySeen":    {reason: "It was reconciled with it.", opts: []option{reconciled(legacyChecksum), seen("l")}, want: OwnershipRemembered, own: OwnershipRemembered},
		"LegacyOther":   {reason: "It was reconciled with another one.", opts: []option{reconciled(legacyChecksum), seen("k")}},
		"SeenElsewhere": {reason: "The lineage counts, not the name.", opts: []option{named("other"), reconciled(checksum), seen("l")}, want: OwnershipRemembered, own: OwnershipRemembered},
		"Nothing":       {reason: "A module without resources has no state.", opts: []option{reconciled(checksum), remembers(commonv1beta1.StateSummary{})}},
		"Blank":         {reason: "It has observed an empty state that a backend has made, which is not enough.", opts: []option{reconciled(checksum), blank}},
		"Begun":         {reason: "It may have created the resources in the state.", opts: []option{began(0)}, want: OwnershipBegun, own: OwnershipBegun},
		"BegunNamed":    {reason: "It began in another Terraform workspace.", opts: []option{named("other"), began(0)}, own: OwnershipBegun},
		"BegunHere":     {reason: "It began with that state.", opts: []option{named("other"), began(0), blank}, want: OwnershipBegun, own: OwnershipBegun},
		"BegunThere":    {reason: "It began with another state.", opts: []option{began(0), seen("k")}},
		"Created":       {reason: "It was not observed since.", opts: []option{began(0), succeeded(), reconciled(checksum), remembers(commonv1beta1.StateSummary{Resources: 1})}, want: OwnershipBegun, own: OwnershipBegun},
		"CreatedSeen":   {reason: "It was observed since.", opts: []option{began(0), succeeded(), reconciled(checksum), seen("l")}, want: OwnershipRemembered, own: OwnershipRemembered},
		"BegunThenLook": {reason: "The resources that it created are still there.", opts: []option{began(0), observes()}, want: OwnershipBegun, own: OwnershipBegun},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			ws := newWorkspace("a", tc.opts...)
			if diff := cmp.Diff([]StateOwnership{tc.want, tc.own}, []StateOwnership{ownershipOf(ws, "l", "name"), OwnershipOfFound(ws, "l")}); diff != "" {
				t.Errorf("\n%s\nownershipOf(...) and OwnershipOfFound(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// available is what an older version leaves after an update: neither a checksum nor a state.
func available() option {
	return func(ws *namespacedv1beta1.Workspace) { ws.SetConditions(xpv2.Available(), xpv2.ReconcileSuccess()) }
}

// deleting has the condition of a deletion.
func deleting() option {
	return func(ws *namespacedv1beta1.Workspace) { ws.SetConditions(xpv2.Deleting()) }
}

// interrupted is what an older version leaves if it ends during a creation.
func interrupted() option {
	return func(ws *namespacedv1beta1.Workspace) {
		ws.SetConditions(xpv2.Creating(), xpv2.ReconcileError(errors.New("cannot determine creation result - remove the "+meta.AnnotationKeyExternalCreatePending+" annotation if it is safe to proceed")))
	}
}

func TestIsStateless(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		opts   []option
		want   bool
	}{
		"New": {reason: "It has no status.", want: true},
		"Failed": {reason: "It has created nothing.", opts: []option{func(ws *namespacedv1beta1.Workspace) {
			ws.SetConditions(xpv2.Creating(), xpv2.ReconcileError(errors.New("boom")))
		}}, want: true},
		"Begun":       {reason: "It may have created something.", opts: []option{began(0)}},
		"Owner":       {reason: "It has a state.", opts: []option{owns("l")}},
		"Observer":    {reason: "It has seen one.", opts: []option{seen("l")}},
		"Legacy":      {reason: "An older version has planned.", opts: []option{reconciled(legacyChecksum)}},
		"Updated":     {reason: "An older version has applied.", opts: []option{available()}},
		"Interrupted": {reason: "An older version may have applied.", opts: []option{interrupted()}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if got := IsStateless(newWorkspace("a", tc.opts...)); got != tc.want {
				t.Errorf("\n%s\nIsStateless(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

// creates is a Workspace that has begun to create its resources in an empty state.
func creates(after time.Duration) option {
	return func(ws *namespacedv1beta1.Workspace) {
		BeginCreation(ws, commonv1beta1.StateSummary{Lineage: "l", Serial: 1}, epoch().Add(after))
	}
}

// TestContest has a Workspace, which owns nothing by default, try to take over a state.
func TestContest(t *testing.T) {
	t.Parallel()

	type answer struct {
		Owner     string
		Certain   bool
		Goes      bool
		Begun     string
		Undecided string
	}

	cases := map[string]struct {
		reason string
		mine   []option
		others map[string][]option
		want   answer
	}{
		"Free":         {reason: "No other Workspace owns it to any degree.", others: map[string][]option{"other": nil, "observer": {observes(), seen("l")}}},
		"Owned":        {reason: "Another one has recorded it.", mine: []option{older(), reconciled(legacyChecksum)}, others: map[string][]option{"owner": {named("any"), owns("l")}}, want: answer{Owner: "owner", Certain: true, Begun: "owner"}},
		"Elsewhere":    {reason: "A namesake has another state.", others: map[string][]option{"other": {owns("k"), reconciled(checksum)}}},
		"Legacy":       {reason: "It may belong to a Workspace that was not observed yet.", others: map[string][]option{"legacy": {reconciled(legacyChecksum)}}, want: answer{Owner: "legacy"}},
		"BothLegacy":   {reason: "The first Workspace that tries to take it over gets it.", mine: []option{reconciled(legacyChecksum)}, others: map[string][]option{"legacy": {older(), reconciled(legacyChecksum), seen("l")}}},
		"LegacyBegan":  {reason: "The first Workspace that has begun gets it.", mine: []option{older(), reconciled(legacyChecksum)}, others: map[string][]option{"legacy": {began(-time.Minute), reconciled(legacyChecksum), seen("l")}}, want: answer{Owner: "legacy", Certain: true, Begun: "legacy"}},
		"LegacyGoes":   {reason: "Another Workspace still needs the resources: they are not destroyed.", mine: []option{older(), deleted(), reconciled(legacyChecksum)}, others: map[string][]option{"legacy": {reconciled(legacyChecksum), seen("l")}}, want: answer{Owner: "legacy", Certain: true}},
		"BothGo":       {reason: "One of the two destroys it.", mine: []option{deleted(), reconciled(legacyChecksum)}, others: map[string][]option{"legacy": {older(), deleted(), reconciled(legacyChecksum), seen("l")}}},
		"BegunAlone":   {reason: "A namesake that was not observed had its state before this one began.", mine: []option{began(0)}, others: map[string][]option{"legacy": {older(), reconciled(legacyChecksum)}}},
		"OtherBegun":   {reason: "It may belong to a Workspace that has begun a creation.", mine: []option{older()}, others: map[string][]option{"begun": {began(0)}}, want: answer{Owner: "begun"}},
		"OtherFirst":   {reason: "The first that began counts as the creator.", mine: []option{older(), began(time.Second)}, others: map[string][]option{"begun": {began(0)}}, want: answer{Owner: "begun"}},
		"OtherSecond":  {reason: "A Workspace that began later, with an unknown state, does not matter.", mine: []option{began(0)}, others: map[string][]option{"begun": {older(), began(time.Second)}}},
		"OtherDone":    {reason: "A Workspace that has created its infrastructure precedes one that began earlier.", mine: []option{began(0)}, others: map[string][]option{"done": {older(), began(time.Second), succeeded()}}, want: answer{Owner: "done"}},
		"Done":         {reason: "The same is true of this one.", mine: []option{older(), began(time.Second), succeeded()}, others: map[string][]option{"begun": {began(0)}}},
		"OtherAtIt":    {reason: "A Workspace that began later with the same state may be about to record it.", mine: []option{began(0), seen("l")}, others: map[string][]option{"begun": {older(), began(time.Second), seen("l")}}, want: answer{Begun: "begun"}},
		"SameTime":     {reason: "The older one precedes.", mine: []option{began(0), seen("l")}, others: map[string][]option{"begun": {older(), began(0), seen("l")}}, want: answer{Owner: "begun", Certain: true, Begun: "begun"}},
		"BothCreate":   {reason: "Both began in the empty state: one of them created what is in it.", mine: []option{creates(0)}, others: map[string][]option{"other": {creates(time.Second)}}, want: answer{Begun: "other", Undecided: "other"}},
		"OtherCreates": {reason: "This one takes it over, and did not create anything in it.", mine: []option{began(0), remembers(commonv1beta1.StateSummary{Lineage: "l", Serial: 3, Resources: 1})}, others: map[string][]option{"other": {creates(time.Second)}}, want: answer{Begun: "other"}},
		"OtherGoes":    {reason: "A person has decided by deleting the other one.", mine: []option{creates(0)}, others: map[string][]option{"other": {deleted(), creates(time.Second)}}, want: answer{Begun: "other"}},
		"Created":      {reason: "The other one has recorded that it created what is in it.", mine: []option{creates(0)}, others: map[string][]option{"other": {creates(time.Second)}, "owner": {owns("l")}}, want: answer{Owner: "owner", Certain: true, Begun: "owner"}},
		"RememberedBy": {reason: "A Workspace that was reconciled with the state precedes one that has begun.", mine: []option{older(), began(0)}, others: map[string][]option{"legacy": {reconciled(legacyChecksum), seen("l")}}, want: answer{Owner: "legacy", Certain: true}},
		"OwnerGoes":    {reason: "It need only be gone.", others: map[string][]option{"owner": {deleted(), owns("l")}}, want: answer{Owner: "owner", Certain: true, Goes: true, Begun: "owner"}},
		"Best":         {reason: "Of several others, the one that precedes the rest is named.", others: map[string][]option{"begun": {older(), began(0)}, "owner": {owns("l")}, "legacy": {older(), reconciled(legacyChecksum)}}, want: answer{Owner: "owner", Certain: true, Begun: "owner"}},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			mine := newWorkspace("mine", tc.mine...)
			c := NewContest(mine, "l", epoch())
			c.Add(mine, "itself")

			// Of several that have begun, the last one is named.
			for _, uid := range slices.Sorted(maps.Keys(tc.others)) {
				c.Add(newWorkspace(uid, tc.others[uid]...), uid)
			}

			got := answer{Begun: c.Begun, Undecided: c.Undecided()}
			if got.Owner, got.Certain = c.Owner(); got.Owner != "" {
				got.Goes = c.OwnerGoes()
			}

			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestBegin(t *testing.T) {
	t.Parallel()

	empty := commonv1beta1.StateSummary{Lineage: "l", Serial: 1}
	found := commonv1beta1.StateSummary{Lineage: "l", Serial: 3, Resources: 1}
	now := epoch().Add(time.Hour + time.Millisecond)
	later := seconds(epoch().Add(time.Hour))

	cases := map[string]struct {
		reason string
		opts   []option
		begin  func(ws Workspace, s commonv1beta1.StateSummary, now time.Time)
		state  commonv1beta1.StateSummary // empty by default
		want   commonv1beta1.Ownership
	}{
		"New":       {reason: "The API server stores whole seconds.", begin: Begin, want: commonv1beta1.Ownership{CreationStarted: later}},
		"Again":     {reason: "It began before.", opts: []option{began(0)}, begin: Begin, want: commonv1beta1.Ownership{CreationStarted: seconds(epoch())}},
		"Another":   {reason: "The state that it takes over is not the one that it had.", opts: []option{owns("k"), began(0), succeeded()}, begin: Begin, want: commonv1beta1.Ownership{CreationStarted: seconds(epoch()), CreationSucceeded: seconds(epoch())}},
		"Found":     {reason: "It has not created what it takes over.", begin: Begin, state: found, want: commonv1beta1.Ownership{CreationStarted: later, TakenOverAt: later}},
		"Observed":  {reason: "Nor has it by looking at it.", opts: []option{seen("l")}, begin: Begin, state: found, want: commonv1beta1.Ownership{CreationStarted: later, TakenOverAt: later}},
		"Replaced":  {reason: "It has created something else.", opts: []option{owns("k"), began(0), succeeded()}, begin: Begin, state: found, want: commonv1beta1.Ownership{CreationStarted: seconds(epoch()), CreationSucceeded: seconds(epoch()), TakenOverAt: later}},
		"Created":   {reason: "It may have created what it finds.", opts: []option{began(0)}, begin: Begin, state: found, want: commonv1beta1.Ownership{CreationStarted: seconds(epoch())}},
		"Legacy":    {reason: "An older version of the provider has reconciled it.", opts: []option{reconciled(legacyChecksum)}, begin: Begin, state: found, want: commonv1beta1.Ownership{CreationStarted: later}},
		"FoundNow":  {reason: "What it had taken over before is gone.", opts: []option{owns("k"), tookOver()}, begin: Begin, want: commonv1beta1.Ownership{CreationStarted: later}},
		"FoundThen": {reason: "An attempt to take it over is repeated.", opts: []option{began(0), seen("l"), tookOver()}, begin: Begin, state: found, want: commonv1beta1.Ownership{CreationStarted: seconds(epoch()), TakenOverAt: seconds(epoch())}},
		"Renewed":   {reason: "It creates everything in its state.", opts: []option{owns("l"), tookOver()}, begin: BeginCreation, want: commonv1beta1.Ownership{Lineage: "l", CreationStarted: later}},
		"Creation":  {reason: "This creation has just begun.", opts: []option{began(0), succeeded()}, begin: BeginCreation, want: commonv1beta1.Ownership{CreationStarted: later}},
		"Recreated": {reason: "It has lost its state.", opts: []option{owns("k"), began(0), succeeded()}, begin: BeginCreation, want: commonv1beta1.Ownership{CreationStarted: later}},
		"Emptied":   {reason: "Its own state was empty.", opts: []option{owns("l"), began(0), succeeded()}, begin: BeginCreation, want: commonv1beta1.Ownership{Lineage: "l", CreationStarted: later}},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			ws := newWorkspace("a", tc.opts...)
			before := ws.GetOwnership()

			s := tc.state
			if s.Lineage == "" {
				s = empty
			}

			tc.begin(ws, s, now)

			tc.want.UID = "a"
			if diff := cmp.Diff(tc.want, ws.GetOwnership()); diff != "" {
				t.Errorf("\n%s\nownership: -want, +got:\n%s", tc.reason, diff)
			}

			if diff := cmp.Diff(&s, ws.GetObservation().State); diff != "" {
				t.Errorf("\n%s\nstate: -want, +got:\n%s", tc.reason, diff)
			}

			Restore(ws, before)

			if diff := cmp.Diff(before, ws.GetOwnership()); diff != "" {
				t.Errorf("\n%s\nownership after it was restored: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestAcceptsDestroy has a Workspace with a state of the lineage l.
func TestAcceptsDestroy(t *testing.T) {
	t.Parallel()

	accepts := func(value string) option {
		return func(ws *namespacedv1beta1.Workspace) {
			meta.AddAnnotations(ws, map[string]string{AcceptTakenOverStateAnnotationKey: value})
		}
	}

	cases := map[string]struct {
		reason  string
		opts    []option
		lineage string
		want    bool
	}{
		"Creator":  {reason: "It has created what it destroys.", opts: []option{owns("l")}, lineage: "l", want: true},
		"TookOver": {reason: "It has found what it would destroy.", opts: []option{owns("l"), tookOver()}, lineage: "l"},
		"Accepted": {reason: "A person accepts it.", opts: []option{owns("l"), tookOver(), accepts("l")}, lineage: "l", want: true},
		"Block":    {reason: "A block of YAML ends with a line feed.", opts: []option{owns("l"), tookOver(), accepts("l\n")}, lineage: "l", want: true},
		"Other":    {reason: "A person has accepted it for another state.", opts: []option{owns("l"), tookOver(), accepts("k")}, lineage: "l"},
		"Nothing":  {reason: "An unknown state cannot be accepted.", opts: []option{owns("l"), tookOver()}},
		"Settled":  {reason: "It has applied a plan since.", opts: []option{owns("l"), tookOver(), func(ws *namespacedv1beta1.Workspace) { AllowDestroy(ws) }}, lineage: "l", want: true},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if got := AcceptsDestroy(newWorkspace("a", tc.opts...), tc.lineage); got != tc.want {
				t.Errorf("\n%s\nAcceptsDestroy(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

func TestGiveUp(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		opts   []option
		want   bool
	}{
		"New":       {reason: "It has begun nothing."},
		"Begun":     {reason: "It was to take over that state.", opts: []option{began(0), seen("l")}, want: true},
		"Elsewhere": {reason: "It began with another state.", opts: []option{began(0), seen("k")}},
		"Unknown":   {reason: "It may have begun with another state.", opts: []option{began(0)}},
		"Succeeded": {reason: "It has created its infrastructure.", opts: []option{began(0), seen("l"), succeeded()}},
		"Owner":     {reason: "It has a state.", opts: []option{began(0), seen("l"), owns("k")}},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			ws := newWorkspace("a", tc.opts...)
			begun := HasBegun(ws)

			if got := GiveUp(ws, "l"); got != tc.want {
				t.Errorf("\n%s\nGiveUp(...): want %t, got %t", tc.reason, tc.want, got)
			}

			if got, want := HasBegun(ws), begun && !tc.want; got != want {
				t.Errorf("\n%s\nHasBegun(...): want %t, got %t", tc.reason, want, got)
			}

			if got := Remembered(ws).Lineage; tc.want && got != "" {
				t.Errorf("\n%s\nwant the state to be forgotten, got lineage %q", tc.reason, got)
			}
		})
	}
}

// TestHasOnlyObserved ensures that a trial with policies that only observe takes nothing from a Workspace that this version has reconciled.
func TestHasOnlyObserved(t *testing.T) {
	t.Parallel()

	found := &commonv1beta1.StateSummary{Lineage: "l", Serial: 3, Resources: 1}

	cases := map[string]struct {
		reason string
		opts   []option
		want   bool
	}{
		"Earlier":    {reason: "An older version has observed it.", opts: []option{observes(), reconciled(legacyChecksum)}, want: true},
		"Returned":   {reason: "An older version has written the status since.", opts: []option{observes(), reconciled(checksum)}, want: true},
		"Reconciled": {reason: "This version has reconciled it with the state.", opts: []option{observes(), reconciled(checksum), seen("l")}},
		"Created":    {reason: "The annotations tell that it was created.", opts: []option{observes(), reconciled(legacyChecksum), func(ws *namespacedv1beta1.Workspace) { meta.SetExternalCreateSucceeded(ws, time.Now()) }}},
		"Manages":    {reason: "Its policies allow more.", opts: []option{reconciled(legacyChecksum)}},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if got := HasOnlyObserved(newWorkspace("a", tc.opts...), found); got != tc.want {
				t.Errorf("\n%s\nHasOnlyObserved(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}
