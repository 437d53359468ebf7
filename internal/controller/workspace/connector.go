// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"
	"os"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"

	"github.com/crossplane-contrib/provider-terraform/internal/initcache"
	"github.com/crossplane-contrib/provider-terraform/internal/module"
	"github.com/crossplane-contrib/provider-terraform/internal/providerconfig"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/internal/workdir"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// A connector makes an external client for one reconcile of a Workspace. It
// gathers all that a run would need, but leaves the disk and the CLI alone: most
// reconciles need no run.
type connector struct {
	kube       client.Client
	configs    *providerconfig.Resolver
	cli        *terraform.CLI
	fetcher    *module.Fetcher
	initCache  *initcache.Cache
	stop       context.Context //nolint:containedctx // It is the lifetime of all runs.
	root       *workdir.Root
	environ    []string
	memory     *memory
	schedule   *schedule
	staller    *staller
	collisions *collisions
	orphans    orphanage
	inherited  func(o client.Object) bool
	record     event.Recorder
	log        logging.Logger
}

// Connect resolves the ProviderConfig, its credentials and the inputs of the
// supplied Workspace, and opens its working directory.
func (c *connector) Connect(ctx context.Context, ws workspace.Workspace) (managed.TypedExternalClient[workspace.Workspace], error) {
	e, err := c.connect(ctx, ws)
	if err != nil {
		c.staller.failed(ws)

		// Deletion changes the specification for the API server only.
		if !meta.WasDeleted(ws) {
			notReadyIfChanged(ws)
		}

		return nil, err
	}

	return e, nil
}

func (c *connector) connect(ctx context.Context, ws workspace.Workspace) (*external, error) {
	pc, err := c.configs.Resolve(ctx, ws)
	if err != nil {
		return nil, err
	}

	credentials, err := providerconfig.Credentials(ctx, c.kube, os.LookupEnv, pc)
	if err != nil {
		return nil, err
	}

	p := ws.GetParameters()
	in, err := gather(ctx, c.kube, p, pc, credentials)
	missing := err

	// What a Workspace refers to often goes away together with it. Without it there
	// is no run of the module, but its state may turn out to have no resources. Files
	// of variables cannot say where that is; the environment can, and an empty state
	// elsewhere must not be taken for it.
	if err != nil && meta.WasDeleted(ws) {
		p.VarFiles = nil
		in, err = gather(ctx, c.kube, p, pc, credentials)
	}

	if err != nil {
		return nil, err
	}

	dir, err := c.root.Dir(string(ws.GetUID()))
	if err != nil {
		return nil, errors.Wrap(err, "cannot open working directory")
	}

	s := &session{
		cli:       c.cli,
		dir:       dir,
		in:        in,
		name:      meta.GetExternalName(ws),
		environ:   c.environ,
		fetcher:   c.fetcher,
		initCache: c.initCache,
		namespace: ws.GetNamespace(),
		stop:      c.stop,
		deleted:   meta.WasDeleted(ws),
		stateless: isStateless(ws),
		missing:   missing,
		states:    c.orphans.states,
	}

	if ws.GetParameters().EnableTerraformCLILogging {
		log := c.log.WithValues("uid", ws.GetUID(), "namespace", ws.GetNamespace(), "name", ws.GetName())
		s.log = func(line string) { log.Info(in.redactor.text(line)) }
	}

	return &external{
		kube:       c.kube,
		record:     redactedRecorder{Recorder: c.record, redactor: in.redactor},
		session:    s,
		memory:     c.memory,
		schedule:   c.schedule,
		staller:    c.staller,
		collisions: c.collisions,
		orphans:    c.orphans,
		inherited:  c.inherited,
		config:     pc,
		inputs:     s.digest(desired(ws)),
	}, nil
}
