// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/test/wait"
)

// drained evicts every pod, as kubectl drain does. The PodDisruptionBudget lets one instance go at a
// time. The next one may go when a node takes the replacement of the first one: the only node of
// this cluster takes pods again then.
func (s *Story) drained(ctx context.Context) error {
	all := &corev1.PodList{}
	if err := s.Client.List(ctx, all, client.InNamespace(system)); err != nil {
		return err
	}

	instances, err := s.instances(ctx)
	if err != nil {
		return err
	}

	if len(instances) < 2 {
		return errors.Errorf("want several instances, got %d", len(instances))
	}

	if err := s.cordon(ctx, true); err != nil {
		return err
	}

	if err := s.expectEvicted(ctx, &instances[0]); err != nil {
		return err
	}

	if err := s.evict(ctx, &instances[1]); !kerrors.IsTooManyRequests(err) {
		return errors.Errorf("want the PodDisruptionBudget to keep the second instance, got %v", err)
	}

	if err := s.cordon(ctx, false); err != nil {
		return err
	}

	for _, p := range slices.Concat(instances[1:], all.Items) {
		if err := s.expectEvicted(ctx, &p); err != nil {
			return err
		}
	}

	for _, p := range all.Items {
		if err := s.expectGone(ctx, &p); err != nil {
			return err
		}
	}

	return s.expectInstances(ctx, len(instances), s.first)
}

// cordon sets whether the nodes take no new pods.
func (s *Story) cordon(ctx context.Context, unschedulable bool) error {
	nodes := &corev1.NodeList{}
	if err := s.Client.List(ctx, nodes); err != nil {
		return err
	}

	patch := `{"spec":{"unschedulable":true}}`
	if !unschedulable {
		patch = `{"spec":{"unschedulable":null}}`
	}

	for _, n := range nodes.Items {
		if err := s.Client.Patch(ctx, &n, client.RawPatch(types.MergePatchType, []byte(patch))); err != nil {
			return err
		}
	}

	return nil
}

// evict asks for the eviction of a pod. The API server refuses it with 429 Too Many Requests if a
// PodDisruptionBudget does not allow it.
func (s *Story) evict(ctx context.Context, p *corev1.Pod) error {
	uid := p.GetUID()

	return s.Client.SubResource("eviction").Create(ctx, p, &policyv1.Eviction{
		ObjectMeta:    metav1.ObjectMeta{Namespace: p.GetNamespace(), Name: p.GetName()},
		DeleteOptions: &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}},
	})
}

// expectEvicted asks for the eviction of a pod until it is allowed.
func (s *Story) expectEvicted(ctx context.Context, p *corev1.Pod) error {
	return errors.Wrapf(wait.Until(ctx, wait.Patience, func() error { return client.IgnoreNotFound(s.evict(ctx, p)) }), "cannot evict pod %q", p.GetName())
}
