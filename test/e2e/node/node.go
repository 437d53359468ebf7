// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package node runs a Kubernetes node with all that belongs to it: a control plane, the controllers,
// a scheduler, a network, a container runtime and a registry. It needs a sandbox.
package node

import (
	"context"
	"os"
	"path/filepath"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/test/controlplane"
	"github.com/crossplane-contrib/provider-terraform/test/e2e/processes"
	"github.com/crossplane-contrib/provider-terraform/test/process"
	"github.com/crossplane-contrib/provider-terraform/test/wait"
)

const (
	// name of the node.
	name = "node"

	// address of the node. Clients of a registry speak plain HTTP with private addresses.
	address = "10.123.0.1"

	// pods is the range of the addresses of pods.
	pods = "10.124.0.0/24"
)

// Options of a node.
type Options struct {
	// ControlPlane, Node, Containerd and CNI are directories with programs.
	ControlPlane, Node, Containerd, CNI string

	// Pause is the path of the program of the first container of each pod.
	Pause string

	// Dir is a directory for files, and Logs one for the output of the programs. The output of containers
	// is in /var/log of the sandbox.
	Dir, Logs string

	// Cgroup is the name of the cgroup of all pods. It has to exist.
	Cgroup string

	// Scheme has the kinds of the client.
	Scheme *runtime.Scheme
}

// A Node of Kubernetes, the only one of its cluster.
type Node struct {
	// Config of clients that may do anything, and Kubeconfig the path of a file with the same.
	Config     *rest.Config
	Kubeconfig string

	// Client may do anything.
	Client client.WithWatch

	// Registry is the address of a registry for images and packages. Its name in references contains
	// the port.
	Registry string

	options   Options
	plane     *controlplane.ControlPlane
	processes []*process.Process
	keeper    *keeper

	// processesOfPods is nil if pods have containers.
	processesOfPods *processes.Kubelet
}

// Start starts a node, and waits until it is ready. The caller has to stop it.
func Start(ctx context.Context, o Options) (*Node, error) {
	n := &Node{options: o}

	if err := n.start(ctx); err != nil {
		return nil, errors.Join(errors.Wrap(err, "cannot start the node"), n.Stop())
	}

	return n, nil
}

func (n *Node) start(ctx context.Context) error {
	if err := network(ctx); err != nil {
		return err
	}

	if err := n.serve(ctx, registryAddress); err != nil {
		return err
	}

	if err := n.pushPause(ctx); err != nil {
		return err
	}

	if err := n.configure(); err != nil {
		return err
	}

	// Meanwhile the control plane starts.
	if err := n.run(filepath.Join(n.options.Containerd, "containerd"), "--config="+n.path(containerdFile)); err != nil {
		return err
	}

	if err := n.startControlPlane(ctx, address+":6443"); err != nil {
		return err
	}

	for _, p := range n.programs() {
		if err := n.run(filepath.Join(n.options.Node, p[0]), p[1:]...); err != nil {
			return err
		}
	}

	n.keeper = keep(ctx, keptLogs)

	return n.ready(ctx)
}

func (n *Node) startControlPlane(ctx context.Context, server string) error {
	dir := n.path("controlplane")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}

	var err error
	if n.plane, err = controlplane.StartForNodes(ctx, dir, n.options.ControlPlane, server, n.log("controlplane")); err != nil {
		return err
	}

	n.Config, n.Kubeconfig = n.plane.Config(), n.plane.Kubeconfig
	n.Client, err = client.NewWithWatch(n.Config, client.Options{Scheme: n.options.Scheme})

	return err
}

// controllers returns the command of the controller manager.
func (n *Node) controllers() []string {
	return []string{
		"kube-controller-manager", "--kubeconfig=" + n.Kubeconfig, "--leader-elect=false", "--bind-address=127.0.0.1",
		"--service-account-private-key-file=" + n.plane.Key, "--root-ca-file=" + n.plane.CA,
	}
}

// programs returns the commands of the programs that need the API server.
func (n *Node) programs() [][]string {
	kubeconfig := "--kubeconfig=" + n.Kubeconfig

	return [][]string{
		// It creates the default directory.
		append(n.controllers(), "--flex-volume-plugin-dir=/var/lib/kubelet/volume-plugins"),
		{"kube-scheduler", kubeconfig, "--leader-elect=false", "--bind-address=127.0.0.1"},
		{
			"kube-proxy", kubeconfig, "--proxy-mode=nftables", "--hostname-override=" + name, "--cluster-cidr=" + pods,
			// The limit of connections is one of the whole machine.
			"--conntrack-max-per-core=0",
			// Pods are ports of one bridge. Without this, the answer of a pod to another one would not pass
			// through the node, which has to replace the address in it by that of the Service.
			"--masquerade-all",
		},
		{"kubelet", kubeconfig, "--config=" + n.path(kubeletFile), "--hostname-override=" + name, "--node-ip=" + address},
	}
}

// run starts a program. Its output goes to a file.
func (n *Node) run(path string, args ...string) error {
	// containerd looks for its shim on PATH.
	env := append(os.Environ(), "PATH="+n.options.Containerd+":"+os.Getenv("PATH"))

	p, err := process.Start(filepath.Base(path), n.log(filepath.Base(path)), env, path, args...)
	if err != nil {
		return err
	}

	n.processes = append(n.processes, p)

	return nil
}

func (n *Node) log(name string) string { return filepath.Join(n.options.Logs, name+".log") }

func (n *Node) path(name string) string { return filepath.Join(n.options.Dir, name) }

// ready waits until the scheduler may assign pods to the node, which need a ServiceAccount. From then on the node
// creates no object of another kind or name by itself.
func (n *Node) ready(ctx context.Context) error {
	return wait.Until(ctx, wait.Patience, func() error {
		if err := n.Running(); err != nil {
			return err
		}

		node := &corev1.Node{}
		if err := n.Client.Get(ctx, client.ObjectKey{Name: name}, node); err != nil {
			return err
		}

		if len(node.Spec.Taints) > 0 {
			return errors.Errorf("the node has taints: %v", node.Spec.Taints)
		}

		for _, c := range node.Status.Conditions {
			if c.Type == corev1.NodeReady && c.Status != corev1.ConditionTrue {
				return errors.Errorf("the node is not ready: %s", c.Message)
			}
		}

		// The last one of the objects that exist without any installation.
		if err := n.Client.Get(ctx, client.ObjectKey{Namespace: corev1.NamespaceNodeLease, Name: name}, &coordinationv1.Lease{}); err != nil {
			return err
		}

		return n.Client.Get(ctx, client.ObjectKey{Namespace: corev1.NamespaceDefault, Name: "default"}, &corev1.ServiceAccount{})
	})
}

// Running returns an error if one of the programs has ended.
func (n *Node) Running() error {
	for _, p := range n.processes {
		if !p.Running() {
			return errors.Errorf("%s ended with %s: see %s", p.Name, p.How(), filepath.Join(n.options.Logs, p.Name+".log"))
		}
	}

	return nil
}

// Stop kills all programs. Containers continue until the sandbox ends.
func (n *Node) Stop() error {
	if n.processesOfPods != nil {
		n.processesOfPods.Stop()
	}

	for _, p := range n.processes {
		p.Kill()
	}

	if n.plane != nil {
		n.plane.Stop()
	}

	if n.keeper == nil {
		return nil
	}

	return n.keeper.stop()
}
