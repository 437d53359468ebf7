// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpapis "github.com/crossplane/crossplane/apis/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/apis"
	"github.com/crossplane-contrib/provider-terraform/test/e2e/crossplane"
	"github.com/crossplane-contrib/provider-terraform/test/e2e/node"
	"github.com/crossplane-contrib/provider-terraform/test/e2e/sandbox"
)

// An env is what the steps of a story share.
type env struct {
	// Node is nil before the first step.
	*node.Node

	options *options

	// root of the repository, and logs the directory for the output of all programs.
	root, logs string

	// cli of Crossplane.
	cli crossplane.CLI

	// refusals has texts of lines in the provider's logs that may say that something is forbidden, because
	// a step provokes it.
	refusals []string
}

func newEnv(o *options) *env { return &env{options: o, root: o.root, logs: o.logs()} }

// start starts the node. All other steps need it.
func start(ctx context.Context, e *env) error {
	s := runtime.NewScheme()
	if err := errors.Join(scheme.AddToScheme(s), apis.AddToScheme(s), xpapis.AddToScheme(s)); err != nil {
		return err
	}

	o := e.options
	options := node.Options{
		ControlPlane: o.tools.controlPlane, Node: o.tools.node, Containerd: o.tools.containerd, CNI: o.tools.cni, Pause: o.tools.pause,
		Dir: o.dir(), Logs: o.logs(), Cgroup: o.cgroup(), Scheme: s,
	}

	var (
		n   *node.Node
		err error
	)

	if o.level == levelProcesses {
		n, err = node.StartWithoutContainers(ctx, options, o.programs())
	} else {
		n, err = node.Start(ctx, options)
	}

	if err != nil {
		return err
	}

	e.Node = n
	e.cli = crossplane.CLI{Path: filepath.Join(o.tools.crossplaneCLI, "crossplane"), Dir: e.root, Env: []string{"KUBECONFIG=" + n.Kubeconfig}}

	return nil
}

func (e *env) stop() {
	if e.Node != nil {
		// The sandbox ends as well.
		_ = e.Stop()
	}
}

// wait waits for a signal, and says how to reach the node.
func (e *env) wait(ctx context.Context, out io.Writer) {
	if e.Node == nil {
		return
	}

	enter := "nsenter --net --mount --target=$(cat " + filepath.Join(e.options.dir(), sandbox.PIDFile) + ") "
	if e.options.level == levelProcesses {
		enter = ""
	}

	fmt.Fprintf(out, "\nThe cluster runs until Ctrl-C:\n\n  %skubectl --kubeconfig=%s get pods -A\n\n", enter, e.Kubeconfig)
	<-ctx.Done()
}

// pods returns the pods with the supplied labels.
func (e *env) pods(ctx context.Context, namespace string, labels client.MatchingLabels) ([]corev1.Pod, error) {
	list := &corev1.PodList{}
	if err := e.Client.List(ctx, list, client.InNamespace(namespace), labels); err != nil {
		return nil, err
	}

	return list.Items, nil
}

// scratch returns a new directory for files of one step.
func (e *env) scratch() (string, error) {
	return os.MkdirTemp(e.options.dir(), "step-")
}
