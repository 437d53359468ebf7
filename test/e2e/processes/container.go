// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package processes

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/test/controlplane"
	"github.com/crossplane-contrib/provider-terraform/test/process"
)

// A container that runs as a process.
type container struct {
	pod *pod
	api corev1.Container

	process *process.Process

	// ports of this machine, by those of the container.
	ports map[int32]string

	// starts so far, and when the last one was.
	starts int32
	last   time.Time
}

// program returns the one in place of the image.
func (c *container) program() (Program, error) {
	for repository, p := range c.pod.Programs {
		if strings.Contains(c.api.Image, "/"+repository+":") {
			return p, nil
		}
	}

	return Program{}, errors.Errorf("there is no program for image %s", c.api.Image)
}

// keep starts the process unless it runs.
func (c *container) keep(ctx context.Context) {
	if c.process != nil && c.process.Running() || time.Since(c.last) < retry {
		return
	}

	// The next round tries it again.
	_ = c.start(ctx)
}

func (c *container) start(ctx context.Context) error {
	c.last = time.Now()

	program, err := c.program()
	if err != nil {
		return err
	}

	if err := c.pod.mount(ctx); err != nil {
		return err
	}

	c.ports = map[int32]string{}

	var settings []string

	for port, setting := range program.Ports {
		address, err := controlplane.FreeAddress()
		if err != nil {
			return err
		}

		c.ports[port] = address
		settings = append(settings, strings.ReplaceAll(setting, "%d", address[strings.LastIndex(address, ":")+1:]))
	}

	env, err := environment(c.pod.api, c.api, c.path)
	if err != nil {
		return err
	}

	for dir, variable := range program.Dirs {
		settings = append(settings, variable+"="+c.path(dir))
	}

	args := make([]string, 0, len(c.api.Args))
	for _, a := range c.api.Args {
		args = append(args, c.path(a))
	}

	kubeconfig := c.pod.kubeconfig()
	own := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + c.pod.dir, "KUBECONFIG=" + kubeconfig, "KUBE_CONFIG_PATH=" + kubeconfig}

	return c.run(program.Path, slices.Concat(own, env, program.Env, settings), args)
}

func (c *container) run(path string, env, args []string) error {
	dir := c.pod.logs(c.pod.api, c.api.Name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}

	var err error
	if c.process, err = process.Start(c.api.Name, filepath.Join(dir, fmt.Sprintf("%d.log", c.starts)), env, path, args...); err != nil {
		return err
	}

	c.starts++

	return nil
}

// path returns the path on this machine of a path in the container, if it is in a volume.
func (c *container) path(path string) string {
	for _, m := range c.api.VolumeMounts {
		if rest, ok := strings.CutPrefix(path, m.MountPath); ok && (rest == "" || rest[0] == '/') {
			return filepath.Join(c.pod.dir, m.Name) + rest
		}
	}

	return path
}

// status returns that of the container. Its ID has the PID of its process.
func (c *container) status(ctx context.Context) corev1.ContainerStatus {
	s := corev1.ContainerStatus{Name: c.api.Name, Image: c.api.Image, RestartCount: max(0, c.starts-1)}

	if c.process == nil || !c.process.Running() {
		s.State.Waiting = &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}

		return s
	}

	s.ContainerID = fmt.Sprintf("process://%d", c.process.PID())
	s.State.Running = &corev1.ContainerStateRunning{}
	s.Ready = c.ready(ctx)
	s.Started = new(true)

	return s
}

// ready says whether the HTTP request of the readiness probe succeeds, if there is one.
func (c *container) ready(ctx context.Context) bool {
	probe := c.api.ReadinessProbe
	if probe == nil || probe.HTTPGet == nil {
		return true
	}

	port := probe.HTTPGet.Port.IntVal

	for _, p := range c.api.Ports {
		if p.Name == probe.HTTPGet.Port.StrVal {
			port = p.ContainerPort
		}
	}

	return controlplane.AnswersOK(ctx, http.DefaultClient, "http://"+c.ports[port]+probe.HTTPGet.Path) == nil
}
