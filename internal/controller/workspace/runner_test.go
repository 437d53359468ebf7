// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"

	"github.com/crossplane-contrib/provider-terraform/internal/runner"
	"github.com/crossplane-contrib/provider-terraform/internal/statelock"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
)

// A fakeRunner returns the values that a test has put into it. It records the commands of the CLI
// that a runner.Runner would have run.
type fakeRunner struct {
	background []string // The programs that a run has started in the background.

	// state that exists. Destroy, PushState and DeleteWorkspace do not change it.
	state    *terraform.State
	stateErr error

	// latest is the state that State returns in place of state, unless it is nil.
	latest *terraform.State

	plan    *terraform.Plan
	planErr error

	emptyModule bool
	unread      error
	// configResources says that the ProviderConfig has resources.
	configResources bool

	// lockErr is the error of plans that lock the state, and locking how many there were.
	lockErr error
	locking int

	applied  *terraform.Applied
	applyErr error

	// stale is the plan that Apply makes because the state has changed. It is nil if the state has not.
	stale *terraform.Plan

	destroyed  int
	destroyErr error
	warned     terraform.Warnings

	// reinit says that Destroy has to initialize first.
	reinit bool

	// applying is called by Apply, and destroying by Destroy. They may be nil.
	applying, destroying func()

	backend runner.KubernetesBackend

	deleteErr, pushErr, closeErr, unlockErr error

	// pushed is what a push leaves in the backend with another lineage, or nil.
	pushed *terraform.State

	place    runner.StatePlace
	placeErr error

	// unsaved is the path of a state that a run could not save.
	unsaved string

	// record of the last run, nil if there is none.
	record    *runner.RunRecord
	recordErr error // of a write

	// failedRuns are the recorded runs that may have left a lock.
	failedRuns []statelock.Run

	incomplete error

	lacksVariables bool
	fetchErr       error
	remakes        bool
	effects        string

	// optional says that the state can be reached without the module, so that a missing module is
	// no error.
	optional bool
	leftOut  bool

	// bareErr is the error of State without the module.
	bareErr error

	// pulled is called after the state was read. It may be nil.
	pulled func()

	// ran are the commands, in their order.
	ran []string
}

func (r *fakeRunner) Plan(_ context.Context, lock bool) (*terraform.Plan, error) {
	r.ran = append(r.ran, "plan")

	if lock {
		r.locking++

		if r.lockErr != nil {
			return nil, r.lockErr
		}
	}

	if r.planErr != nil {
		return nil, r.planErr
	}

	return r.plan, nil
}

func (r *fakeRunner) Apply(_ context.Context, _ *terraform.Plan, again func(*terraform.Plan) error, _ func(terraform.Progress)) (*terraform.Applied, error) {
	r.ran = append(r.ran, "apply")

	if r.applying != nil {
		r.applying()
	}

	if r.stale != nil {
		if err := again(r.stale); err != nil {
			return nil, err
		}
	}

	return r.applied, r.applyErr
}

func (r *fakeRunner) Prepare(context.Context) error { return nil }

func (r *fakeRunner) Destroy(_ context.Context, again func() error, _ func(terraform.Progress)) (terraform.Destroyed, error) {
	r.ran = append(r.ran, "destroy")

	if r.reinit {
		if err := again(); err != nil {
			return terraform.Destroyed{}, err
		}
	}

	if r.destroying != nil {
		r.destroying()
	}

	return terraform.Destroyed{Summary: terraform.Summary{Destroy: r.destroyed}, Warnings: r.warned}, r.destroyErr
}

func (r *fakeRunner) Close() error { return r.closeErr }

func (r *fakeRunner) State(context.Context) (*terraform.State, error) {
	r.ran = append(r.ran, "state pull")
	if r.stateErr != nil && !r.leftOut {
		return nil, r.stateErr
	}

	if r.bareErr != nil && r.leftOut {
		return nil, r.bareErr
	}

	s := r.state
	if r.latest != nil {
		s = r.latest
	}

	if r.pulled != nil {
		r.pulled()
	}

	return s, nil
}

func (r *fakeRunner) PushState(ctx context.Context, _ string, adopt func(found *terraform.State) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}

	r.ran = append(r.ran, "state push")

	err := r.pushErr
	if err == nil && r.pushed != nil {
		err = adopt(r.pushed)
	}

	if err == nil {
		r.unsaved = ""
	}

	return err
}

func (r *fakeRunner) Unlock(context.Context, string) error {
	r.ran = append(r.ran, "force-unlock")

	return r.unlockErr
}

func (r *fakeRunner) DeleteWorkspace(context.Context) error {
	r.ran = append(r.ran, "workspace delete")
	if r.leftOut {
		return nil
	}

	return r.deleteErr
}

func (r *fakeRunner) StatePlace() (runner.StatePlace, error) { return r.place, r.placeErr }

func (r *fakeRunner) KubernetesBackend() runner.KubernetesBackend { return r.backend }

func (r *fakeRunner) RunRecord() (*runner.RunRecord, error) { return r.record, nil }

func (r *fakeRunner) WriteRunRecord(record runner.RunRecord) error {
	if r.recordErr != nil {
		return r.recordErr
	}

	r.record = &record

	return nil
}

func (r *fakeRunner) UnsavedState() (string, error) { return r.unsaved, nil }

func (r *fakeRunner) Background() []string { return r.background }

func (r *fakeRunner) FailedRuns() []statelock.Run { return r.failedRuns }

func (r *fakeRunner) WriteFailedRuns(_ context.Context, runs []statelock.Run, _ bool) error {
	if r.recordErr != nil {
		return r.recordErr
	}

	r.failedRuns = runs

	return nil
}

func (r *fakeRunner) UseUnsavedState(string) error {
	r.ran = append(r.ran, "use unsaved state")

	return nil
}

func (r *fakeRunner) UseBackend() {}

func (r *fakeRunner) Source() string { return "" }

func (r *fakeRunner) Incomplete() error { return r.incomplete }

func (r *fakeRunner) FetchError() error { return r.fetchErr }

func (r *fakeRunner) DestroyLacksVariables() bool { return r.lacksVariables }

func (r *fakeRunner) IsModuleEmpty(alone bool) (bool, error) {
	return r.emptyModule && (!alone || !r.configResources), nil
}

func (r *fakeRunner) CheckUnread(*terraform.State) error { return r.unread }

func (r *fakeRunner) CheckDestroy(*terraform.State) error { return r.unread }

func (r *fakeRunner) CLIVersion() string { return "OpenTofu 1.2.3" }

func (r *fakeRunner) ReadPlan(context.Context, *terraform.Plan) (*terraform.Reading, error) {
	return &terraform.Reading{Effects: []byte(r.effects), Text: []byte("text")}, nil
}

func (r *fakeRunner) WhyNewPlan() string {
	if r.remakes {
		return "it is a test"
	}

	return ""
}

func (r *fakeRunner) LeaveOutModule() bool {
	r.leftOut = r.optional

	return r.optional
}
