// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/test/controlplane"
)

const (
	// poll is how often an instance polls a Workspace that is up to date. It is short, so
	// that the table on the screen changes.
	poll = 10 * time.Second

	pollJitter = time.Second

	// forgotten is for how long a Workspace is taken to be served after the last
	// run for it. Each poll is one, so that this is two polls missed.
	forgotten = 3 * poll

	// shutdownGrace is how long a run in progress may continue after SIGTERM.
	shutdownGrace = 15 * time.Second

	// instancePatience is how long an instance may take to end in all: the grace,
	// and then a while for an interrupted run and the Lease.
	instancePatience = shutdownGrace + 30*time.Second
)

// An instance is a process of the provider that serves one shard.
type instance struct {
	// shard that it serves.
	shard string

	// root of its workdirs. Each instance has a separate one, as pods do.
	root string

	// probes is the URL of its health endpoints.
	probes string

	program *loggedProcess
}

// An instanceConfig is the configuration that all instances share.
type instanceConfig struct {
	// dir is where each keeps all it has, in a directory named for its shard.
	dir string

	// provider and cli are paths of programs.
	provider, cli string

	// kubeconfig is the path of the kubeconfig of both the provider and the CLI.
	kubeconfig string

	// leaseNamespace is where the Leases are.
	leaseNamespace string

	// args are further arguments.
	args []string

	// ended is called when an instance ends by itself.
	ended func(error)
}

// start starts the instance of the supplied shard.
func (c instanceConfig) start(shard string) (*instance, error) {
	dir := filepath.Join(c.dir, shard)
	i := &instance{shard: shard, root: filepath.Join(dir, "tf")}
	home, tmp := filepath.Join(dir, "home"), filepath.Join(dir, "tmp")

	for _, d := range []string{i.root, home, tmp} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return nil, err
		}
	}

	probes, err := controlplane.FreeAddress()
	if err != nil {
		return nil, err
	}

	metrics, err := controlplane.FreeAddress()
	if err != nil {
		return nil, err
	}

	i.probes = "http://" + probes

	i.program, err = command{
		path: c.provider,
		args: append([]string{
			"--debug",
			"--leader-election",
			"--shard-name=" + shard,
			"--lease-namespace=" + c.leaseNamespace,
			"--cli=" + c.cli,
			"--poll=" + poll.String(),
			"--poll-jitter=" + pollJitter.String(),
			"--shutdown-grace=" + shutdownGrace.String(),
			"--health-probe-bind-address=" + probes,
			"--metrics-bind-address=" + metrics,
		}, c.args...),
		// The environment of the user is excluded: a CLI configuration of this machine,
		// for example, would change the demo.
		env: []string{
			"PATH=" + os.Getenv("PATH"),
			"HOME=" + home,
			"TMPDIR=" + tmp,
			"XP_TF_DIR=" + i.root,
			"KUBECONFIG=" + c.kubeconfig,
			// How the CLI's kubernetes backend finds the API server from outside.
			"KUBE_CONFIG_PATH=" + c.kubeconfig,
		},
		log:      log{name: shard, path: filepath.Join(dir, "log")},
		patience: instancePatience,
		ended:    c.ended,
	}.start()

	return i, err
}

// ready returns an error unless the instance says it is ready.
func (i *instance) ready(ctx context.Context) error {
	return errors.Wrap(controlplane.AnswersOK(ctx, http.DefaultClient, i.probes+"/readyz"), i.shard)
}

// lastRun returns when the instance last ran the CLI for the Workspace with the supplied
// UID: the time of the newest change to the files in its workdir. It is zero if there is
// no workdir.
func (i *instance) lastRun(uid string) (time.Time, error) {
	dir := filepath.Join(i.root, uid)

	var last time.Time

	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}

		info, err := d.Info()
		if err != nil {
			return err
		}

		if info.ModTime().After(last) {
			last = info.ModTime()
		}

		// The directories below belong to the CLI, and have many files with some plugins.
		if d.IsDir() && path != dir {
			return fs.SkipDir
		}

		return nil
	})

	// Files come and go while the CLI runs. There is a next time.
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}

	return last, err
}

// servedBy returns the shard of the instance that last ran the CLI for the Workspace with
// the supplied UID. It is empty if there was no run within forgotten.
func servedBy(instances []*instance, uid string, now time.Time) (string, error) {
	shard, last := "", now.Add(-forgotten)

	for _, i := range instances {
		t, err := i.lastRun(uid)
		if err != nil {
			return "", err
		}

		if t.After(last) {
			shard, last = i.shard, t
		}
	}

	return shard, nil
}
