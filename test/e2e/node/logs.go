// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/test/wait"
)

const (
	// podLogs is where a kubelet writes the logs of containers: NAMESPACE_POD_UID/CONTAINER/RESTARTS.log.
	podLogs = "/var/log/pods"

	// keptLogs is where they are kept. A link cannot be in another mount, even of the same file system.
	keptLogs = "/var/log/kept"
)

// A keeper keeps the logs of containers after their pods are gone.
type keeper struct {
	// dir has the logs, and from is where containers write them, or empty if they write them to dir.
	dir, from string

	cancel context.CancelFunc
	ended  chan struct{}

	// err is why it has ended.
	err error
}

// keep keeps logs in the supplied directory, until it is stopped. Files there are links: a container and
// a link have the same file, which exists until both are gone.
func keep(ctx context.Context, dir string) *keeper {
	// It outlives the start of the node.
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	k := &keeper{dir: dir, from: podLogs, cancel: cancel, ended: make(chan struct{})}

	go func() {
		defer close(k.ended)

		for k.err == nil && wait.For(ctx, 100*time.Millisecond) == nil {
			k.err = k.link()
		}
	}()

	return k
}

// stop keeps the last logs.
func (k *keeper) stop() error {
	if k.from == "" {
		return nil
	}

	k.cancel()
	<-k.ended

	return errors.Join(k.err, k.link())
}

// link makes the links that are missing.
func (k *keeper) link() error {
	if k.from == "" {
		return nil
	}

	files, err := filepath.Glob(filepath.Join(k.from, "*", "*", "*.log"))
	if err != nil {
		return err
	}

	for _, file := range files {
		name, err := filepath.Rel(k.from, file)
		if err != nil {
			return err
		}

		to := filepath.Join(k.dir, name)
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return err
		}

		// The kubelet may have removed it.
		if err := os.Link(file, to); err != nil && !errors.Is(err, fs.ErrExist) && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}

	return nil
}

// A Log is the output of one run of a container, with the time of each line.
type Log struct {
	// Namespace, Pod and Container are names.
	Namespace, Pod, Container string

	// Path of a file. It remains.
	Path string
}

// Logs returns the logs of all containers so far, also of pods that are gone. Those of one container are
// in the order of its restarts.
func (n *Node) Logs() ([]Log, error) {
	if n.keeper == nil {
		return nil, nil
	}

	if err := n.keeper.link(); err != nil {
		return nil, err
	}

	return n.keeper.logs()
}

func (k *keeper) logs() ([]Log, error) {
	files, err := filepath.Glob(filepath.Join(k.dir, "*", "*", "*.log"))
	if err != nil {
		return nil, err
	}

	var all []Log

	for _, file := range files {
		container := filepath.Dir(file)

		// Neither names of namespaces nor those of pods have an underscore.
		pod := strings.Split(filepath.Base(filepath.Dir(container)), "_")
		if len(pod) != 3 {
			return nil, errors.Errorf("%s is not a log of a container", file)
		}

		all = append(all, Log{Namespace: pod[0], Pod: pod[1], Container: filepath.Base(container), Path: file})
	}

	// 10.log is after 9.log.
	slices.SortStableFunc(all, func(a, b Log) int {
		if d := strings.Compare(filepath.Dir(a.Path), filepath.Dir(b.Path)); d != 0 {
			return d
		}

		return len(a.Path) - len(b.Path)
	})

	return all, nil
}

// Log returns what all runs of a container have printed, also when the pod is gone.
func (n *Node) Log(pod *corev1.Pod, container string) (string, error) {
	all, err := n.Logs()
	if err != nil {
		return "", err
	}

	var text strings.Builder

	for _, l := range all {
		if l.Namespace != pod.GetNamespace() || l.Pod != pod.GetName() || l.Container != container {
			continue
		}

		data, err := os.ReadFile(l.Path)
		if err != nil {
			return "", err
		}

		text.Write(data)
	}

	return text.String(), nil
}
