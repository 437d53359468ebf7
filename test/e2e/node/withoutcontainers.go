// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/test/controlplane"
	"github.com/crossplane-contrib/provider-terraform/test/e2e/processes"
	"github.com/crossplane-contrib/provider-terraform/test/wait"
)

// StartWithoutContainers starts a cluster whose pods are processes of this machine, where no node can run. The
// programs are by the repositories of images. It needs no sandbox, and no rights.
func StartWithoutContainers(ctx context.Context, o Options, programs map[string]processes.Program) (*Node, error) {
	n := &Node{options: o}

	if err := n.startWithoutContainers(ctx, programs); err != nil {
		return nil, errors.Join(errors.Wrap(err, "cannot start the cluster"), n.Stop())
	}

	return n, nil
}

func (n *Node) startWithoutContainers(ctx context.Context, programs map[string]processes.Program) error {
	if err := n.serve(ctx, "127.0.0.1:0"); err != nil {
		return err
	}

	server, err := controlplane.FreeAddress()
	if err != nil {
		return err
	}

	if err := n.startControlPlane(ctx, server); err != nil {
		return err
	}

	args := append(n.controllers(),
		// It needs no port.
		"--secure-port=0",
		// It would delete pods, whose node does not exist.
		"--controllers=*,-pod-garbage-collector-controller",
	)
	if err := n.run(filepath.Join(n.options.Node, args[0]), args[1:]...); err != nil {
		return err
	}

	logs := filepath.Join(n.options.Logs, "kept")
	if err := os.MkdirAll(logs, 0o700); err != nil {
		return err
	}

	n.keeper = &keeper{dir: logs}
	n.processesOfPods = processes.Start(ctx, processes.Options{
		Client: n.Client, Kubeconfig: n.plane.WriteKubeconfig, Dir: n.path("pods"), Logs: logs, Programs: programs,
	})

	return wait.Until(ctx, wait.Patience, func() error {
		return n.Client.Get(ctx, client.ObjectKey{Namespace: corev1.NamespaceDefault, Name: "default"}, &corev1.ServiceAccount{})
	})
}
