// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package runner

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

// fetch fetches the module, unless it is inline or up to date.
func (r *Runner) fetch(ctx context.Context) error {
	if r.inStateDir {
		return nil
	}

	request := module.Request{
		Parameters: r.Inputs.parameters,
		Namespace:  r.Namespace,
		Dir:        r.Dir,
		CLI:        r.CLI,
		// Not that of the Workspace: with its credentials of a cloud, the right of the pod to read the modules would be lost.
		Env:            r.Environ,
		GitCredentials: r.Inputs.gitCredentials(),
		Redact:         r.Inputs.secrets.Text,
	}
	if r.Deleted {
		request.FetchFailed = func(err error) { r.fetchErr = err }
	}

	source, err := r.Fetcher.Ensure(ctx, request)
	if err != nil {
		return err
	}

	r.source = source

	return nil
}

// begin begins to use the directory, until Close. Otherwise the removal of secrets that dead processes have left would
// remove what is being written.
func (r *Runner) begin(ctx context.Context) error {
	if r.done != nil {
		return nil
	}

	done, err := r.Dir.Use(ctx)
	if err != nil {
		return errors.Wrap(err, "cannot use working directory")
	}

	ended := r.Use()
	r.done = func() {
		ended()
		done()
	}

	return nil
}

// write writes the inputs to the directory.
func (r *Runner) write(ctx context.Context) error {
	if err := r.begin(ctx); err != nil {
		return err
	}

	if err := r.fetch(ctx); err != nil {
		return err
	}

	// A fetched module may have a symbolic link there. An inline module is not written yet.
	if dir, err := r.Dir.ResolveEntrypoint(r.Inputs.parameters.Entrypoint); err == nil {
		r.Inputs.parameters.Entrypoint = dir
	}

	path, err := r.writeInputs()
	if err != nil {
		return err
	}

	env, err := r.withGitCredentials(r.withTempDir(r.env(path)), path)
	if err != nil {
		return err
	}

	if r.usual != nil {
		env = append(environ.Without(env, plugincache.Variable), "TF_DATA_DIR="+filepath.Join(r.Dir.Path(), unsavedDir, terraform.DataDir))
	}

	r.run = &terraform.Workspace{Dir: path, Name: r.Name, Env: env, Mark: r.mark, Log: r.Log, Redact: r.Inputs.secrets.Text, Origin: r.Inputs.origin}

	return nil
}

// writeInputs writes the inputs, and returns the path that the commands run in.
func (r *Runner) writeInputs() (path string, err error) {
	files := r.Inputs.all()
	r.varFiles = r.Inputs.varFiles
	name := filepath.Join(r.Inputs.parameters.Entrypoint, varsFile)

	// The second step's file is recorded in the first one. Otherwise each poll would change the record
	// twice and wait for the disk.
	var later []string
	if len(r.Inputs.parameters.Vars) > 0 {
		later = []string{name}
	}

	if err := r.Dir.Sync(files, later...); err != nil {
		return "", r.Inputs.unwritten(err, "cannot write module")
	}

	dir, err := r.Dir.ResolveEntrypoint(r.Inputs.parameters.Entrypoint)
	if err != nil {
		return "", err
	}

	path = filepath.Join(r.Dir.Path(), dir)

	if len(later) == 0 {
		return path, nil
	}

	// The type of a value depends on the variable that the module, which is now on disk, declares.
	declared, err := r.declared()
	if err != nil {
		return "", errors.Wrap(err, "cannot read variables of module")
	}

	data, err := vars.Render(declared, r.Inputs.parameters.Vars)
	if err != nil {
		r.Inputs.incomplete = errors.Wrap(err, "cannot use spec.forProvider.vars")

		return path, nil
	}

	files[name] = workdir.File{Data: data, Secret: true}
	r.Inputs.origins[varsFile] = origin{field: "spec.forProvider.vars", rendered: data}

	// All other files take precedence.
	r.varFiles = append([]string{varsFile}, r.varFiles...)

	return path, r.Inputs.unwritten(r.Dir.Sync(files), "cannot write variables")
}

// declared returns the variables that the module declares.
func (r *Runner) declared() (vars.Declarations, error) {
	var d vars.Declarations

	err := r.readModule(func(dir fs.FS) (err error) {
		d, err = vars.Declared(dir, r.CLI)

		return err
	})

	return d, err
}

// IsModuleEmpty says whether no file of the module in the entrypoint has a block, as if a template was rendered to
// nothing, and, if alone is true, no file of the ProviderConfig has resources, either. The CLI refuses to plan without any
// file, but there is always one of the provider.
func (r *Runner) IsModuleEmpty(alone bool) (bool, error) {
	empty := true

	err := r.eachFile(func(name string, src []byte, err error) {
		if _, ofConfig := r.Inputs.config[name]; !ofConfig {
			empty = empty && err == nil && terraform.IsEmptyFile(src, name)
		} else if alone {
			resources, calls := terraform.DeclaredResources(src, name)
			empty = empty && len(resources)+len(calls) == 0
		}
	})

	return empty, err
}

// eachFile calls read with each file in the entrypoint that the CLI reads as a part of the module, or with the error.
func (r *Runner) eachFile(read func(name string, src []byte, err error)) error {
	return r.readModule(func(dir fs.FS) error {
		entries, err := fs.ReadDir(dir, ".")
		for _, name := range r.CLI.Files(entries) {
			src, err := fs.ReadFile(dir, name)
			read(name, src, err)
		}

		return err
	})
}

// readModule calls read with the directory of the entrypoint.
func (r *Runner) readModule(read func(dir fs.FS) error) error {
	root, err := os.OpenRoot(r.Dir.Path())
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // Nothing is written through it.

	// Files of the module may be links to its files outside of the entrypoint.
	dir, err := fs.Sub(regular.FS(root, terraform.MaxFile), r.Inputs.parameters.Entrypoint)
	if err != nil {
		return err
	}

	return read(dir)
}

// env returns the environment of the runs. Variables of the Workspace take precedence.
func (r *Runner) env(path string) []string {
	base := slices.Clone(r.Environ)
	if _, ok := r.Inputs.config[cliConfigFile]; ok {
		base = append(base, configFileVariable+"="+filepath.Join(path, cliConfigFile))
	}

	env := terraform.Environ(base, r.Inputs.env...)
	if !r.Inputs.pluginCache {
		env = environ.Without(env, plugincache.Variable)
	}

	return env
}

// withGitCredentials makes git take its credentials only from the file in dir, if there is one: init runs
// git for modules that a module uses. Other configuration of git in env stays.
func (r *Runner) withGitCredentials(env []string, dir string) ([]string, error) {
	if r.Inputs.gitCredentials() == nil {
		return env, nil
	}

	// Images with a git configuration of their own refer to this variable.
	const variable = "GIT_CRED_DIR"

	env, err := environ.WithGitConfig(environ.Without(env, variable),
		// The first value makes git forget the helpers that it knows.
		"credential.helper", "",
		"credential.helper", environ.GitCredentialHelper("$"+variable+"/"+gitCredentialsFile),
	)
	if err != nil {
		return nil, err
	}

	return append(env, variable+"="+dir), nil
}
