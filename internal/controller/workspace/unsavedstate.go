// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"
	"os"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/regular"
	"github.com/crossplane-contrib/provider-terraform/internal/runner"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/internal/workdir"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

const (
	reasonStateSaved      event.Reason = "SavedState"
	reasonStateSuperseded event.Reason = "UnsavedState"
)

// A run that could not save its state repeats the attempt at this interval, until this timeout or
// that of the reconcile, but at least for minSaveTimeout unless the instance ends. Later reconciles
// try again.
const (
	saveInterval   = 2 * time.Second
	saveTimeout    = 2 * time.Minute
	minSaveTimeout = time.Minute
)

// unsavedState is a state that a run could not save, if there is one, and the record of that run.
type unsavedState struct {
	*pass

	cli   unsavedCLI
	state stateReader
	runs  runRecords
	locks *locker

	// refused is the error of saveState after which the runs use the unsaved state, or nil.
	refused error
}

// An unsavedCLI has the unsaved state in the working directory.
type unsavedCLI interface {
	UnsavedState() (string, error)
	UseUnsavedState(path string) error
	UseBackend()
	PushState(ctx context.Context, path string, adopt func(found *terraform.State) error) error
}

// runRecords has the record of the last run that was about to change the state.
type runRecords interface {
	recordReader

	WriteRunRecord(record runner.RunRecord) error
}

// saveState saves a state that an earlier run could not save, for example because its backend was
// unavailable. Only this state records the resources that the run has created.
//
// If another instance has worked on the Workspace since, with another disk, the current state has
// other contents and must not be overwritten. Then saveState renames the unsaved state, and records
// an Event with its path.
func (u *unsavedState) saveState(ctx context.Context, ws workspace.Workspace) error {
	path, err := u.cli.UnsavedState()
	if err != nil || path == "" {
		return err
	}

	superseded, err := u.superseded(ctx, ws)
	if err != nil {
		return err
	}

	if !superseded {
		lineage := ""
		if s := readUnsaved(path); s != nil {
			lineage = s.Lineage
		}

		err := u.locks.withLock(ctx, ws, func() error {
			return u.cli.PushState(ctx, path, func(found *terraform.State) error { return u.adopt(ctx, ws, lineage, found) })
		})

		switch {
		case err == nil:
			u.recorder.Event(ws, event.Normal(reasonStateSaved, "Saved the state that an earlier run could not save"))

			// Without this, an older Workspace that may have the same backend, and whose state is not known, would be in the way.
			if workspace.HasBegun(ws) && workspace.Knows(ws, lineage) && lineage != "" {
				workspace.Own(ws, lineage)
			}

			return nil
		case terraform.IsUnrelatedState(err):
			return errors.Errorf("%w. The state that an earlier run could not save is kept in %s on %s. Correct the backend, or move that file away if the state of the backend is the right one", err, path, u.host())
		case !terraform.IsNewerState(err):
			return u.withRemedy(errors.Wrap(err, "cannot save the state that an earlier run could not save"))
		}
	}

	aside := path + workdir.SupersededSuffix + time.Now().UTC().Format("20060102T150405")
	if err := os.Rename(path, aside); err != nil {
		return errors.Wrap(err, "cannot put aside a state that was not saved")
	}

	u.recorder.Event(ws, event.Warning(reasonStateSuperseded, errors.Errorf("the state that an earlier run could not save is out of date, because another instance has worked on the Workspace since: "+
		"what only that run has created is listed in %s on %s and nowhere else. Import it, or remove it by hand", aside, u.host())))

	return nil
}

// adopt records that the unsaved state of the supplied lineage has another one in the backend. Without this, it would count as lost. The
// status goes first: if the record is not written, the file is put aside, although it is saved.
func (u *unsavedState) adopt(ctx context.Context, ws workspace.Workspace, lineage string, found *terraform.State) error {
	if workspace.HasBegun(ws) && workspace.Knows(ws, lineage) {
		workspace.Own(ws, found.Lineage)
	}

	workspace.SetState(ws, new(summarizeState(found)))

	if err := u.kube.Status().Update(ctx, ws); err != nil {
		return errors.Wrap(err, "cannot record the lineage that the state got when it was saved")
	}

	return u.writeUse(found)
}

// readUnsaved returns the state in a file, or nil, for example if it is encrypted.
func readUnsaved(path string) *terraform.State {
	data, err := regular.Read(path, maxKubernetesState)
	if err != nil {
		return nil
	}

	s, _ := terraform.ParseState(data)

	return s
}

// saveOrUseState saves the state, too. If the backend will never take it, the runs use it where it is: a
// change of the module may make it smaller, and a deletion destroys what it has.
func (u *unsavedState) saveOrUseState(ctx context.Context, ws workspace.Workspace) error {
	err := u.saveState(ctx, ws)
	if !terraform.IsStateTooLarge(err) && (!meta.WasDeleted(ws) || !terraform.LacksNamespace(err)) {
		return err
	}

	path, pathErr := u.cli.UnsavedState()
	if pathErr != nil || path == "" {
		return errors.Join(err, pathErr)
	}

	u.refused = err

	return u.cli.UseUnsavedState(path)
}

// saveUsedState saves the state if the runs have used and changed it where it was. From here on they use
// that in the backend.
func (u *unsavedState) saveUsedState(ctx context.Context, ws workspace.Workspace) error {
	if u.refused == nil {
		return nil
	}

	u.useBackend()

	return u.saveState(ctx, ws)
}

func (u *unsavedState) useBackend() {
	u.refused = nil
	u.cli.UseBackend()
}

// withRemedy adds to a failure to save a state where the state is, and what a person can do, if that
// failure does not pass.
func (u *unsavedState) withRemedy(err error) error {
	path, pathErr := u.cli.UnsavedState()
	if pathErr != nil || path == "" || !terraform.IsStateRefused(err) {
		return err
	}

	remedy := "It is saved when the backend takes it"
	if terraform.IsStateTooLarge(err) {
		remedy = "It is too large for its backend: change the module so that it becomes smaller, or set another backend in the ProviderConfig, where it is then saved"
	}

	return errors.Errorf("%w. The state is kept in %s on %s. %s", err, path, u.host(), remedy)
}

// mayShrink returns the refusal of the unsaved state that the runs use, unless the plan may make it smaller.
func (u *unsavedState) mayShrink(ws workspace.Workspace, p *terraform.Plan) error {
	if u.refused != nil && (!p.Changes || !workspace.MayUpdate(ws)) {
		return u.refused
	}

	return u.recordUse(p.Prior)
}

// recordUse records the unsaved state that the runs use, before the status may have it. The rest of the record
// stays: where that state is, and which one is in the backend.
func (u *unsavedState) recordUse(s *terraform.State) error {
	if u.refused == nil {
		return nil
	}

	return u.writeUse(s)
}

func (u *unsavedState) writeUse(s *terraform.State) error {
	record, err := u.runs.RunRecord()
	if err != nil {
		return err
	}

	if record == nil {
		record = &runner.RunRecord{}
	}

	record.Used = new(summarizeState(s))

	return u.runs.WriteRunRecord(*record)
}

// superseded says whether the state may have been changed since the run that could not save it.
func (u *unsavedState) superseded(ctx context.Context, ws workspace.Workspace) (bool, error) {
	prior, err := u.runs.RunRecord()
	if err != nil {
		return false, err
	}

	other := u.ServedByOtherBefore(ws)

	switch {
	case prior == nil && other:
		return true, nil
	// The existing provider made the run. It leaves such a state where it is, and goes on with the
	// state in the backend.
	case prior == nil:
		current, err := u.state.State(ctx)

		return err == nil && !current.Empty(), err
	// The previous owner was an incarnation of this instance. Of an unsharded instance, which
	// claims nothing, this is only assumed: a shard may have served the Workspace in between. An
	// instance saves a state before it observes another one, or uses it, so that a later state in the
	// status is the observation of another instance.
	case !other && isOfOther(workspace.Remembered(ws), prior):
		return true, nil
	// No standby, which has another disk, was the last to serve the Workspace.
	case !other && u.sameDisk(ws, prior.Host):
		return false, nil
	// This process made the run, and has served the Workspace ever since.
	case prior.Taken.Equal(u.predecessors(ws).Until):
		return false, nil
	}

	current, err := u.state.State(ctx)
	if err != nil {
		return false, err
	}

	now := summarizeState(current)
	same := now.Lineage == prior.Lineage && now.Serial == prior.Serial

	// Some backends make a state when they are read.
	return !same && (prior.Lineage != "" || !current.Empty()), nil
}

// sameDisk says whether the last incarnation of this instance that served a Workspace had the disk of
// the run on the supplied host: it was on that host, which may be another one with the same volume,
// or it is this host.
func (u *unsavedState) sameDisk(ws workspace.Workspace, host string) bool {
	hosts := u.predecessors(ws).Hosts

	return host == "" || len(hosts) == 0 || hosts[0] == host || hosts[0] == u.host()
}

// isOfOther says whether a state in the status is later than those that this instance has recorded.
func isOfOther(s commonv1beta1.StateSummary, r *runner.RunRecord) bool {
	return isLater(s, r.StateSummary) && (r.Used == nil || isLater(s, *r.Used))
}

// isLater says whether a state is a later version of another one, or has replaced it.
func isLater(s, than commonv1beta1.StateSummary) bool {
	if s.Lineage == than.Lineage {
		return s.Serial > than.Serial
	}

	return s.Lineage != ""
}

// remember writes the state that an apply could not save to the status. An instance with another disk would create everything in it
// again: so it finds that the state is lost. The record of the run gets it first, or this instance would take the state in the
// status for that of another one.
func (u *unsavedState) remember(ctx context.Context, ws workspace.Workspace) {
	path, err := u.cli.UnsavedState()
	if err != nil || path == "" {
		return
	}

	s := readUnsaved(path)
	if s == nil || u.writeUse(s) != nil {
		return
	}

	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), minSaveTimeout)
	defer cancel()

	u.showLeft(ws, s)

	_ = u.kube.Status().Update(ctx, ws) // The managed reconciler writes it, too, unless this process dies.
}

// saveOrReport does what is left to do after a run that began with the supplied state and failed with err: it tries to save
// the state that the run could not save. It reports the state in the backend, and returns it if it is known, unless there is
// still one that the backend does not have: that one is newer. It also returns err, with what a person can do.
func (u *unsavedState) saveOrReport(ctx context.Context, ws workspace.Workspace, before *terraform.State, err error) (*terraform.State, error) {
	err = u.retrySaveState(ctx, ws, err)

	if path, pathErr := u.cli.UnsavedState(); pathErr == nil && path != "" {
		return nil, err
	}

	return u.reportFailed(ctx, ws, u.state, before, err), err
}

// retrySaveState keeps trying to save a state that the run that failed with err could not save, unless the
// backend has refused it. The next instance of the Workspace may not have this disk. The context may have
// ended: a backend that does not answer is a reason for both. It returns err, with what a person can do.
func (u *unsavedState) retrySaveState(ctx context.Context, ws workspace.Workspace, err error) error {
	u.useBackend()

	if terraform.IsStateRefused(err) {
		return u.withRemedy(err)
	}

	timeout := saveTimeout
	if deadline, ok := ctx.Deadline(); ok {
		timeout = max(min(timeout, time.Until(deadline)), minSaveTimeout)
	}

	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
	defer cancel()
	defer context.AfterFunc(u.Runs.Stop, cancel)()

	// The next reconcile checks the result, too.
	_ = wait.PollUntilContextCancel(ctx, saveInterval, true, func(ctx context.Context) (bool, error) {
		saveErr := u.saveState(ctx, ws)

		return saveErr == nil || terraform.IsStateRefused(saveErr) || terraform.IsUnrelatedState(saveErr), nil
	})

	return err
}

// writeRunRecord records which state of the Workspace a run is about to change. replaced is the start
// of a creation on this disk that the status may still have, or nil.
func (u *unsavedState) writeRunRecord(ws workspace.Workspace, s *terraform.State, replaced *metav1.Time) error {
	if u.refused != nil {
		return u.recordUse(s)
	}

	return u.runs.WriteRunRecord(runner.RunRecord{
		StateSummary:    summarizeState(s),
		Taken:           u.predecessors(ws).Until,
		Host:            u.host(),
		CreationStarted: ws.GetOwnership().CreationStarted,
		Replaced:        replaced,
	})
}
