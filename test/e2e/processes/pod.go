// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package processes

import (
	"context"
	"os"
	"path/filepath"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/test/wait"
)

// retry is the time between two starts of a container that fails.
const retry = time.Second

// A pod that runs as processes.
type pod struct {
	Options

	api *corev1.Pod

	// dir has the volumes of the pod.
	dir string

	containers []*container
}

// run runs a pod until the context ends.
func (p *pod) run(ctx context.Context) {
	for p.prepare(ctx) != nil {
		// An object that the pod needs may come later.
		if wait.For(ctx, retry) != nil {
			return
		}
	}

	for _, c := range p.api.Spec.InitContainers {
		for !p.complete(ctx, c) {
			if wait.For(ctx, retry) != nil {
				return
			}
		}
	}

	for _, c := range p.api.Spec.Containers {
		p.containers = append(p.containers, &container{pod: p, api: c})
	}

	for wait.For(ctx, wait.Glance) == nil {
		for _, c := range p.containers {
			c.keep(ctx)
		}

		// The next round writes the status again.
		_ = p.writeStatus(ctx)
	}
}

// prepare assigns the pod to a node, which need not exist, and makes its credentials.
func (p *pod) prepare(ctx context.Context) error {
	if p.api.Spec.NodeName == "" {
		binding := &corev1.Binding{Target: corev1.ObjectReference{Kind: "Node", Name: "processes"}}
		if err := p.Client.SubResource("binding").Create(ctx, p.api, binding); err != nil {
			return err
		}

		p.api.Spec.NodeName = binding.Target.Name
	}

	if err := os.MkdirAll(p.dir, 0o700); err != nil {
		return err
	}

	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: p.api.GetNamespace(), Name: p.api.Spec.ServiceAccountName}}
	token := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: new(int64(time.Hour.Seconds()))}}

	if err := p.Client.SubResource("token").Create(ctx, account, token); err != nil {
		return err
	}

	return p.Kubeconfig(p.kubeconfig(), token.Status.Token)
}

// mount makes the volumes. Secrets may have changed since.
func (p *pod) mount(ctx context.Context) error {
	for _, v := range p.api.Spec.Volumes {
		if err := p.volume(ctx, v); err != nil {
			return err
		}
	}

	return nil
}

func (p *pod) kubeconfig() string { return filepath.Join(p.dir, "kubeconfig") }

// volume makes a volume. Credentials are in the kubeconfig instead.
func (p *pod) volume(ctx context.Context, v corev1.Volume) error {
	dir := filepath.Join(p.dir, v.Name)
	if err := os.MkdirAll(dir, 0o700); err != nil || v.Secret == nil {
		return err
	}

	secret := &corev1.Secret{}
	if err := p.Client.Get(ctx, client.ObjectKey{Namespace: p.api.GetNamespace(), Name: v.Secret.SecretName}, secret); err != nil {
		return err
	}

	for name, data := range secret.Data {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			return err
		}
	}

	return nil
}

// complete runs an init container and says whether it has succeeded.
func (p *pod) complete(ctx context.Context, api corev1.Container) bool {
	c := &container{pod: p, api: api}
	if c.start(ctx) != nil {
		return false
	}

	select {
	case <-c.process.Ended():
		return c.process.How() == "exit status 0"
	case <-ctx.Done():
		c.process.Kill()

		return false
	}
}

// writeStatus writes the status of the pod, if it has changed.
func (p *pod) writeStatus(ctx context.Context) error {
	next := p.api.DeepCopy()
	next.Status.Phase, next.Status.PodIP = corev1.PodRunning, "127.0.0.1"
	next.Status.ContainerStatuses = nil

	ready := corev1.ConditionTrue

	for _, c := range p.containers {
		s := c.status(ctx)
		next.Status.ContainerStatuses = append(next.Status.ContainerStatuses, s)

		if !s.Ready {
			ready = corev1.ConditionFalse
		}
	}

	next.Status.Conditions = nil
	for _, kind := range []corev1.PodConditionType{corev1.PodInitialized, corev1.ContainersReady, corev1.PodReady} {
		next.Status.Conditions = append(next.Status.Conditions, corev1.PodCondition{Type: kind, Status: ready})
	}

	if err := p.Client.Status().Patch(ctx, next, client.MergeFrom(p.api)); err != nil {
		return err
	}

	p.api = next

	return nil
}

// stop ends the processes of the pod, and then the pod.
func (p *pod) stop(ctx context.Context) {
	for _, c := range p.containers {
		if c.process != nil {
			// It may have failed before.
			_ = c.process.Terminate(grace(p.api))
		}
	}

	err := p.Client.Delete(ctx, p.api, client.GracePeriodSeconds(0), client.Preconditions{UID: new(p.api.GetUID())})
	_ = errors.Join(err, os.RemoveAll(p.dir))
}
