// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package processes runs pods without containers, as processes of this machine. It stands in for a kubelet and a
// scheduler where none can run. All pods share the network of the machine, and no Service has an address.
package processes

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-terraform/test/wait"
)

// Options of a kubelet.
type Options struct {
	// Client may do anything.
	Client client.Client

	// Kubeconfig writes a file with which a client has the rights of a token.
	Kubeconfig func(path, token string) error

	// Dir has volumes, and Logs the output of processes: NAMESPACE_POD_UID/CONTAINER/RESTARTS.log.
	Dir, Logs string

	// Programs by the repository of an image, without the registry.
	Programs map[string]Program
}

// A Program stands in for an image.
type Program struct {
	// Path of the program, and Env what its environment has in addition to that of the container.
	Path string
	Env  []string

	// Dirs are paths in the container, with the variables that set other ones.
	Dirs map[string]string

	// Ports are those of the container, with settings for other ones, as "PORT=%d".
	Ports map[int32]string
}

// A Kubelet runs all pods of a cluster.
type Kubelet struct {
	options Options

	cancel context.CancelFunc
	ended  chan struct{}
	wg     sync.WaitGroup
}

// Start starts a kubelet. The caller has to stop it.
func Start(ctx context.Context, o Options) *Kubelet {
	// It outlives the start.
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	k := &Kubelet{options: o, cancel: cancel, ended: make(chan struct{})}

	go func() {
		defer close(k.ended)

		k.run(ctx)
	}()

	return k
}

// Stop kills all processes.
func (k *Kubelet) Stop() {
	k.cancel()
	<-k.ended
	k.wg.Wait()
}

// run starts and ends pods until the context ends.
func (k *Kubelet) run(ctx context.Context) {
	ends := map[types.UID]context.CancelFunc{}

	for wait.For(ctx, wait.Glance) == nil {
		list := &corev1.PodList{}
		if err := k.options.Client.List(ctx, list); err != nil {
			continue
		}

		gone := maps.Clone(ends)

		for i := range list.Items {
			p := &list.Items[i]
			if p.GetDeletionTimestamp() != nil {
				continue
			}

			delete(gone, p.GetUID())

			if ends[p.GetUID()] == nil {
				ends[p.GetUID()] = k.start(ctx, p)
			}
		}

		for uid, end := range gone {
			end()
			delete(ends, uid)
		}
	}
}

// start runs a pod until the returned function is called.
func (k *Kubelet) start(ctx context.Context, api *corev1.Pod) context.CancelFunc {
	ctx, end := context.WithCancel(ctx)
	p := &pod{Options: k.options, api: api, dir: filepath.Join(k.options.Dir, string(api.GetUID()))}

	k.wg.Go(func() {
		p.run(ctx)
		p.stop(context.WithoutCancel(ctx))
	})

	return end
}

// logs is the directory of the logs of a container.
func (o Options) logs(p *corev1.Pod, container string) string {
	return filepath.Join(o.Logs, fmt.Sprintf("%s_%s_%s", p.GetNamespace(), p.GetName(), p.GetUID()), container)
}

// grace is how long the processes of a pod may take to end.
func grace(p *corev1.Pod) time.Duration {
	if s := p.Spec.TerminationGracePeriodSeconds; s != nil {
		return time.Duration(*s) * time.Second
	}

	return wait.Soon
}
