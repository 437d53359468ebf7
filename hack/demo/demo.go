// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/shard"
	"github.com/crossplane-contrib/provider-terraform/test/controlplane"
	"github.com/crossplane-contrib/provider-terraform/test/manifest"
	"github.com/crossplane-contrib/provider-terraform/test/program"
	"github.com/crossplane-contrib/provider-terraform/test/wait"
)

const (
	// output is where the demo has its directory. Git ignores it.
	output = "_output/demo"

	serviceAccount = "provider-terraform"

	// tailLines is the number of lines of each log that are shown after a failure.
	tailLines = 40
)

type demo struct {
	once   bool
	screen *screen

	// elastic says that the instances assign the Workspaces to themselves.
	elastic bool

	// approve says that plans wait for approval. waits is the ID of the one that waits.
	approve bool
	waits   string

	// assets is the directory of etcd and kube-apiserver.
	assets string

	// cli is the path of the CLI that the instances run, and cliVersion the first line
	// that its command version prints.
	cli, cliVersion string

	dir string

	// abort ends the demo because something ended that should not have.
	abort func(error)

	plane     *controlplane.ControlPlane
	instances []*instance

	// logs of the processes that were started last.
	logs []log

	// password of the Workspace that is moved, when it was created.
	password string

	// created are the ids of what the Workspaces of the elastic story created, by name, and
	// lapsed the Workspaces that were not Ready any more after that.
	created map[string]string
	lapsed  []string

	// picture is the directory for the record of the elastic story and its picture, "" for none.
	picture string
	record  record
}

// prepare finds all that the demo needs, and makes its directory.
func (d *demo) prepare(ctx context.Context) (err error) {
	if d.assets = os.Getenv("KUBEBUILDER_ASSETS"); d.assets == "" {
		return errors.New("KUBEBUILDER_ASSETS is not set: run `make demo`, which sets it")
	}

	if _, err := os.Stat("examples"); err != nil {
		return errors.Wrap(err, "this is not the root of the repository: run `make demo` there")
	}

	if d.cliVersion, err = program.FirstLine(ctx, d.cli, "version"); err != nil {
		return errors.Wrap(err, "`make demo` takes the CLI from PATH")
	}

	parent, err := filepath.Abs(output)
	if err := errors.Join(err, os.MkdirAll(parent, 0o750)); err != nil {
		return err
	}

	d.dir, err = os.MkdirTemp(parent, "")

	return err
}

// run runs the demo to its end, and returns an error that names the failed step. It
// removes everything that the demo made, even after a failure.
func (d *demo) run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)

	d.abort = cancel
	d.screen.bars = d.elastic

	if err := d.prepare(ctx); err != nil {
		return err
	}

	stop := make(chan struct{})
	defer close(stop)

	go d.screen.keepUp(stop)

	began := time.Now()
	err := d.tell(ctx)
	// Read before they are removed.
	logs := d.tails()
	err = d.stop(context.WithoutCancel(ctx), err)

	switch {
	case errors.Is(err, errInterrupted):
	case err != nil:
		d.screen.say(logs...)
	case d.once:
		d.screen.say("", "All of it was seen, in "+seconds(time.Since(began))+".")
	}

	return err
}

// tell runs all steps. Unless the demo runs once, it then waits for an interrupt.
func (d *demo) tell(ctx context.Context) error {
	story, about := d.story(), "Two shards of provider-terraform with a real API server. See also: make demo ARGS=--elastic"

	switch {
	case d.elastic:
		story, about = d.elasticStory(), "Shards of provider-terraform that assign Workspaces to themselves, with a real API server."
	case d.approve:
		story, about = d.approveStory(), "Plans of provider-terraform that wait until a person approves them, with a real API server."
	}

	d.screen.say(
		about,
		"The CLI is "+d.cliVersion+", "+d.cli+".",
		"Everything is in "+d.dir+" and is removed at the end.",
		"SERVED BY is the instance in whose directory the CLI last ran for a Workspace.",
		"",
	)

	for _, e := range story {
		if err := e.meet(ctx, d.screen); err != nil {
			return err
		}
	}

	if d.picture != "" {
		d.record.Date, d.record.CLI = time.Now().UTC().Truncate(time.Second), d.cliVersion

		if err := d.record.publish(d.picture); err != nil {
			return err
		}
	}

	if d.once {
		return nil
	}

	return d.stay(ctx)
}

// stay shows the table until the demo is interrupted. An interrupt is not an error.
func (d *demo) stay(ctx context.Context) error {
	try := []string{
		"  kubectl get workspaces.tf.upbound.io,workspaces.tf.m.upbound.io --all-namespaces",
		"  kubectl label workspaces.tf.m.upbound.io alarm --namespace=team-a terraform.crossplane.io/shard=" + shard0,
		"  kubectl describe workspaces.tf.upbound.io " + moved,
	}

	switch {
	case d.approve:
		try = []string{
			"  kubectl apply -f " + filepath.Join("examples", "approval", "workspace.yaml"),
			"  kubectl get workspaces.tf.m.upbound.io --namespace=team-a -o wide",
		}
	case d.elastic:
		try = []string{
			"  kubectl get workspaces.tf.upbound.io -o wide",
			"  kubectl get leases --namespace=" + systemNamespace + " -L " + shard.LabelKey,
			"  kubectl label workspaces.tf.upbound.io app-01 --overwrite " + shard.LabelKey + "=" + pod1 + " " + shard.AssignedLabelKey + "-",
		}
	}

	d.screen.say("", "All of it was seen. This stays up until you press Ctrl-C; in another terminal, try:", "", "  export KUBECONFIG="+d.plane.Kubeconfig)
	d.screen.say(try...)
	d.screen.say("", "The logs are:")

	for _, l := range d.logs {
		d.screen.say("  " + l.path)
	}

	var before table

	for wait.For(ctx, glance) == nil {
		seen, err := d.observe(ctx)
		if err != nil {
			// The API server may answer the next time.
			continue
		}

		now := tabulate(seen, time.Now())
		if !now.equal(before) {
			d.screen.showNow()
		}

		before = now
	}

	if cause := context.Cause(ctx); !errors.Is(cause, errInterrupted) {
		return cause
	}

	return nil
}

// stop stops everything that was started and removes everything that was made. The
// instances are expected to end in good order if there was no error so far.
func (d *demo) stop(ctx context.Context, err error) error {
	if err == nil {
		err = expectation{title: "SIGTERM ends the instances in good order, and their Leases are free", within: 2 * instancePatience, check: d.end}.meet(ctx, d.screen)
	}

	// Again, in case that did not come to its end.
	for _, i := range d.instances {
		_ = i.terminate() // err has the failure.
	}

	if d.plane != nil {
		d.plane.Stop()
	}

	return errors.Join(err, os.RemoveAll(d.dir))
}

// A log is the file with the output of a named program.
type log struct{ name, path string }

// tails returns the last lines of the logs of the processes that were started last.
func (d *demo) tails() []string {
	var lines []string

	for _, l := range d.logs {
		data, err := os.ReadFile(l.path)
		if err != nil {
			data = []byte(err.Error())
		}

		all := strings.Split(string(bytes.TrimSpace(data)), "\n")
		if n := len(all) - tailLines; n > 0 {
			all = append([]string{fmt.Sprintf("(%d lines before)", n)}, all[n:]...)
		}

		lines = append(lines, "", "The end of the log of "+l.name+":", strings.Join(all, "\n"))
	}

	return lines
}

func (d *demo) startControlPlane(ctx context.Context) error {
	l := log{name: "etcd and the API server", path: filepath.Join(d.dir, "controlplane.log")}
	d.logs = []log{l}

	var err error

	d.plane, err = controlplane.Start(ctx, d.dir, d.assets, filepath.Join("package", "crds"), l.path)

	return err
}

// install creates the objects that an administrator creates before the provider.
func (d *demo) install(ctx context.Context) error {
	if err := d.plane.Kube.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: systemNamespace}}); err != nil {
		return errors.Wrapf(err, "cannot create namespace %q", systemNamespace)
	}

	common := filepath.Join("cluster", "deploy", "common")

	return apply(ctx, d.plane.Kube,
		filepath.Join(common, "serviceaccount.yaml"),
		filepath.Join(common, "rbac.yaml"),
		filepath.Join(common, "rbac-extra.yaml"),
	)
}

// apply creates every object of the supplied files, in the order of the files.
func apply(ctx context.Context, kube client.Client, files ...string) error {
	for _, file := range files {
		objects, err := manifest.Read(file)
		if err != nil {
			return err
		}

		for _, o := range objects {
			if err := manifest.OutsideOfCluster(o); err != nil {
				return errors.Wrapf(err, "cannot change %s", file)
			}

			if err := kube.Create(ctx, o); err != nil {
				return errors.Wrapf(err, "cannot create the objects in %s", file)
			}
		}
	}

	return nil
}

func (d *demo) build(ctx context.Context) error {
	d.logs = nil

	return program.BuildProvider(ctx, ".", d.provider())
}

// provider is the path of the program that the instances run. The name is that of
// the program in the image: environment variables are named after it.
func (d *demo) provider() string { return filepath.Join(d.dir, "crossplane-terraform-provider") }
