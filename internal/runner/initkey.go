// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/environ"
	"github.com/crossplane-contrib/provider-terraform/internal/initcache"
	"github.com/crossplane-contrib/provider-terraform/internal/plugincache"
	"github.com/crossplane-contrib/provider-terraform/internal/regular"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/internal/workdir"
)

// needsOwnInit says whether init checks for newer versions, or downloads the module itself.
func (r *Runner) needsOwnInit() bool {
	return slices.ContainsFunc(r.initWords(), func(word string) bool {
		return strings.Contains(word, "-upgrade") || strings.Contains(word, "-from-module")
	})
}

// initWords returns the arguments of init from all sources.
func (r *Runner) initWords() []string {
	return slices.Concat(r.Inputs.parameters.InitArgs, environ.Args(r.run.Env, "init"))
}

// initDigest returns a digest of the inputs of init whose change plan does not report. When providers,
// modules or the backend of the module change, plan asks for init.
func (r *Runner) initDigest() string {
	files := r.Inputs.configFiles(configurationFile, backendFile, cliConfigFile)
	r.addNamedFiles(files) // Such as one of -backend-config. One that is too large does not count.

	return workdir.Digest(files, r.initSettings()...)
}

// initVariable matches variables that decide which modules may be fetched, and from where, and which state
// is read. Variables that decide where providers come from are part of plugincache.Origin.
var initVariable = regexp.MustCompile(`^(?:GIT_|AWS_|GOOGLE_|TF_HTTP_|TF_ENCRYPTION=)`)

// newInitKey returns a digest of everything that init depends on: all files that it may read, the
// settings that decide where providers and modules come from, and the environment of the Workspace, which
// has credentials. Workspaces that differ only in variables that init does not use share the result. If a
// module that init downloads uses one, the next run asks for init. The key is empty if the result must not be
// shared: init ran here before, or depends on something that is not read here.
func (r *Runner) newInitKey() (string, error) {
	if !initcache.Fresh(r.run.Dir) || r.needsOwnInit() {
		return "", nil
	}

	var variables []string
	for _, name := range r.varFiles {
		variables = append(variables, path.Join(r.Inputs.parameters.Entrypoint, name))
	}

	files, err := r.Dir.Files(variables...)
	if err != nil {
		return "", errors.Wrap(err, "cannot read module")
	}

	usesVariables := r.initUsesVariables(slices.Collect(maps.Keys(files)))
	if usesVariables {
		if files, err = r.Dir.Files(); err != nil {
			return "", errors.Wrap(err, "cannot read module")
		}
	}

	// The next token would be another key. That of another ServiceAccount is one: it may fetch other modules.
	for name, selector := range r.Inputs.tokens {
		files[path.Join(r.Inputs.parameters.Entrypoint, name)] = workdir.File{Data: []byte(workdir.Encode(selector, r.Namespace))}
	}

	if known := r.addNamedFiles(files); !known {
		return "", nil
	}

	origin, err := plugincache.Origin(r.run.Env, r.run.Dir)
	if err != nil {
		return "", err
	}

	env := slices.Clone(r.Inputs.env)

	// Instances that share a volume may differ in these variables.
	for _, kv := range r.Environ {
		if initVariable.MatchString(kv) || isInput(kv) {
			env = append(env, kv)
		}
	}

	if !usesVariables {
		env = slices.DeleteFunc(env, isInput)
	}

	return workdir.Digest(files, append(r.initSettings(), r.CLI.Path, origin, workdir.Encode(env))...), nil
}

// initSettings returns the inputs of init that are not files and are the same in every directory.
func (r *Runner) initSettings() []string {
	return []string{workdir.Encode(r.initWords(), r.Inputs.pluginCache, r.Inputs.parameters.Entrypoint), string(r.CLI.Product), r.CLI.Version}
}

// isInput says whether a variable of the environment is an input variable.
func isInput(kv string) bool { return strings.HasPrefix(kv, "TF_VAR_") }

// initUsesVariables says whether one of the files of these names makes init depend on variables.
func (r *Runner) initUsesVariables(names []string) bool {
	root, err := os.OpenRoot(r.Dir.Path())
	if err != nil {
		return true
	}
	defer root.Close() //nolint:errcheck // Nothing is written through it.

	fsys := regular.FS(root, terraform.MaxFile)

	return slices.ContainsFunc(names, func(name string) bool {
		if _, ok := terraform.ConfigurationFile(path.Base(name)); !ok {
			return false
		}

		src, err := fs.ReadFile(fsys, name)

		return err != nil || terraform.InitUsesVariables(src, name)
	})
}

// configFiles returns the files of these names that are written beside the module.
func (in *Inputs) configFiles(names ...string) map[string]workdir.File {
	files := maps.Clone(in.config)
	maps.DeleteFunc(files, func(name string, _ workdir.File) bool { return !slices.Contains(names, name) })

	return files
}

// addNamedFiles adds the files that arguments of init name, anywhere on this machine. known is false if one
// of them is not read, such as a pipe.
func (r *Runner) addNamedFiles(files map[string]workdir.File) (known bool) {
	for _, word := range r.initWords() {
		name := word
		if _, value, ok := strings.Cut(word, "="); ok {
			name = value
		}

		path := name
		if !filepath.IsAbs(path) {
			path = filepath.Join(r.run.Dir, path)
		}

		// Most arguments name no file.
		if info, err := os.Stat(path); err != nil || info.IsDir() {
			continue
		}

		data, err := regular.Read(path, regular.MiB) // Files that configure a backend are smaller.
		if err != nil {
			return false
		}

		files["argument "+name] = workdir.File{Data: data}
	}

	return true
}
