// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"
	"os"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/providerconfig"
	"github.com/crossplane-contrib/provider-terraform/internal/runner"
	"github.com/crossplane-contrib/provider-terraform/internal/schedule"
	"github.com/crossplane-contrib/provider-terraform/internal/statelock"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// A connector makes an external client for one reconcile of a Workspace.
type connector struct {
	Options

	// kube is a client of the package statusclient. live reads the Workspaces of all instances from
	// the API server.
	kube client.Client
	live client.Reader

	policy   schedule.Policy
	records  *schedule.Records
	slots    *schedule.Slots
	recorder event.Recorder
	log      logging.Logger
	now      func() time.Time

	// name of the controller.
	name string

	// server is the address of the API server of kube.
	server string
}

// host of this instance.
func (c *connector) host() string { return c.Locks.Host }

// predecessors are the instances that worked on a Workspace before this one, and since when this one has it.
func (c *connector) predecessors(ws workspace.Workspace) statelock.Predecessors {
	return c.Locks.Predecessors(ws)
}

// Connect gathers the inputs of the supplied Workspace, opens its working directory and observes it.
//
// Observe only records and returns the result. An UnpreparedError, which only a run can show, must be a
// failure of Connect, because alerts select by the reason of the condition.
func (c *connector) Connect(ctx context.Context, ws workspace.Workspace) (managed.TypedExternalClient[workspace.Workspace], error) {
	workspace.RecordAvailable(ws)

	e, err := c.connect(ctx, ws)
	if err == nil {
		err = e.observeInConnect(ctx, ws)
	}

	if err != nil {
		if meta.WasDeleted(ws) {
			err = orLeaveBehind(ws, err)
			deleting(ws)
		}

		c.recordFailure(ws, err)

		return nil, err
	}

	return e, nil
}

func (c *connector) connect(ctx context.Context, ws workspace.Workspace) (*external, error) {
	// A deletion publishes nothing.
	if err := checkSecretReference(ws); err != nil && !meta.WasDeleted(ws) {
		return nil, err
	}

	spec, err := c.Configs.Resolve(ctx, ws)
	if err != nil {
		return nil, err
	}

	credentials, err := providerconfig.Sources{
		Kube: c.kube, Tokens: c.Tokens, Lookup: os.LookupEnv, Private: c.Root.Path(),
	}.Credentials(ctx, spec, ws.GetNamespace())
	if err != nil {
		return nil, err
	}

	runs := c.Runs
	if runs.CLI, err = c.chooseCLI(ws.GetParameters().CLI, spec.CLI); err != nil {
		return nil, err
	}

	in, err := runner.Gather(ctx, c.kube, ws.GetParameters(), spec, credentials)
	if err != nil {
		return nil, err
	}

	name := meta.GetExternalName(ws)
	in.Hide(c.records.Get(ws).Secrets, ws.GetName(), ws.GetNamespace(), name)

	dir, err := c.Root.Dir(string(ws.GetUID()))
	if err != nil {
		return nil, errors.Wrap(err, "cannot open working directory")
	}

	target := runner.Target{
		Dir:       dir,
		Inputs:    in,
		Name:      name,
		Namespace: ws.GetNamespace(),
		Deleted:   meta.WasDeleted(ws),
		Stateless: workspace.IsStateless(ws),
		Use:       func() (done func()) { return c.Locks.Users.Use(name) },
	}

	if ws.GetParameters().EnableTerraformCLILogging {
		log := c.logFor(ws)
		target.Log = func(line string) { log.Info(in.Secrets().Line(line)) }
	}

	// Events of the managed reconciler have this annotation, too.
	recorder := redactedRecorder{Recorder: c.recorder.WithAnnotations("external-name", name), secrets: in.Secrets()}

	return newExternal(&pass{
		connector: c, recorder: recorder, secrets: in.Secrets(),
		approves: workspace.ApprovalOf(ws, spec.Approval),
	}, runner.New(runs, target)), nil
}

// chooseCLI returns the CLI that a Workspace or, if it names none, its ProviderConfig asks for.
func (c *connector) chooseCLI(own, shared *commonv1beta1.CLI) (*terraform.CLI, error) {
	wanted, field := own, "spec.forProvider.cli"
	if wanted == nil {
		wanted, field = shared, "spec.cli of the ProviderConfig"
	}

	if wanted == nil {
		return c.CLIs.Default, nil
	}

	cli, err := c.CLIs.Get(terraform.Product(strings.ToLower(string(wanted.Product))), wanted.Version)

	return cli, errors.Wrapf(err, "cannot use %s", field)
}
