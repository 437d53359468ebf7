// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"context"
	"maps"
	"path"
	"regexp"

	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/module"
	"github.com/crossplane-contrib/provider-terraform/internal/redact"
	"github.com/crossplane-contrib/provider-terraform/internal/vars"
	"github.com/crossplane-contrib/provider-terraform/internal/workdir"
)

// Inputs are all data that the runs of a Workspace depend on, except the CLI itself.
type Inputs struct {
	// parameters of the Workspace, with a clean entrypoint.
	parameters commonv1beta1.WorkspaceParameters

	// module has the files of the module, by their names relative to the directory of the Workspace.
	// config has the files that are written beside the module, by their names in its entrypoint.
	module, config map[string]workdir.File

	// varFiles are names of files of variables, relative to the directory that the CLI runs in.
	// Later files take precedence.
	varFiles []string

	// backend says that there is a partial backend configuration. Credentials may have a file of
	// that name, too.
	backend bool

	pluginCache bool
	env         []string
	secrets     *redact.Secrets

	// incomplete says which variables lack a value. Commands that do not need them can still run.
	incomplete error
}

// Gather reads all objects that the supplied parameters and configuration refer to. A missing file
// of variables is not an error of Gather: see Runner.Incomplete.
func Gather(ctx context.Context, kube client.Reader, p commonv1beta1.WorkspaceParameters, pc commonv1beta1.ProviderConfigSpec, credentials map[string][]byte) (*Inputs, error) {
	var err error
	if p.Entrypoint, err = workdir.CleanEntrypoint(p.Entrypoint); err != nil {
		return nil, err
	}

	in := &Inputs{
		parameters:  p,
		module:      module.InlineFiles(p),
		config:      map[string]workdir.File{},
		pluginCache: ptr.Deref(pc.PluginCache, true),
	}

	var secrets [][]byte

	for name, data := range credentials {
		secrets = append(secrets, data)
		in.config[name] = workdir.File{Data: data, Secret: true}
	}

	if pc.Configuration != nil {
		in.config[configurationFile] = workdir.File{Data: []byte(*pc.Configuration)}
	}

	if pc.BackendFile != nil {
		in.config[backendFile] = workdir.File{Data: []byte(*pc.BackendFile)}
		in.backend = true
	}

	env, err := vars.Env(ctx, kube, p.Env)
	if err != nil {
		return nil, errors.Wrap(err, "cannot resolve variables")
	}

	for _, v := range env {
		in.env = append(in.env, v.Name+"="+v.Value)

		if v.Secret {
			secrets = append(secrets, []byte(v.Value))
		}
	}

	if err := in.checkArgs(); err != nil {
		return nil, err
	}

	varFiles, err := vars.Files(ctx, kube, p)
	in.incomplete = errors.Wrap(err, "cannot resolve variables")

	for n, f := range varFiles {
		name := varFileName(n, f.JSON)
		in.config[name] = workdir.File{Data: f.Data, Secret: true}
		in.varFiles = append(in.varFiles, name)

		if f.Secret {
			secrets = append(secrets, f.Data)
		}
	}

	in.secrets = redact.New(secrets...)

	return in, nil
}

// Secrets among the inputs, which must not be shown.
func (in *Inputs) Secrets() *redact.Secrets { return in.secrets }

// gitCredentials returns the credentials file of git, or nil.
func (in *Inputs) gitCredentials() []byte { return in.config[gitCredentialsFile].Data }

// mentionsBackend matches text that may configure a backend. It has false positives, in comments
// for example, but no false negatives.
var mentionsBackend = regexp.MustCompile(`\b(backend|cloud)\b`)

// stateAnywhere says whether the state can be reached from any directory: the configuration says
// where it is, and it is not on this disk.
func (in *Inputs) stateAnywhere() bool {
	f, ok := in.config[configurationFile]
	if !ok {
		return false
	}

	backend := module.Backend(f.Data)

	return backend != "" && backend != "local"
}

// stateWithoutModule says whether the state can be reached from the directory of the module, but
// without the module. A module that configures the backend cannot be left out, because the CLI
// would find an empty state elsewhere.
func (in *Inputs) stateWithoutModule() bool {
	// A fetched module stays in place: its source may no longer exist.
	if in.parameters.Source != commonv1beta1.ModuleSourceInline {
		return false
	}

	if f, ok := in.config[configurationFile]; ok && module.Backend(f.Data) != "" {
		return true
	}

	for _, f := range in.all() {
		if mentionsBackend.Match(f.Data) {
			return false
		}
	}

	return true
}

// all returns all files by their names relative to the directory of the Workspace.
func (in *Inputs) all() map[string]workdir.File {
	files := maps.Clone(in.module)
	for name, f := range in.config {
		files[path.Join(in.parameters.Entrypoint, name)] = f
	}

	return files
}
