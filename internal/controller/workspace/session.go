// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	"github.com/crossplane-contrib/provider-terraform/internal/environ"
	"github.com/crossplane-contrib/provider-terraform/internal/initcache"
	"github.com/crossplane-contrib/provider-terraform/internal/module"
	"github.com/crossplane-contrib/provider-terraform/internal/plugincache"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/internal/vars"
	"github.com/crossplane-contrib/provider-terraform/internal/workdir"
)

// initRaceWait is much longer than a backend takes to make an empty state.
const initRaceWait = time.Second

// A session runs the CLI for one Workspace during one reconcile. It writes the
// inputs when they are first needed, and must be closed so that no secret stays
// on disk. It must not be used concurrently.
type session struct {
	cli     *terraform.CLI
	dir     *workdir.Dir
	in      *inputs
	name    string
	environ []string
	log     func(line string)

	// fetcher of modules that are not inline, and the namespace that it may use
	// references from.
	fetcher   *module.Fetcher
	namespace string

	// stop ends a fetch, whatever its context says.
	stop context.Context //nolint:containedctx // It is the lifetime of all runs, not of a call.

	// source is the address that the module was fetched from. Set by prepare.
	source string

	// deleted says that the Workspace is being deleted: the module that is on disk
	// is good enough then, if the current one cannot be had.
	deleted bool

	// stateless says that there cannot be a state of the Workspace anywhere yet.
	stateless bool

	// missing is why the inputs are not complete, nil if they are.
	missing error

	// detached says that the module is to be left out, and apart that the runs are in
	// a directory beside it.
	detached, apart bool

	// states that this instance works with.
	states *States

	// done with the directory and the state. Set by write, which begins to use them.
	done func()

	// target of the runs. Set by prepare.
	target *terraform.Workspace

	// initCache has what init left in other directories, and initKey is where in it
	// the result for this one would be. The key is empty if init ran here before, or
	// has to.
	initCache *initcache.Cache
	initKey   string

	// restored says that what is initialized is what init left in another directory.
	restored bool

	// varFiles to pass to plan and destroy, as absolute paths. Set by prepare.
	varFiles []string
}

// digest of everything that the result of a plan depends on. The token asks for a
// new one when it changes.
func (s *session) digest(token string) string {
	return s.in.digest(string(s.cli.Product()), s.cli.Version(), s.name, token)
}

// initDigest of everything that the result of init depends on.
func (s *session) initDigest() string {
	return s.in.initDigest(string(s.cli.Product()), s.cli.Version())
}

// prepare the directory for a run: write the inputs, and initialize it unless
// that was done with the same inputs before.
func (s *session) prepare(ctx context.Context) error {
	if s.target != nil {
		return nil
	}

	if s.missing != nil && !s.detached {
		return s.missing
	}

	if err := s.write(ctx); err != nil {
		return err
	}

	// What is to last is what init leaves for the module.
	if s.apart {
		return s.init(ctx, terraform.InitOptions{})
	}

	if s.dir.Initialized(s.in.parameters.Entrypoint) == s.initDigest() {
		return nil
	}

	if restored, err := s.restoreInit(); restored || err != nil {
		return err
	}

	return s.init(ctx, terraform.InitOptions{})
}

// fetch the module, unless it is inline or there is nothing new.
func (s *session) fetch(ctx context.Context) error {
	if s.apart {
		return nil
	}

	ctx, cancel := s.stoppable(ctx)
	defer cancel()

	source, err := s.fetcher.Ensure(ctx, module.Request{
		Parameters:     s.in.parameters,
		Namespace:      s.namespace,
		Dir:            s.dir,
		Env:            s.env(s.dir.Path()),
		GitCredentials: s.in.gitCredentials,
	})
	if err != nil {
		if s.deleted && s.dir.TreeRevision() != "" {
			return nil
		}

		return err
	}

	s.source = source

	return nil
}

// stoppable returns a context that ends with the lifetime of all runs, too. The
// runs themselves need none.
func (s *session) stoppable(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	forget := context.AfterFunc(s.stop, cancel)

	return ctx, func() {
		forget()
		cancel()
	}
}

// write the inputs to the directory.
func (s *session) write(ctx context.Context) error {
	if s.done == nil {
		done, err := s.dir.Use(ctx)
		if err != nil {
			return errors.Wrap(err, "cannot use working directory")
		}

		ended := s.states.use(s.name)
		s.done = func() {
			ended()
			done()
		}
	}

	if err := s.fetch(ctx); err != nil {
		return err
	}

	// A fetched module may have a symbolic link there. What is inline is not there yet.
	if path, err := s.dir.Entrypoint(s.in.parameters.Entrypoint); err == nil {
		dir, err := filepath.Rel(s.dir.Path(), path)
		if err != nil {
			return errors.Wrap(err, "cannot use spec.forProvider.entrypoint")
		}

		s.in.enter(dir)
	}

	path, names, err := s.writeInputs()
	if err != nil {
		return err
	}

	s.varFiles = nil
	for _, name := range names {
		s.varFiles = append(s.varFiles, filepath.Join(path, name))
	}

	env := s.env(path)
	if s.in.gitCredentials != nil {
		if env, err = withGitCredentials(env, path); err != nil {
			return err
		}
	}

	s.target = &terraform.Workspace{Dir: path, Name: s.name, Env: env, Log: s.log}

	return nil
}

// writeInputs to the directory of the module. It returns the path that the runs
// have, and the names of the files of variables there.
func (s *session) writeInputs() (path string, varFiles []string, err error) {
	files, varFiles := s.in.all(), s.in.varFiles
	name := filepath.Join(s.in.parameters.Entrypoint, varsFile)

	// What is written in two steps is recorded in the first, so that a poll does not
	// change the record, twice, and wait for the disk.
	var later []string
	if len(s.in.parameters.Vars) > 0 {
		later = []string{name}
	}

	if err := s.dir.Sync(files, later...); err != nil {
		return "", nil, errors.Wrap(err, "cannot write module")
	}

	path, err = s.dir.Entrypoint(s.in.parameters.Entrypoint)
	if err != nil || len(later) == 0 {
		return path, varFiles, err
	}

	// How a value is to be read depends on the variable that the module, by now on
	// disk, declares.
	declared, err := vars.Declared(os.DirFS(path))
	if err != nil {
		return "", nil, errors.Wrap(err, "cannot read variables of module")
	}

	data, err := vars.Render(declared, s.in.parameters.Vars)
	if err != nil {
		return "", nil, errors.Wrap(err, "cannot use spec.forProvider.vars")
	}

	files[name] = workdir.File{Data: data, Secret: true}

	// First, so that all others win.
	return path, slices.Insert(slices.Clone(varFiles), 0, varsFile), errors.Wrap(s.dir.Sync(files), "cannot write variables")
}

// env returns the environment of the runs: what the Workspace asks for wins.
func (s *session) env(path string) []string {
	base := slices.Clone(s.environ)
	if s.in.cliConfig {
		base = append(base, "TF_CLI_CONFIG_FILE="+filepath.Join(path, cliConfigFile))
	}

	// Where the CLI keeps its data, and which workspace it uses, is up to the session: it
	// would look for both elsewhere.
	env := environ.Without(terraform.Environ(base, s.in.env...), "TF_DATA_DIR", "TF_WORKSPACE")
	if !s.in.pluginCache {
		env = environ.Without(env, plugincache.Variable)
	}

	return env
}

// init initializes the directory, whether or not that was done before.
func (s *session) init(ctx context.Context, o terraform.InitOptions) error {
	o.Args = s.in.parameters.InitArgs
	if s.in.backend {
		o.BackendConfigFile = filepath.Join(s.target.Dir, backendFile)
	}

	// A directory that is half initialized counts as not initialized.
	if !s.apart {
		if err := s.dir.ClearInitialized(); err != nil {
			return err
		}
	}

	// To wait for another instance that downloads a provider may take long.
	ctx, cancel := s.stoppable(ctx)
	defer cancel()

	err := plugincache.Init(ctx, s.pluginCacheRun(), func(env []string) error {
		target := *s.target
		target.Env = env

		err := s.cli.Init(ctx, target, o)

		// A first try with a backend that turned out to be wrong must not keep the
		// Workspace from using the right one.
		if s.stateless && terraform.IsBackendChange(err) {
			o.Reconfigure = true
			err = s.cli.Init(ctx, target, o)
		}

		if !terraform.IsInitRace(err) {
			return err
		}

		select {
		case <-ctx.Done():
			return err
		case <-time.After(initRaceWait):
			return s.cli.Init(ctx, target, o)
		}
	})
	if err != nil {
		return errors.Wrap(err, "cannot initialize")
	}

	if s.apart {
		return nil
	}

	if !o.State {
		s.storeInit()
	}

	return s.dir.MarkInitialized(s.in.parameters.Entrypoint, s.initDigest())
}

// initialized calls run. If that fails because it needs other providers, modules
// or another backend than were initialized, it initializes and calls it again.
func (s *session) initialized(ctx context.Context, run func() error) error {
	if err := s.prepare(ctx); err != nil {
		return err
	}

	err := run()
	if terraform.LacksWorkspaces(err) {
		return errors.Wrapf(err, "the backend has no named workspaces: set annotation %s to %q", meta.AnnotationKeyExternalName, terraform.DefaultWorkspace)
	}

	if !terraform.NeedsInit(err) {
		return err
	}

	if err := s.forgetInit(); err != nil {
		return err
	}

	if err := s.init(ctx, terraform.InitOptions{State: terraform.NeedsStateInit(err)}); err != nil {
		return err
	}

	return run()
}

// plan what has to be done, with a lock on the state or without.
func (s *session) plan(ctx context.Context, lock bool) (*terraform.Plan, error) {
	var p *terraform.Plan

	err := s.initialized(ctx, func() (err error) {
		p, err = s.cli.Plan(ctx, *s.target, terraform.PlanOptions{
			VarFiles: s.varFiles,
			Args:     s.in.parameters.PlanArgs,
			Out:      filepath.Join(s.dir.Path(), planFile),
			Lock:     lock,
		})

		return errors.Wrap(err, "cannot plan")
	})
	if err != nil {
		return nil, err
	}

	// It is shown in the status.
	for i, address := range p.Drift {
		p.Drift[i] = s.in.redactor.text(address)
	}

	return p, nil
}

// apply the supplied plan, or one that is made now if there is none. A plan that
// became stale, because the state changed meanwhile, is made again, once, provided
// that again has nothing against the state that it is made from.
func (s *session) apply(ctx context.Context, p *terraform.Plan, again func(*terraform.State) error, progress func(terraform.Progress)) (*terraform.Applied, error) {
	a, err := s.applyPlan(ctx, p, progress)
	if terraform.IsStalePlan(err) {
		created := p.Prior.Empty()

		var prior *terraform.State
		if p, prior, err = s.planned(ctx, false); err != nil {
			return nil, err
		}

		// Whoever made a state where there was none may think that it is his. The
		// next look finds out.
		if created && !prior.Empty() {
			return nil, takenError{}
		}

		if err := again(prior); err != nil {
			return nil, err
		}

		a, err = s.applyPlan(ctx, p, progress)
	}

	return a, errors.Wrap(err, "cannot apply")
}

// planned makes a plan and tells which state it is made from.
func (s *session) planned(ctx context.Context, lock bool) (*terraform.Plan, *terraform.State, error) {
	p, err := s.plan(ctx, lock)
	if err != nil {
		return nil, nil, err
	}

	if p.Prior != nil {
		return p, p.Prior, nil
	}

	// The plan does not tell, because it is encrypted for example.
	prior, err := s.state(ctx)

	return p, prior, err
}

func (s *session) applyPlan(ctx context.Context, p *terraform.Plan, progress func(terraform.Progress)) (*terraform.Applied, error) {
	o := terraform.ApplyOptions{Args: s.in.parameters.ApplyArgs, VarFiles: s.varFiles, Progress: progress}

	// planArgs and applyArgs do not influence one another. With arguments of either
	// that make another plan, the one at hand is not what is to be applied.
	if terraform.AppliesSavedPlan(s.in.parameters.PlanArgs) {
		o.PlanFile = p.File
	}

	return s.cli.Apply(ctx, *s.target, o)
}

// destroy everything that is in the state.
func (s *session) destroy(ctx context.Context, progress func(terraform.Progress)) error {
	return s.initialized(ctx, func() error {
		_, err := s.cli.Destroy(ctx, *s.target, terraform.DestroyOptions{
			VarFiles: s.varFiles,
			Args:     s.in.parameters.DestroyArgs,
			Progress: progress,
		})

		return errors.Wrap(err, "cannot destroy")
	})
}

// state returns the whole state, sensitive outputs included.
func (s *session) state(ctx context.Context) (*terraform.State, error) {
	var st *terraform.State

	err := s.initialized(ctx, func() (err error) {
		st, err = s.cli.PullState(ctx, *s.target)

		return errors.Wrap(err, "cannot read state")
	})

	return st, err
}

// unlock removes the lock of the supplied ID from the state.
func (s *session) unlock(ctx context.Context, id string) error {
	return s.initialized(ctx, func() error {
		return errors.Wrapf(s.cli.Unlock(ctx, *s.target, id), "cannot remove lock %s", id)
	})
}

// deleteWorkspace deletes the Terraform workspace, which has to be empty.
func (s *session) deleteWorkspace(ctx context.Context) error {
	return s.initialized(ctx, func() error {
		return errors.Wrap(s.cli.DeleteWorkspace(ctx, *s.target), "cannot delete Terraform workspace")
	})
}

// withoutModule makes the session forget the module, so that the state can be
// reached although the module is broken. It returns false, and does nothing, if
// that would lead to another state. A module that was fetched stays on disk.
func (s *session) withoutModule() bool {
	switch {
	case s.in.stateWithoutModule():
	case s.in.stateAnywhere():
		s.in.enter(apartDir)
		s.apart = true
	default:
		return false
	}

	s.initKey = ""
	s.in.module = newFileSet("")
	s.in.varFiles = nil
	s.in.parameters.Vars = nil
	s.detached = true
	s.target = nil

	return true
}

// close removes the plan and every secret from the directory.
func (s *session) close() error {
	if s.done == nil {
		return nil
	}
	defer s.done()

	return removeSecrets(s.dir)
}
