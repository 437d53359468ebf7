// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/runner"
	"github.com/crossplane-contrib/provider-terraform/internal/statelock"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// TestSaveState ensures that a state that a run could not save never replaces what another instance
// has recorded since. The Workspace was last observed with serial 3 of its state. The CLI would
// save the state: each failed attempt to save it has raised its serial.
func TestSaveState(t *testing.T) {
	t.Parallel()

	began := func(serial int64, taken time.Time) *runner.RunRecord {
		return &runner.RunRecord{StateSummary: commonv1beta1.StateSummary{Lineage: ownLineage, Serial: serial, Resources: 1}, Taken: taken}
	}

	on := func(host string) *runner.RunRecord {
		r := began(3, time.Unix(1, 0))
		r.Host = host

		return r
	}

	used := func(serial int64) *runner.RunRecord {
		r := began(1, time.Time{})
		r.Used = &commonv1beta1.StateSummary{Lineage: ownLineage, Serial: serial}

		return r
	}

	cases := map[string]struct {
		reason string
		record *runner.RunRecord
		other  bool
		// hosts of the instances that served the Workspace before this one, which is on host-0.
		hosts []string
		// saved is the number of times that the current state was saved since.
		saved uint64
		// empty says that the current state records nothing.
		empty bool
		aside bool
	}{
		"Legacy":          {reason: "The existing provider does not save such a state, and may have applied something since.", aside: true},
		"LegacyFirst":     {reason: "There is no state that it could have changed.", empty: true},
		"Same":            {reason: "No instance has observed another state.", record: began(3, time.Time{})},
		"StatusIsBehind":  {reason: "The instance was killed before it wrote the status.", record: began(4, time.Time{})},
		"ShardInBetween":  {reason: "An unsharded instance does not know of the shard, but that one has observed the state.", record: began(2, time.Time{}), aside: true},
		"Used":            {reason: "This instance has used the unsaved state, which the status shows.", record: used(3)},
		"UsedElsewhere":   {reason: "The state in the status is later than the unsaved one.", record: used(2), aside: true},
		"Replaced":        {reason: "There was no state when the run began, and another instance has observed one.", record: &runner.RunRecord{}, aside: true},
		"Restarted":       {reason: "The run has saved a part of its state, and this instance is on its host.", record: on("host-0"), hosts: []string{"host-0"}, saved: 1},
		"NewPod":          {reason: "This instance has the volume of the one that made the run.", record: on("host-1"), hosts: []string{"host-1", "host-2"}, saved: 1},
		"Standby":         {reason: "A standby on another host may have changed the state.", record: on("host-0"), hosts: []string{"host-1", "host-0"}, saved: 1, aside: true},
		"IdleStandby":     {reason: "The standby has changed nothing.", record: on("host-0"), hosts: []string{"host-1", "host-0"}},
		"SameProcess":     {reason: "This process was a standby itself, and made the run.", record: &runner.RunRecord{StateSummary: began(3, time.Time{}).StateSummary, Host: "host-0"}, hosts: []string{"host-1"}, saved: 1},
		"OtherUnrecorded": {reason: "Another instance may have changed it.", other: true, aside: true},
		"OtherSame":       {reason: "The other instance has changed nothing.", record: began(3, time.Unix(1, 0)), other: true},
		"OtherChanged":    {reason: "The other instance has changed it.", record: began(2, time.Unix(1, 0)), other: true, aside: true},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r := newAttempt(t, with(owner))
			r.ServedByOtherBefore = func(client.Object) bool { return tc.other }
			r.Locks.Predecessors = func(client.Object) statelock.Predecessors { return statelock.Predecessors{Hosts: tc.hosts} }

			path := filepath.Join(t.TempDir(), "errored.tfstate")
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				t.Fatal(err)
			}

			state := ownState()
			state.Serial += tc.saved

			if tc.empty {
				state = terraform.State{}
			}

			r.runner.unsaved, r.runner.record, r.runner.state = path, tc.record, &state

			if err := r.planner.unsaved.saveState(t.Context(), r.ws); err != nil {
				t.Fatal(err)
			}

			_, err := os.Stat(path)
			pushed := slices.Contains(r.runner.ran, "state push")

			if aside := os.IsNotExist(err); aside != tc.aside || pushed == tc.aside {
				t.Errorf("%s\nsaveState(...): want the state put aside: %t, got %t, pushed: %t", tc.reason, tc.aside, aside, pushed)
			}
		})
	}
}

// TestOwnSavedState ensures that a Workspace owns the state that its own first apply could not save.
func TestOwnSavedState(t *testing.T) {
	t.Parallel()

	for lineage, want := range map[string]string{otherLineage: otherLineage, "": "", "another": ""} {
		r := newAttempt(t, with(creates))
		r.runner.record = &runner.RunRecord{StateSummary: *r.ws.GetObservation().State}
		r.runner.unsaved, r.runner.state = filepath.Join(t.TempDir(), "errored.tfstate"), &terraform.State{Lineage: otherLineage, Serial: 1}

		if err := os.WriteFile(r.runner.unsaved, fmt.Appendf(nil, `{"version": 4, "lineage": %q}`, lineage), 0o600); err != nil {
			t.Fatal(err)
		}

		if err := r.planner.unsaved.saveState(t.Context(), r.ws); err != nil {
			t.Fatal(err)
		}

		if got := r.ws.GetOwnership().Lineage; got != want {
			t.Errorf("lineage %q: want the Workspace to own %q, got %q", lineage, want, got)
		}
	}
}

// TestAdoptSavedState has a state that got another lineage when it was saved. It is not lost, and belongs to the Workspace.
func TestAdoptSavedState(t *testing.T) {
	t.Parallel()

	for name, want := range map[string]struct {
		writes int
		err    string
	}{
		"Recorded": {writes: 100},
		// The file stays, so that the next pass does the same.
		"NotRecorded": {writes: 0, err: "cannot record the lineage"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r := newAttempt(t, with(creates))
			r.maxWrites = want.writes
			r.runner.record = &runner.RunRecord{Used: &commonv1beta1.StateSummary{Lineage: otherLineage, Serial: 3, Resources: 1}}
			r.runner.unsaved = filepath.Join(t.TempDir(), "errored.tfstate")
			found := &terraform.State{Lineage: ownLineage, Serial: 1, Managed: 1}
			r.runner.pushed = found

			workspace.SetState(r.ws, r.runner.record.Used)

			if err := os.WriteFile(r.runner.unsaved, fmt.Appendf(nil, `{"version": 4, "lineage": %q}`, otherLineage), 0o600); err != nil {
				t.Fatal(err)
			}

			err := r.planner.unsaved.saveState(t.Context(), r.ws)
			if (want.err == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), want.err) {
				t.Fatalf("saveState(...): want error %q, got %v", want.err, err)
			}

			if (r.runner.unsaved == "") != (err == nil) {
				t.Errorf("want the file to stay until the lineage is recorded, got %q", r.runner.unsaved)
			}

			if err != nil {
				return
			}

			if got := r.ws.GetOwnership().Lineage; got != ownLineage {
				t.Errorf("want the Workspace to own %q, got %q", ownLineage, got)
			}

			if got, used := workspace.Remembered(r.ws), r.runner.record.Used; got != summarizeState(found) || *used != got {
				t.Errorf("want the state that was found in the status and the record, got %+v and %+v", got, used)
			}

			if err := r.planner.guard.lostState(r.ws, found); err != nil {
				t.Errorf("want no loss, got %v", err)
			}
		})
	}
}

// TestRemember ensures that the status has the state that only this disk has. Another instance finds that it is lost, and this one that
// it is the own state.
func TestRemember(t *testing.T) {
	t.Parallel()

	prior := ownState()
	r := newAttempt(t, with(owner))
	r.observed(t, changes(), prior)
	r.runner.unsaved = filepath.Join(t.TempDir(), "errored.tfstate")
	r.runner.applyErr = &terraform.Error{ExitCode: 1, Diagnostics: []terraform.Diagnostic{{Summary: "Failed to save state"}}}
	r.runner.pushErr = tooLarge("state push")
	r.Runs.Stop = t.Context()

	text := fmt.Sprintf(`{"version": 4, "lineage": %q, "serial": %d, "resources": [{"mode": "managed", "type": "a", "name": "b", "instances": [{}]}]}`, ownLineage, prior.Serial+2)
	if err := os.WriteFile(r.runner.unsaved, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}

	if _, err := r.Update(t.Context(), r.ws); err == nil {
		t.Error("Update(...): want an error, got none")
	}

	want := commonv1beta1.StateSummary{Lineage: ownLineage, Serial: int64(prior.Serial) + 2, Resources: 1}
	if got := workspace.Remembered(r.ws); got != want {
		t.Errorf("state in the status: want %+v, got %+v", want, got)
	}

	written := &clusterv1beta1.Workspace{}
	if err := r.kube.Get(t.Context(), client.ObjectKeyFromObject(r.ws), written); err != nil {
		t.Fatal(err)
	}

	if got := workspace.Remembered(written); got != want {
		t.Errorf("state in the status before the managed reconciler writes it: want %+v, got %+v", want, got)
	}

	if superseded, err := r.applier.unsaved.superseded(t.Context(), r.ws); superseded || err != nil {
		t.Errorf("superseded(...): want the state to be the latest one, got %t and error %v", superseded, err)
	}

	r.Locks.Predecessors = func(client.Object) statelock.Predecessors { return statelock.Predecessors{Hosts: []string{"pod-2"}} }

	// This process made the last run.
	if err := r.planner.guard.lostState(r.ws, &prior); err == nil || strings.Contains(err.Error(), "on the disk of") {
		t.Errorf("lostState(...): want the loss and no instance, got %v", err)
	}

	// It was made on another disk.
	r.runner.record = nil
	if err := r.planner.guard.lostState(r.ws, &prior); err == nil || !strings.Contains(err.Error(), "is an old copy: ") || !strings.Contains(err.Error(), "it is on the disk of pod-2") {
		t.Errorf("lostState(...): want the loss and the instance, got %v", err)
	}
}

// TestRememberKept has a state that the backend never takes, and that the runs use. A run that fails in the middle leaves it. The older
// state of the backend does not replace it in the status.
func TestRememberKept(t *testing.T) {
	t.Parallel()

	for name, run := range map[string]func(r *attempt) error{
		"apply": func(r *attempt) error {
			_, err := r.Update(t.Context(), r.ws)

			return err
		},
		"destroy": func(r *attempt) error {
			_, err := r.Delete(t.Context(), r.ws)

			return err
		},
	} {
		kept, backend := ownState(), ownState()
		backend.Serial, backend.Managed = kept.Serial-2, 1

		r := newAttempt(t, with(owner))
		r.observed(t, changes(), kept)
		r.runner.unsaved = filepath.Join(t.TempDir(), "errored.tfstate")
		r.runner.pushErr = tooLarge("state push")
		r.runner.applyErr = &terraform.Error{Op: "apply", ExitCode: 1}
		r.runner.destroyErr = &terraform.Error{Op: "destroy", ExitCode: 1}
		r.runner.applying = func() { r.runner.latest = &backend }
		r.runner.destroying = r.runner.applying
		r.Runs.Stop = t.Context()

		if err := os.WriteFile(r.runner.unsaved, fmt.Appendf(nil, `{"version": 4, "lineage": %q, "serial": %d, "resources": [{"mode": "managed", "type": "a", "name": "b", "instances": [{}]}, {"mode": "managed", "type": "a", "name": "c", "instances": [{}]}]}`, kept.Lineage, kept.Serial), 0o600); err != nil {
			t.Fatal(err)
		}

		if err := run(r); err == nil {
			t.Errorf("%s: want an error, got none", name)
		}

		if s := workspace.Remembered(r.ws); s.Serial < int64(kept.Serial) {
			t.Errorf("%s: want the state that is kept in the status, got %+v", name, s)
		}
	}
}

// TestUnrelatedState ensures that a state stays which cannot be saved over that of something else: the backend may be the wrong one.
func TestUnrelatedState(t *testing.T) {
	t.Parallel()

	r := newAttempt(t, with(owner))
	state := ownState()
	r.runner.record = &runner.RunRecord{StateSummary: commonv1beta1.StateSummary{Lineage: ownLineage, Serial: 3, Resources: 1}}
	r.runner.unsaved, r.runner.state = filepath.Join(t.TempDir(), "errored.tfstate"), &state
	r.runner.pushErr = &terraform.Error{Op: "state push", ExitCode: 1, Stderr: `cannot import state with lineage "a" over unrelated state with lineage "b"`}

	if err := os.WriteFile(r.runner.unsaved, nil, 0o600); err != nil {
		t.Fatal(err)
	}

	if err := r.planner.unsaved.saveState(t.Context(), r.ws); err == nil || !strings.Contains(err.Error(), "Correct the backend") {
		t.Errorf("saveState(...): want an error with the remedy, got %v", err)
	}

	if _, err := os.Stat(r.runner.unsaved); err != nil {
		t.Errorf("want the state to be kept, got %v", err)
	}
}

// tooLarge is the refusal of a backend to store a state.
func tooLarge(op string) error {
	return &terraform.Error{Op: op, ExitCode: 1, Stderr: "Request entity too large: limit is 3145728"}
}

// lacksNamespace is the failure to make something in the namespace of a backend.
func lacksNamespace(op string) error {
	return &terraform.Error{Op: op, ExitCode: 1, Stderr: "it is forbidden: unable to create new content in namespace ns because it is being terminated"}
}

// changeUnsaved is an apply that changes the unsaved state.
func (r *attempt) changeUnsaved(t *testing.T, serial uint64, smaller bool) {
	t.Helper()

	if smaller {
		r.runner.pushErr, r.runner.state.Serial = nil, serial
	}

	text := fmt.Sprintf(`{"version": 4, "lineage": %q, "serial": %d, "resources": [{"mode": "managed", "type": "a", "name": "b", "instances": [{}]}]}`, ownLineage, serial)
	if err := os.WriteFile(r.runner.unsaved, []byte(text), 0o600); err != nil {
		t.Error(err)
	}
}

// expectRemembered expects the state of the supplied serial in the status.
func (r *attempt) expectRemembered(t *testing.T, reason string, serial uint64) {
	t.Helper()

	if got := workspace.Remembered(r.ws).Serial; got != int64(serial) {
		t.Errorf("%s\nwant the state that the apply has left in the status, serial %d, got %d", reason, serial, got)
	}
}

// TestUseUnsavedState ensures that a state which the backend does not take is changed where it is, if that may
// help, and that no failure to save it passes for success.
func TestUseUnsavedState(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason  string
		ws      *clusterv1beta1.Workspace
		plan    terraform.Plan
		pushErr error
		// smaller says that the apply has made the state smaller.
		smaller bool
		ran     []string
		err     string
	}{
		"Smaller":   {reason: "The module has changed.", ws: with(owner), plan: changes(), pushErr: tooLarge("state push"), smaller: true, ran: []string{"state push", "use unsaved state", "plan", "apply", "state push", "state pull"}},
		"Larger":    {reason: "The change does not help.", ws: with(owner), plan: changes(), pushErr: tooLarge("state push"), ran: []string{"state push", "use unsaved state", "plan", "apply", "state push"}, err: "set another backend in the ProviderConfig"},
		"Unchanged": {reason: "Nothing else tells that the state is not saved.", ws: with(owner), pushErr: tooLarge("state push"), ran: []string{"state push", "use unsaved state", "plan"}, err: "set another backend in the ProviderConfig"},
		"Forbidden": {reason: "The policies do not allow the change.", ws: with(owner, policies(xpv2.ManagementActionObserve, xpv2.ManagementActionCreate)), plan: changes(), pushErr: tooLarge("state push"), ran: []string{"state push", "use unsaved state", "plan"}, err: "set another backend"},
		"Outage":    {reason: "The backend may take it later.", ws: with(owner), pushErr: errors.New("boom"), ran: []string{"state push"}, err: "boom"},
		"Right":     {reason: "Others may work with the state in the backend.", ws: with(owner), pushErr: lacksNamespace("state push"), ran: []string{"state push"}, err: "errored.tfstate on host-0. It is saved when the backend takes it"},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r := newAttempt(t, tc.ws)
			// The failed run has made it later than the one in the backend.
			state := ownState()
			state.Serial += 2
			r.planned(tc.plan, state)
			r.runner.unsaved, r.runner.pushErr = filepath.Join(t.TempDir(), "errored.tfstate"), tc.pushErr
			r.runner.record = &runner.RunRecord{StateSummary: commonv1beta1.StateSummary{Lineage: ownLineage, Serial: 3}, Dir: "there"}
			r.runner.applying = func() { r.changeUnsaved(t, state.Serial+1, tc.smaller) }

			err := r.observeInConnect(t.Context(), r.ws)
			o, observeErr := r.Observe(t.Context(), r.ws)
			err = errors.Join(err, observeErr)

			if err == nil && !o.ResourceUpToDate {
				_, err = r.Update(t.Context(), r.ws)
			}

			if tc.err == "" != (err == nil) || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Errorf("%s\nwant an error with %q, got %v", tc.reason, tc.err, err)
			}

			if !slices.Equal(r.runner.ran, tc.ran) {
				t.Errorf("%s\nwant the runs %q, got %q", tc.reason, tc.ran, r.runner.ran)
			}

			if saved := r.runner.unsaved == ""; saved != tc.smaller {
				t.Errorf("%s\nwant the state saved: %t, got %t", tc.reason, tc.smaller, saved)
			}

			if slices.Contains(tc.ran, "apply") {
				r.expectRemembered(t, tc.reason, state.Serial+1)
			}

			// It says where the unsaved state is.
			if r.runner.record.Dir != "there" || r.runner.record.Serial != 3 {
				t.Errorf("%s\nwant the record of the run that could not save its state, got %+v", tc.reason, r.runner.record)
			}

			if tc.err == "" {
				return
			}

			// What the status has of the unsaved state does not prove that another instance has saved a later one.
			r.runner.ran, r.planner.unsaved.refused = nil, nil
			if err := r.planner.unsaved.saveState(t.Context(), r.ws); err == nil || !slices.Equal(r.runner.ran, []string{"state push"}) {
				t.Errorf("%s\nwant another attempt to save the state, got %q and error %v", tc.reason, r.runner.ran, err)
			}
		})
	}
}

// TestRetrySaveState ensures that the state of a run that has ended with its timeout is saved. Each
// case is the time that this takes.
func TestRetrySaveState(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		// left is the time until the timeout of the reconcile.
		left    time.Duration
		stopped bool
		err     error // Of the run.
		pushErr error
		want    time.Duration
	}{
		"Refused":     {reason: "The backend would refuse it again.", left: time.Hour, err: tooLarge("apply"), pushErr: tooLarge("state push")},
		"RefusedNow":  {reason: "The backend is back, and would refuse it again.", left: time.Hour, pushErr: tooLarge("state push")},
		"Saved":       {reason: "Only this state has the resources that the run has created.", left: -time.Second},
		"TimedOut":    {reason: "The backend that did not answer may come back.", left: -time.Second, pushErr: errors.New("boom"), want: minSaveTimeout},
		"TimesOut":    {reason: "Until its timeout, a reconcile can record its failure.", left: 90 * time.Second, pushErr: errors.New("boom"), want: 90 * time.Second},
		"Unavailable": {reason: "Other Workspaces need the worker.", left: time.Hour, pushErr: errors.New("boom"), want: saveTimeout},
		"Stopped":     {reason: "The instance ends.", left: time.Hour, pushErr: errors.New("boom"), stopped: true},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			synctest.Test(t, func(t *testing.T) {
				r := newAttempt(t, with(owner))
				r.runner.unsaved, r.runner.pushErr = filepath.Join(t.TempDir(), "errored.tfstate"), tc.pushErr

				if !tc.stopped {
					r.Runs.Stop = t.Context()
				}

				ctx, cancel := context.WithTimeout(t.Context(), tc.left)
				defer cancel()

				began := time.Now()

				err := r.planner.unsaved.retrySaveState(ctx, r.ws, cmp.Or(tc.err, errors.New("boom")))
				if remedy := strings.Contains(err.Error(), "errored.tfstate on host-0. It is too large"); remedy != (tc.err != nil) {
					t.Errorf("%s\nretrySaveState(...): want a remedy: %t, got %v", tc.reason, tc.err != nil, err)
				}

				if tc.err != nil && len(r.runner.ran) > 0 {
					t.Errorf("%s\nretrySaveState(...): want no run, got %q", tc.reason, r.runner.ran)
				}

				if took := time.Since(began); took != tc.want {
					t.Errorf("%s\nretrySaveState(...): want it to end after %s, got %s", tc.reason, tc.want, took)
				}

				if saved := r.runner.unsaved == ""; saved != (tc.pushErr == nil) {
					t.Errorf("%s\nretrySaveState(...): want the state saved: %t, got %t", tc.reason, tc.pushErr == nil, saved)
				}
			})
		})
	}
}
