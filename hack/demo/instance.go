// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	providerinstance "github.com/crossplane-contrib/provider-terraform/test/instance"
)

const (
	// poll is short, so that the table on the screen changes.
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

// An instance serves one shard, with a separate root of its workdirs, as pods do.
type instance struct {
	*providerinstance.Instance

	shard string
	asked atomic.Bool
}

// startInstance starts the instance of the supplied shard. It aborts the demo if the instance
// ends by itself.
func (d *demo) startInstance(shard, kubeconfig string) (*instance, error) {
	args := []string{
		"--debug",
		"--shard-name=" + shard,
		"--lease-namespace=" + systemNamespace,
		"--cli=" + d.cli,
		"--poll=" + poll.String(),
		"--poll-jitter=" + pollJitter.String(),
		"--shutdown-grace=" + shutdownGrace.String(),
	}

	if d.elastic {
		// The times are short, so that the loss of an instance soon shows.
		args = append(args, "--assign-shards", "--shard-grace-period=5s", "--lease-duration=20s", "--lease-renew-deadline=10s")
	}

	started, err := providerinstance.Start(shard, filepath.Join(d.dir, shard), d.provider(), kubeconfig, nil, args...)
	if err != nil {
		return nil, err
	}

	i := &instance{Instance: started, shard: shard}

	go func() {
		if how := i.How(); !i.asked.Load() {
			d.abort(errors.Errorf("%s ended by itself: %s", shard, how))
		}
	}()

	return i, nil
}

// terminate ends the instance as Terminate does, and does not abort the demo.
func (i *instance) terminate() error {
	i.asked.Store(true)

	return i.Terminate(instancePatience)
}

func (i *instance) kill() {
	i.asked.Store(true)
	i.Kill()
}

// lastRun returns when the instance last ran the CLI for the Workspace with the supplied
// UID: the time of the newest change to what is recorded about its workdir. It is zero if there is
// no such record.
func (i *instance) lastRun(uid string) (time.Time, error) {
	dir := os.DirFS(filepath.Join(i.Root, ".records", uid))

	names, err := fs.Glob(dir, "*")
	if err != nil {
		return time.Time{}, err
	}

	var last time.Time

	for _, name := range append(names, ".") {
		info, err := fs.Lstat(dir, name)

		switch {
		case errors.Is(err, fs.ErrNotExist):
			// Files come and go while the CLI runs.
		case err != nil:
			return time.Time{}, err
		case info.ModTime().After(last):
			last = info.ModTime()
		}
	}

	return last, nil
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
