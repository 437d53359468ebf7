// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/runner"
	"github.com/crossplane-contrib/provider-terraform/internal/statelock"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
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

			if err := r.saveState(t.Context(), r.ws); err != nil {
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

// TestRetrySaveState ensures that the state of a run that has ended with its timeout is saved. Each
// case is the time that this takes.
func TestRetrySaveState(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		// left is the time until the timeout of the reconcile.
		left    time.Duration
		stopped bool
		pushErr error
		want    time.Duration
	}{
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

				r.retrySaveState(ctx, r.ws)

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
