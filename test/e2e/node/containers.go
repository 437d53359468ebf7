// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/remotecommand"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// Exec runs a command in a container, as kubectl exec does. It returns what the command prints, on both
// outputs.
func (n *Node) Exec(ctx context.Context, pod client.ObjectKey, container string, command ...string) (string, error) {
	clients, err := kubernetes.NewForConfig(n.Config)
	if err != nil {
		return "", err
	}

	url := clients.CoreV1().RESTClient().Post().Resource("pods").Namespace(pod.Namespace).Name(pod.Name).SubResource("exec").
		VersionedParams(&corev1.PodExecOptions{Container: container, Command: command, Stdout: true, Stderr: true}, scheme.ParameterCodec).URL()

	e, err := remotecommand.NewSPDYExecutor(n.Config, "POST", url)
	if err != nil {
		return "", err
	}

	var out bytes.Buffer

	err = e.StreamWithContext(ctx, remotecommand.StreamOptions{Stdout: &out, Stderr: &out})

	return out.String(), errors.Wrapf(err, "%s in %s: %s", strings.Join(command, " "), pod, out.String())
}

// Kill kills the first process of a container, and with it all others.
func (n *Node) Kill(pod *corev1.Pod, container string) error {
	for _, s := range pod.Status.ContainerStatuses {
		if s.Name != container {
			continue
		}

		runtime, id, _ := strings.Cut(s.ContainerID, "://")
		if id == "" {
			break
		}

		pid, err := strconv.Atoi(id)
		if runtime != "process" {
			pid, err = firstProcess("/proc", id)
		}

		if err != nil {
			return err
		}

		return syscall.Kill(pid, syscall.SIGKILL)
	}

	return errors.Errorf("pod %s has no running container %s", pod.GetName(), container)
}

// firstProcess returns the PID of the process of a container that has the PID 1 there. The cgroup of the
// process contains the ID of the container.
func firstProcess(proc, id string) (int, error) {
	groups, err := filepath.Glob(filepath.Join(proc, "[0-9]*", "cgroup"))
	if err != nil {
		return 0, err
	}

	for _, file := range groups {
		dir := filepath.Dir(file)

		// The process may have ended.
		group, _ := os.ReadFile(file)                          //nolint:gosec // One of /proc.
		status, _ := os.ReadFile(filepath.Join(dir, "status")) //nolint:gosec // One of /proc.

		if strings.Contains(string(group), id) && isFirst(string(status)) {
			return strconv.Atoi(filepath.Base(dir))
		}
	}

	return 0, errors.Errorf("no process of container %s", id)
}

// isFirst says whether a process has the PID 1 in its own namespace.
func isFirst(status string) bool {
	for line := range strings.Lines(status) {
		if pids, ok := strings.CutPrefix(line, "NSpid:"); ok {
			fields := strings.Fields(pids)

			return len(fields) > 0 && fields[len(fields)-1] == "1"
		}
	}

	return false
}
