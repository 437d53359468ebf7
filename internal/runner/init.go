// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	"github.com/crossplane-contrib/provider-terraform/internal/plugincache"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
)

const (
	// initRaceWait is longer than the time in which a backend makes an empty state. The last wait, maxInitRaceWait, is for a slow one.
	initRaceWait    = time.Second
	maxInitRaceWait = 2 * time.Second

	// privatePlugins is the directory that replaces the plugin cache for one init.
	privatePlugins = ".crossplane-plugins"
)

// init initializes the directory, even if it is initialized already. It keeps the result for other
// directories under the supplied key, unless that is empty.
func (r *Runner) init(ctx context.Context, o terraform.InitOptions, key string) error {
	o.Args = r.args(toInit, r.Inputs.parameters.InitArgs...)
	if r.Inputs.backend {
		o.BackendConfigFile = filepath.Join(r.run.Dir, backendFile)
	}

	if r.usual != nil {
		return r.initUnsaved(ctx, o)
	}

	// A partly initialized directory counts as not initialized.
	if !r.inStateDir {
		if err := r.Dir.ClearInitialized(); err != nil {
			return err
		}
	}

	err := plugincache.Init(ctx, r.pluginCacheRun(), func(env []string) error { return r.tryInit(ctx, env, o) })
	if err != nil {
		err = r.forgetChecksums(err)
		if !o.State {
			err = r.explainModule(r.explainInit(err))
		}

		return errors.Wrap(err, "cannot initialize")
	}

	if r.inStateDir {
		return nil
	}

	if key != "" {
		_ = r.InitCache.Store(key, r.Dir.Path(), r.run.Dir) // Without it, the others run init.
	}

	return r.Dir.MarkInitialized(r.Inputs.parameters.Entrypoint, r.initDigest())
}

// tryInit runs init with the supplied environment, and again where that is the remedy.
func (r *Runner) tryInit(ctx context.Context, env []string, o terraform.InitOptions) error {
	target := *r.run
	target.Env = env

	err := r.CLI.Init(ctx, target, o)

	// A first try with a wrong backend must not prevent the Workspace from using the right one. A state that
	// the earlier backend did not take is saved to the next one.
	if (r.Stateless || r.hasUnsavedState()) && terraform.IsBackendChange(err) {
		o.Reconfigure = true
		err = r.CLI.Init(ctx, target, o)
	}

	for wait := initRaceWait; terraform.IsInitRace(err) && wait <= maxInitRaceWait; wait *= 2 {
		select {
		case <-ctx.Done():
			return err
		case <-time.After(wait):
			err = r.CLI.Init(ctx, target, o)
		}
	}

	return err
}

func (r *Runner) pluginCacheRun() plugincache.Run {
	registry := "registry.terraform.io"
	if r.CLI.Product == terraform.OpenTofu {
		registry = "registry.opentofu.org"
	}

	return plugincache.Run{
		Root:     r.Dir.Path(),
		Dir:      r.run.Dir,
		Private:  filepath.Join(r.Dir.Path(), privatePlugins),
		Env:      r.run.Env,
		Args:     r.Inputs.parameters.InitArgs,
		Registry: registry,
		Observe:  r.ObservePackage,
	}
}

// withInit calls run in a directory that is initialized. If run needs other providers, other modules
// or another backend, withInit initializes again and calls run once more. It does that twice if only the second run shows that the
// state needs a provider.
func (r *Runner) withInit(ctx context.Context, run func() error) error {
	if err := r.Prepare(ctx); err != nil {
		return err
	}

	err := run()

	for needs := terraform.NeedsInit(err); needs; {
		o := terraform.InitOptions{State: terraform.NeedsStateInit(err)}
		if err := r.initAgain(ctx, o); err != nil {
			return UnpreparedError{err}
		}

		err = run()
		// A module that uses another provider instead asks for that one first.
		needs = !o.State && terraform.NeedsStateInit(err)
	}

	// The next run asks for init.
	if terraform.HasBrokenProvider(err) {
		if kept := r.discardProviders(err); kept != nil {
			err = errors.Join(err, kept)
		}
	}

	switch {
	case terraform.LacksWorkspaces(err):
		return UnpreparedError{errors.Wrapf(err, "the backend has no named workspaces: set annotation %s to %q", meta.AnnotationKeyExternalName, terraform.DefaultWorkspace)}
	case terraform.CannotLoadState(err):
		return UnpreparedError{r.explainState(err)}
	default:
		return r.explainModule(err)
	}
}

// initAgain initializes a directory that was initialized for other inputs. The result of this init is
// not kept: it depends on the earlier one.
func (r *Runner) initAgain(ctx context.Context, o terraform.InitOptions) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(r.Stop, cancel)()

	// A run has failed with this result. Init would refuse to change its backend, for example. No run has
	// added anything to it here yet.
	if r.restoredKey != "" && r.usual == nil {
		_ = r.InitCache.Forget(r.restoredKey)
		r.restoredKey = ""

		if err := os.RemoveAll(filepath.Join(r.run.Dir, terraform.DataDir)); err != nil {
			return errors.Wrap(err, "cannot remove what init left elsewhere")
		}
	}

	if err := r.init(ctx, o, ""); err != nil {
		return err
	}

	return r.checkBackend()
}

// restoreInit copies the result of an init with this key from another directory, and says whether there is one.
func (r *Runner) restoreInit(key string) (bool, error) {
	if key == "" || !r.InitCache.Restore(key, r.run.Dir) {
		return false, nil
	}

	r.restoredKey = key

	return true, r.Dir.MarkInitialized(r.Inputs.parameters.Entrypoint, r.initDigest())
}
