// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"context"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	pkgv1 "github.com/crossplane/crossplane/apis/v2/pkg/v1"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	"github.com/crossplane-contrib/provider-terraform/internal/shard"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
	"github.com/crossplane-contrib/provider-terraform/test/wait"
)

// providerName is the name of the Provider in the examples.
const providerName = "provider-terraform"

// expectPackage waits until Crossplane runs the supplied version of the package.
func (s *Story) expectPackage(ctx context.Context, ref string) error {
	p := &pkgv1.Provider{}

	return errors.Wrapf(wait.Until(ctx, wait.Patience, func() error {
		if err := s.Client.Get(ctx, client.ObjectKey{Name: providerName}, p); err != nil {
			return err
		}

		// The conditions may be those of the version before.
		if p.Status.CurrentIdentifier != ref {
			return errors.Errorf("its current version is %q", p.Status.CurrentIdentifier)
		}

		for _, t := range []xpv2.ConditionType{pkgv1.TypeInstalled, pkgv1.TypeHealthy} {
			if c := p.GetCondition(t); c.Status != corev1.ConditionTrue {
				return errors.Errorf("%s is %s: %s", t, c.Status, c.Message)
			}
		}

		return nil
	}), "Provider with the package %q", ref)
}

// instances returns the pods of all instances that are not in deletion.
func (s *Story) instances(ctx context.Context) ([]corev1.Pod, error) {
	l := &corev1.PodList{}
	if err := s.Client.List(ctx, l, client.InNamespace(system), client.MatchingLabels(ours())); err != nil {
		return nil, err
	}

	var pods []corev1.Pod

	for _, p := range l.Items {
		if p.GetDeletionTimestamp() == nil {
			pods = append(pods, p)
		}
	}

	return pods, nil
}

// expectInstances waits until there are as many instances as supplied, all of them are ready and run
// the image of the supplied version, and no others are left.
func (s *Story) expectInstances(ctx context.Context, want int, ref string) error {
	return errors.Wrapf(wait.Until(ctx, wait.Patience, func() error {
		if err := s.rolledOut(ctx); err != nil {
			return err
		}

		l := &corev1.PodList{}
		if err := s.Client.List(ctx, l, client.InNamespace(system), client.MatchingLabels(ours())); err != nil {
			return err
		}

		if len(l.Items) != want {
			return errors.Errorf("there are %d pods", len(l.Items))
		}

		for _, p := range l.Items {
			if p.GetDeletionTimestamp() != nil || !isReady(p) {
				return errors.Errorf("pod %q is not ready: %s", p.GetName(), describe(p))
			}

			if got := p.Spec.Containers[0].Image; got != ref && !strings.HasPrefix(got, ref+"@") {
				return errors.Errorf("pod %q has the image %q", p.GetName(), got)
			}
		}

		return nil
	}), "want %d instances of %q", want, ref)
}

// rolledOut returns an error if a Deployment of instances has pods of an earlier specification.
func (s *Story) rolledOut(ctx context.Context) error {
	l := &appsv1.DeploymentList{}
	if err := s.Client.List(ctx, l, client.InNamespace(system)); err != nil {
		return err
	}

	for _, d := range l.Items {
		if !ours().AsSelector().Matches(labels.Set(d.Spec.Template.GetLabels())) {
			continue
		}

		if st := d.Status; st.ObservedGeneration < d.GetGeneration() || st.Replicas != ptr.Deref(d.Spec.Replicas, 1) || st.UpdatedReplicas != st.Replicas {
			return errors.Errorf("Deployment %q has %d replicas, %d of them updated", d.GetName(), st.Replicas, st.UpdatedReplicas)
		}
	}

	return nil
}

func isReady(p corev1.Pod) bool {
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}

	return false
}

// describe says why a pod may not be ready.
func describe(p corev1.Pod) string {
	words := []string{string(p.Status.Phase)}

	for _, c := range p.Status.Conditions {
		if c.Status != corev1.ConditionTrue && c.Message != "" {
			words = append(words, c.Message)
		}
	}

	for _, c := range p.Status.ContainerStatuses {
		if w := c.State.Waiting; w != nil {
			words = append(words, w.Reason, w.Message)
		}

		if t := c.LastTerminationState.Terminated; t != nil {
			words = append(words, "ended before:", t.Reason)
		}
	}

	return strings.Join(words, " ")
}

// instance returns the pod of an instance.
func (s *Story) instance(ctx context.Context, name string) (*corev1.Pod, error) {
	p := &corev1.Pod{}

	return p, s.Client.Get(ctx, client.ObjectKey{Namespace: system, Name: name}, p)
}

// askAgain is the interval of requests to reconcile a Workspace that is not served by the right instance yet.
const askAgain = 2 * time.Second

// expectServed waits until every Workspace is claimed by the instance that its labels select, and
// that instance runs.
func (s *Story) expectServed(ctx context.Context) error {
	return s.expectServedWith(ctx, func([]map[string]string) error { return nil })
}

// expectServedWith waits as expectServed does, until the labels of all Workspaces pass a check, too. It requests
// reconciles: an instance claims only what it works on.
func (s *Story) expectServedWith(ctx context.Context, check func(labels []map[string]string) error) error {
	asked := time.Time{}

	return wait.Until(ctx, wait.Patience, func() error {
		var labels []map[string]string

		err := s.each(ctx, func(ws subject) error {
			labels = append(labels, ws.GetLabels())

			err := s.served(ctx, ws)
			if err == nil || time.Since(asked) < askAgain {
				return err
			}

			asked = time.Now()

			return errors.Join(err, s.request(ctx, ws))
		})
		if err != nil {
			return err
		}

		return check(labels)
	})
}

// request requests a reconcile of a Workspace.
func (s *Story) request(ctx context.Context, ws subject) error {
	before, ok := ws.DeepCopyObject().(client.Object)
	if !ok {
		return errors.Errorf("%T is no object", ws)
	}

	meta.AddAnnotations(ws, map[string]string{meta.AnnotationKeyReconcileRequestedAt: time.Now().Format(time.RFC3339Nano)})

	return s.Client.Patch(ctx, ws.Workspace, client.MergeFrom(before))
}

// served returns an error unless the Workspace is claimed by the instance that its labels select,
// and that instance runs.
func (s *Story) served(ctx context.Context, ws workspace.Workspace) error {
	claim := ws.GetOwnership().Claim
	if claim == nil {
		return errors.New("it has no claim")
	}

	want, err := shard.Parse(ws.GetLabels()[shard.LabelKey])
	if err != nil {
		return err
	}

	if !want.Sharded() {
		want = shard.CatchAll()
	}

	if claim.Instance != want.Instance() {
		return errors.Errorf("it is claimed by instance %q, want %q", claim.Instance, want.Instance())
	}

	l := &coordinationv1.Lease{}
	if err := s.Client.Get(ctx, client.ObjectKey{Namespace: claim.Namespace, Name: claim.Lease}, l); err != nil {
		return err
	}

	if holder := ptr.Deref(l.Spec.HolderIdentity, ""); holder != claim.Holder {
		return errors.Errorf("it is claimed by %q, and its Lease is held by %q", claim.Holder, holder)
	}

	p, err := s.instance(ctx, hostOf(claim.Holder))
	if err != nil {
		return err
	}

	if !isReady(*p) || p.GetDeletionTimestamp() != nil {
		return errors.Errorf("it is claimed by %q, which is not ready", claim.Holder)
	}

	return nil
}

// hostOf returns the host of an instance, which is the name of its pod.
func hostOf(holder string) string {
	if at := strings.LastIndex(holder, "_"); at >= 0 {
		return holder[:at]
	}

	return holder
}

// only returns the instance of a shard.
func (s *Story) only(ctx context.Context, name string) (*corev1.Pod, error) {
	pods, err := s.instances(ctx)
	if err != nil {
		return nil, err
	}

	for _, p := range pods {
		if p.GetLabels()[shard.LabelKey] == name {
			return &p, nil
		}
	}

	return nil, errors.Errorf("there is no instance of %q", name)
}
