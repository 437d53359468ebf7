// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"

	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// This file changes what the managed reconciler writes, and when.

// initialize sets the default of the external name. The managed reconciler writes a new resource
// three times before it creates anything: with its external name, with the finalizer, and with the
// annotation that creation begins. initialize and addFinalizer leave the first two to the third
// write. If the first reconcile has failed, the second one writes the external name.
func (c *connector) initialize(ctx context.Context, mg resource.Managed) error {
	again := mg.GetCondition(xpv2.TypeSynced).Status != corev1.ConditionUnknown

	if again || meta.WasDeleted(mg) || meta.FinalizerExists(mg, managed.FinalizerName) {
		return managed.NewNameAsExternalName(c.kube).Initialize(ctx, mg)
	}

	if meta.GetExternalName(mg) == "" {
		meta.SetExternalName(mg, mg.GetName())
	}

	return nil
}

// addFinalizer leaves its write to the managed reconciler if a creation follows.
func (c *connector) addFinalizer(ctx context.Context, o resource.Object) error {
	ws, ok := o.(workspace.Workspace)
	if r := c.records.Get(o); !ok || !r.Observed() || r.Observation.Exists || r.Observation.Awaiting != nil || !workspace.MayCreate(ws) {
		return resource.NewAPIFinalizer(c.kube, managed.FinalizerName).AddFinalizer(ctx, o)
	}

	meta.AddFinalizer(o, managed.FinalizerName)

	return nil
}

// reasonCannotUpdate is the reason of the managed reconciler when the API server refuses an update.
const reasonCannotUpdate event.Reason = "CannotUpdateManagedResource"

// removeFinalizer is the end of a deletion. It records an Event if the deletion leaves the infrastructure behind:
// the managed reconciler calls no Delete then, so that nothing else says so.
func (c *connector) removeFinalizer(ctx context.Context, o resource.Object) error {
	if err := resource.NewAPIFinalizer(c.kube, managed.FinalizerName).RemoveFinalizer(ctx, o); err != nil {
		if kerrors.IsConflict(err) {
			return err
		}

		// The managed reconciler records no Event.
		err = errors.Wrap(err, "nothing is left to do but to remove the finalizer, which failed")
		c.recorder.Event(o, event.Warning(reasonCannotUpdate, err))

		return err
	}

	if ws, ok := o.(workspace.Workspace); ok && !workspace.MayDelete(ws) && workspace.Remembered(ws).Resources > 0 {
		field := "spec.managementPolicies"
		if o, ok := ws.(resource.Orphanable); ok && o.GetDeletionPolicy() == xpv2.DeletionOrphan {
			field = "spec.deletionPolicy"
		}

		c.recorder.Event(ws, event.Normal(reasonStateKept, fmt.Sprintf("Nothing is destroyed, as %s says. What stays: %s, and the state of the Terraform workspace %q",
			field, workspace.Resources(workspace.Remembered(ws).Resources), workspace.TerraformWorkspace(ws))))
	}

	return nil
}

// updateCriticalAnnotations writes only the annotations that record the result of a creation. The
// updater of crossplane-runtime writes all annotations that the object had when the reconcile began,
// which restores those that a person removed or changed during an apply, such as the external name.
//
// Afterwards o has the metadata and the claim that the API server returned. The rest of its status
// stays: it is yet to be written. The client of the package statusclient ensures that.
func (c *connector) updateCriticalAnnotations(ctx context.Context, o client.Object) error {
	annotations := map[string]string{}

	for _, key := range []string{
		meta.AnnotationKeyExternalCreatePending,
		meta.AnnotationKeyExternalCreateSucceeded,
		meta.AnnotationKeyExternalCreateFailed,
	} {
		if value, ok := o.GetAnnotations()[key]; ok {
			annotations[key] = value
		}
	}

	// The UID makes the API server refuse the patch for another object of the same name.
	patch, _ := json.Marshal(map[string]any{"metadata": map[string]any{"uid": o.GetUID(), "annotations": annotations}}) // Strings always can be.

	return errors.Wrap(retry.OnError(retry.DefaultRetry, mayPass, func() error {
		return c.kube.Patch(ctx, o, client.RawPatch(types.MergePatchType, patch))
	}), "cannot update critical annotations")
}

// mayPass says whether a failed request may succeed when it is repeated.
func mayPass(err error) bool {
	return !errors.Is(err, context.Canceled) && !kerrors.IsNotFound(err) && !kerrors.IsInvalid(err)
}

// A managedClient is the client of the managed reconciler. It changes how that reconciler writes
// statuses and connection Secrets: it has no options for that.
type managedClient struct {
	client.Client

	cache     client.Reader
	connector *connector
}

// Create an object. What a Secret cannot hold is left out, and is the error: the API server would
// refuse the whole Secret, and name no output.
func (c managedClient) Create(ctx context.Context, o client.Object, opts ...client.CreateOption) error {
	s, ok := o.(*corev1.Secret)
	if !ok {
		return c.Client.Create(ctx, o, opts...)
	}

	data, refusal := publishable(s.Data)
	if data == nil {
		return refusal
	}

	s.Data = data
	if err := c.Client.Create(ctx, s, opts...); err != nil {
		return err
	}

	return refusal
}

// Patch an object. The patch of a Secret is a merge patch with all keys: see pass.toPublish. As in
// Create, what a Secret cannot hold is left out, and is the error.
//
// A failed patch of a Secret is repeated here. The publisher of crossplane-runtime would lose the
// failure: its first attempt reads the existing Secret into the object that is to be written, so
// that its second one finds no difference and reports success (resource.APIPatchingApplicator).
func (c managedClient) Patch(ctx context.Context, o client.Object, p client.Patch, opts ...client.PatchOption) error {
	s, ok := o.(*corev1.Secret)
	if !ok {
		return c.Client.Patch(ctx, o, p, opts...)
	}

	patch, err := p.Data(o)
	if err != nil {
		return err
	}

	patched := corev1.Secret{}
	if err := json.Unmarshal(patch, &patched); err != nil {
		return err
	}

	data, refusal := publishable(patched.Data)

	switch {
	case data == nil:
		return refusal
	case isImmutable(s) && len(data) > 0:
		return errors.New("the connection Secret is immutable: delete it, so that the provider makes another one, " + orPublishNothing)
	}

	patched.Data = data

	if patch, err = json.Marshal(patched); err != nil {
		return err
	}

	p = client.RawPatch(p.Type(), patch)

	err = retry.OnError(retry.DefaultRetry, mayPass, func() error { return c.Client.Patch(ctx, o, p, opts...) })
	if err != nil {
		return finalError{err}
	}

	return refusal
}

// A finalError is the error of a request that is not to be repeated by the publisher, which
// repeats a request if the innermost error comes from the API server.
type finalError struct{ err error }

func (e finalError) Error() string { return e.err.Error() }

// As finds the error of the API server, which Unwrap would show to the publisher.
func (e finalError) As(target any) bool { return errors.As(e.err, target) }

// Status returns a writer of statuses.
func (c managedClient) Status() client.SubResourceWriter {
	return managedStatusWriter{c.Client.Status(), c.cache, c.connector}
}

type managedStatusWriter struct {
	client.SubResourceWriter

	cache     client.Reader
	connector *connector
}

// Update a status, which ends a reconcile: only its condition Synced tells whether the outputs were published.
// The managed reconciler marks a resource as Creating after each creation, even a failed one: for most resources,
// that was only the request. An apply is complete when it ends.
func (w managedStatusWriter) Update(ctx context.Context, o client.Object, opts ...client.SubResourceUpdateOption) error {
	ws, ok := o.(workspace.Workspace)
	if !ok {
		return w.SubResourceWriter.Update(ctx, o, opts...)
	}

	switch {
	case isCreated(ws):
		ready(ws)
	case isCreationFailed(ws) && workspace.HasBegun(ws):
		applyFailed(ws)
	case isCreationFailed(ws):
		unavailable(ws, planNotApplied)
	}

	switch ws.GetCondition(xpv2.TypeSynced).Status {
	case corev1.ConditionTrue:
		w.connector.succeeded(ws)
	case corev1.ConditionFalse:
		w.explainFailure(ctx, ws)
	case corev1.ConditionUnknown:
	}

	served(ws)

	paused := ws.GetCondition(xpv2.TypeSynced).Reason == xpv2.ReasonReconcilePaused
	if paused {
		w.connector.notStalled(ws)
	}

	if synced := ws.GetCondition(xpv2.TypeSynced); synced.ObservedGeneration == 0 && synced.Status != corev1.ConditionUnknown {
		stamp(ws, synced)
	}

	if err := w.SubResourceWriter.Update(ctx, o, opts...); err != nil {
		w.reportRefused(ws, err)

		return err
	}

	w.connector.records.Reported(ws)

	if paused {
		// A person may mend the cause of a failure during the pause, and wants to see what has changed meanwhile.
		w.connector.records.ForgetResults(ws)
	}

	return nil
}

// reportRefused records an Event if the API server has refused a status: the managed reconciler only returns the error, so that the old
// status would be all that people see. Without an answer, there is no Event, either.
func (w managedStatusWriter) reportRefused(ws workspace.Workspace, err error) {
	if answer := kerrors.APIStatus(nil); errors.As(err, &answer) && !kerrors.IsConflict(err) && !kerrors.IsNotFound(err) {
		w.connector.recorder.Event(ws, event.Warning(reasonCannotUpdate, errors.Wrap(err, "cannot update the status, which is out of date")))
	}
}

// isCreationFailed says whether the first apply has failed. If it has certainly made nothing, the creation has not begun.
func isCreationFailed(ws workspace.Workspace) bool {
	return ws.GetCondition(xpv2.TypeReady).Reason == xpv2.ReasonCreating &&
		ws.GetCondition(xpv2.TypeSynced).Status == corev1.ConditionFalse &&
		ws.GetObservation().Plan != nil
}

// explainFailure makes the condition Synced begin with the cause. It records a failure of the managed reconciler.
func (w managedStatusWriter) explainFailure(ctx context.Context, ws workspace.Workspace) {
	neverReady(ws)

	synced := ws.GetCondition(xpv2.TypeSynced)

	text := causeOf(ws, synced.Message)
	if synced.Reason == xpv2.ReasonReconcilePaused && text == "" {
		text = workspace.WhyPaused(ws)
	}

	// The external client and its connector have recorded their own failures.
	if _, theirs := cutStep(synced.Message); !theirs && synced.Reason == xpv2.ReasonReconcileError {
		w.connector.recordFailure(ws, errors.New(text))
	}

	if text == synced.Message {
		return
	}

	synced.Message = text

	// The managed reconciler has replaced the condition, whose text differed from its own. The time
	// stays if the status does: with another time, each retry would write a status that says the same.
	was, ok := ws.DeepCopyObject().(workspace.Workspace)
	if ok && w.cache.Get(ctx, client.ObjectKeyFromObject(ws), was) == nil && was.GetUID() == ws.GetUID() {
		if c := was.GetCondition(xpv2.TypeSynced); c.Status == synced.Status {
			synced.LastTransitionTime = c.LastTransitionTime
		}
	}

	ws.SetConditions(synced)
}

// isCreated says whether everything was created and published.
func isCreated(ws workspace.Workspace) bool {
	return ws.GetCondition(xpv2.TypeReady).Reason == xpv2.ReasonCreating &&
		ws.GetCondition(xpv2.TypeSynced).Status == corev1.ConditionTrue &&
		ws.GetOwnership().CreationSucceeded != nil &&
		// Something else may have created a part of it since an earlier creation of this Workspace.
		ws.GetObservation().Plan == nil
}
