// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"k8s.io/client-go/rest"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/shard/incarnation"
	"github.com/crossplane-contrib/provider-terraform/test/chaos/record"
	"github.com/crossplane-contrib/provider-terraform/test/controlplane"
	"github.com/crossplane-contrib/provider-terraform/test/process"
	"github.com/crossplane-contrib/provider-terraform/test/wait"
)

// Times of a Lease. A test has no minutes to wait for one to expire. A process that is in
// trouble kills itself at the latest a little before the Lease has expired.
const (
	leaseDuration = 8 * time.Second
	renewDeadline = 3 * time.Second
	retryPeriod   = 500 * time.Millisecond
)

// poll is the poll interval of each Workspace.
const poll = 10 * time.Second

// backOff is how long an instance that ended by itself stays away.
const backOff = time.Second

// An environment is the state that all instances share.
type environment struct {
	// dir for the records, logs and scripts.
	dir string

	// api is how to reach the API server.
	api *rest.Config

	namespace string
	journal   *journal

	// elastic says that the shards assign the Workspaces without a label.
	elastic bool
}

// An instance is a place for processes of the provider, one at a time, as a pod is.
// When the process ends another is started.
type instance struct {
	*environment

	name string

	// shard that it serves, "" for the Workspaces without one.
	shard string

	// root of its workdirs.
	root string

	// grace is how long its runs may go on after SIGTERM.
	grace time.Duration

	// proxy is between its processes and the API server.
	proxy      *proxy
	kubeconfig string

	// present is held while the process is started or stopped.
	present sync.Mutex

	// process now, its number, and where it serves its probes. Guarded by present.
	process *process.Process
	number  int
	probes  string
}

// args are the arguments of the provider.
func (i *instance) args(cli, metrics string) []string {
	args := []string{
		"--debug",
		"--cli=" + cli,
		"--poll=" + poll.String(),
		"--poll-jitter=1s",
		"--max-reconcile-rate=10",
		// The age of a lock without a record, after which it is removed, is two minutes more.
		"--timeout=1m",
		"--gc-interval=1s",
		"--shutdown-grace=" + i.grace.String(),
		"--lease-namespace=" + i.namespace,
		"--lease-duration=" + leaseDuration.String(),
		"--lease-renew-deadline=" + renewDeadline.String(),
		"--lease-retry-period=" + retryPeriod.String(),
		"--metrics-bind-address=" + metrics,
		"--health-probe-bind-address=" + i.probes,
	}

	if i.shard == "" {
		args = append(args, "--shard-catch-all")
	} else {
		args = append(args, "--shard-name="+i.shard)
	}

	// The grace period is shorter than some absences, and longer than others.
	if i.elastic && i.shard != "" {
		args = append(args, "--assign-shards", "--shard-grace-period=3s")
	}

	return args
}

// start starts another process.
func (i *instance) start() error {
	i.number++

	cli, err := i.script()
	if err != nil {
		return err
	}

	metrics, err := controlplane.FreeAddress()
	if err != nil {
		return err
	}

	if i.probes, err = controlplane.FreeAddress(); err != nil {
		return err
	}

	home := filepath.Join(i.dir, "home", i.name)
	if err := errors.Join(os.MkdirAll(home, 0o700), os.MkdirAll(i.root, 0o700)); err != nil {
		return err
	}

	log, err := os.OpenFile(filepath.Join(i.dir, i.name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()

	fmt.Fprintf(log, "----- %s\n", numbered(i.name, i.number))

	// The host keeps its name, as a pod of a StatefulSet does.
	i.process, err = process.StartOn(i.name, numbered(i.name, i.number), log.Name(), []string{
		"PATH=" + os.Getenv("PATH"),
		"HOME=" + home,
		"TMPDIR=" + home,
		"XP_TF_DIR=" + i.root,
		"KUBECONFIG=" + i.kubeconfig,
		// How the CLI's kubernetes backend finds the API server from outside.
		"KUBE_CONFIG_PATH=" + i.kubeconfig,
	}, shared.provider, i.args(cli, metrics)...)

	return err
}

// script writes the script that replaces the CLI for the next process.
func (i *instance) script() (string, error) {
	dir := filepath.Join(i.dir, "cli", numbered(i.name, i.number))
	path := filepath.Join(dir, "tofu")
	text := fmt.Sprintf("#!/bin/sh\nexec '%s' '%s' '%s' '%s' \"$@\"\n", shared.recorder, i.dir, numbered(i.name, i.number), shared.tofu)

	return path, errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(path, []byte(text), 0o700))
}

// serve keeps a process running until the context ends, and then sends SIGTERM.
func (i *instance) serve(ctx context.Context) error {
	for {
		p, err := i.running(ctx)
		if p == nil {
			return err
		}

		select {
		case <-ctx.Done():
			return i.stop()
		case <-p.Ended():
			i.journal.add(i.obituary(p))
		}

		// The loop above sees the end of the context, too.
		_ = wait.For(ctx, backOff)
	}
}

// obituary describes the end of a process. An instance that could not renew its Lease for
// long enough kills itself, because any other end would be too late.
func (i *instance) obituary(p *process.Process) note {
	n := note{subject: i.name, ended: p.Name, text: p.Name + " has ended: " + p.How()}

	if p.How() == "signal: killed" {
		n.killed = p.Name
	}

	return n
}

// running returns the process, and starts it if there is none. It returns nil if there is
// none and the context has ended.
func (i *instance) running(ctx context.Context) (*process.Process, error) {
	i.present.Lock()
	defer i.present.Unlock()

	if i.process != nil && i.process.Running() {
		return i.process, nil
	}

	if ctx.Err() != nil {
		return nil, nil //nolint:nilnil // The context has ended, which is no error.
	}

	if err := i.start(); err != nil {
		return nil, err
	}

	return i.process, nil
}

// stop sends SIGTERM to the process and waits for its end.
func (i *instance) stop() error {
	i.present.Lock()
	defer i.present.Unlock()

	i.process.Signal(syscall.SIGTERM)

	select {
	case <-i.process.Ended():
	case <-time.After(wait.Patience):
		i.process.Signal(syscall.SIGQUIT)
		i.process.Kill()

		return errors.Errorf("%s did not end within %s of SIGTERM", i.name, wait.Patience)
	}

	if how := i.process.How(); how != "exit status 0" {
		i.journal.add(note{subject: i.name, ended: i.process.Name, failed: true, text: i.process.Name + " ended with " + how + " after SIGTERM"})
	}

	return nil
}

// killed returns the name of the process if it is running and the fault is about to kill it.
func (i *instance) killed(f fault) string {
	if (f.kind != kill && f.kind != lose) || !i.process.Running() {
		return ""
	}

	return i.process.Name
}

// disturb makes the process go away for a while.
func (i *instance) disturb(ctx context.Context, f fault) error {
	i.present.Lock()
	defer i.present.Unlock()

	over := i.journal.add(note{kind: f.kind, subject: i.name, killed: i.killed(f), text: f.String()})

	switch f.kind {
	case kill:
		i.process.Kill()
	case terminate:
		if err := i.terminate(); err != nil {
			return err
		}
	default:
		// Only the process is stopped, not the CLI that it runs. The same happens when the
		// process is starved and its Lease expires in the middle of a run.
		i.process.Signal(syscall.SIGSTOP)

		defer over()
		defer i.process.Signal(syscall.SIGCONT)
	}

	// The end of the test is no reason to fail.
	_ = wait.For(ctx, f.takes)

	return nil
}

func (i *instance) terminate() error {
	i.process.Signal(syscall.SIGTERM)

	select {
	case <-i.process.Ended():
		return nil
	case <-time.After(wait.Patience):
		i.process.Kill()

		return errors.Errorf("%s did not end within %s of SIGTERM", i.name, wait.Patience)
	}
}

// ready returns an error unless the probe of the instance succeeds.
func (i *instance) ready(ctx context.Context) error {
	i.present.Lock()
	defer i.present.Unlock()

	return errors.Wrap(controlplane.AnswersOK(ctx, http.DefaultClient, "http://"+i.probes+"/readyz"), i.name)
}

// disk is the name of the one instance of a shard that keeps its disk, and of the shard.
const disk = "c"

// lose kills the process and removes the working directory of a Workspace, as if the
// instance was started again on another node.
func (i *instance) lose(ctx context.Context, f fault, w *workspaces) error {
	w.mu.Lock()
	ws := w.all[f.subject]
	w.mu.Unlock()

	i.present.Lock()
	defer i.present.Unlock()

	i.journal.add(note{kind: f.kind, subject: i.name, killed: i.killed(f), text: f.String()})
	i.process.Kill()

	// The runs die with it.
	if err := wait.Until(ctx, wait.Patience, func() error {
		if busy, err := record.Busy(filepath.Join(i.dir, "locks"), ws.uid); err != nil || busy {
			return errors.Errorf("a run has not ended (%v)", err)
		}

		return nil
	}); err != nil {
		return err
	}

	if err := os.RemoveAll(filepath.Join(i.root, ws.uid)); err != nil {
		return err
	}

	// Another node does not have the records of this one either: the next process waits until the
	// Lease expires.
	records, err := filepath.Glob(filepath.Join(incarnation.Dir, "*-"+i.name+"_*"))
	if err != nil {
		return err
	}

	for _, name := range records {
		if err := os.Remove(name); err != nil && !os.IsNotExist(err) {
			return err
		}
	}

	w.mark(func() { ws.lost, w.fate.lost[ws.uid] = true, time.Now().UnixNano() })

	// The end of the test is no reason to fail.
	_ = wait.For(ctx, f.takes)

	return nil
}
