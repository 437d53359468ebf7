// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/environ"
	"github.com/crossplane-contrib/provider-terraform/internal/module"
	"github.com/crossplane-contrib/provider-terraform/internal/plugincache"
	"github.com/crossplane-contrib/provider-terraform/internal/regular"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/internal/vars"
	"github.com/crossplane-contrib/provider-terraform/internal/workdir"
)

// maxModuleFile is the size of the largest file of a module that is parsed here. In what
// is longer no variables are found.
const maxModuleFile = 16 * regular.MiB

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
		Redact:         s.in.secrets.Text,
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

	s.target = &terraform.Workspace{Dir: path, Name: s.name, Env: env, Log: s.log, Redact: s.in.secrets.Text}

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

	path, err = s.dir.Entrypoint(s.in.entrypoint)
	if err != nil || len(later) == 0 {
		return path, varFiles, err
	}

	// How a value is to be read depends on the variable that the module, by now on
	// disk, declares.
	declared, err := s.declared(path)
	if err != nil {
		return "", nil, errors.Wrap(err, "cannot read variables of module")
	}

	data, err := vars.Render(declared, s.in.parameters.Vars)
	if err != nil {
		s.in.incomplete = errors.Wrap(err, "cannot use spec.forProvider.vars")

		return path, varFiles, nil
	}

	files[name] = workdir.File{Data: data, Secret: true}

	// First, so that all others win.
	return path, slices.Insert(slices.Clone(varFiles), 0, varsFile), errors.Wrap(s.dir.Sync(files), "cannot write variables")
}

// declared returns the variables that the module in the directory at path declares.
func (s *session) declared(path string) (vars.Declarations, error) {
	root, err := os.OpenRoot(s.dir.Path())
	if err != nil {
		return vars.Declarations{}, err
	}
	defer root.Close() //nolint:errcheck // Nothing is written through it.

	rel, err := filepath.Rel(s.dir.Path(), path)
	if err != nil {
		return vars.Declarations{}, err
	}

	// Files of the module may be links to others of it, outside of the entrypoint.
	dir, err := fs.Sub(regular.FS(root, maxModuleFile), filepath.ToSlash(rel))
	if err != nil {
		return vars.Declarations{}, err
	}

	return vars.Declared(dir)
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
