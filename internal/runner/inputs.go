// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/environ"
	"github.com/crossplane-contrib/provider-terraform/internal/keyref"
	"github.com/crossplane-contrib/provider-terraform/internal/module"
	"github.com/crossplane-contrib/provider-terraform/internal/redact"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/internal/workdir"
)

// Inputs are all data that the runs of a Workspace depend on, except the CLI itself.
type Inputs struct {
	parameters commonv1beta1.WorkspaceParameters // With a clean entrypoint.

	module   map[string]workdir.File // By names relative to the directory of the Workspace.
	config   map[string]workdir.File // Files beside the module, by names in its entrypoint.
	varFiles []string                // Names in config of files of variables. Later ones take precedence.
	tokens   tokens                  // By names in config.
	origins  map[string]origin       // By the names of files that the CLI may report.

	// backend says that there is a partial backend configuration. Credentials may have a file of
	// that name, too.
	backend bool

	pluginCache bool
	env         []string
	secrets     *redact.Secrets

	// incomplete says which variables lack a value. Commands that do not need them can still run.
	incomplete error
}

// tokens are the files whose content is a token, which changes while its meaning stays.
type tokens map[string]commonv1beta1.ServiceAccountTokenSelector

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
		tokens:      tokens{},
		origins:     map[string]origin{},
		pluginCache: ptr.Deref(pc.PluginCache, true),
	}

	for name := range in.module {
		in.origins[path.Base(name)] = origin{field: "spec.forProvider.module", lines: true}
	}

	var secrets, variables [][]byte

	for name, data := range credentials {
		if _, ok := in.module[path.Join(p.Entrypoint, name)]; ok {
			return nil, errors.Errorf("cannot use the filename %q in spec.credentials of the ProviderConfig: the provider writes spec.forProvider.module to this file", name)
		}

		data = withoutWindows(name, data)

		if terraform.IsAutoVariables(name) {
			variables = append(variables, data)
		} else {
			secrets = append(secrets, secretsIn(name, data)...)
		}

		in.config[name] = workdir.File{Data: data, Secret: true}
		in.origins[name] = origin{field: `spec.credentials of the ProviderConfig, filename "` + name + `"`, lines: true}
	}

	for _, c := range pc.Credentials {
		delete(in.tokens, c.BaseName()) // The last one counts.

		if c.Source == commonv1beta1.CredentialsSourceServiceAccountToken && c.ServiceAccountToken != nil {
			in.tokens[c.BaseName()] = *c.ServiceAccountToken
		}
	}

	if pc.Configuration != nil {
		in.config[configurationFile] = workdir.File{Data: []byte(*pc.Configuration)}
		in.origins[configurationFile] = origin{field: "spec.configuration of the ProviderConfig", lines: true}
	}

	if pc.BackendFile != nil {
		in.config[backendFile] = workdir.File{Data: []byte(*pc.BackendFile)}
		in.origins[backendFile] = origin{field: "spec.backendFile of the ProviderConfig", lines: true}
		in.backend = true
	}

	fromEnv, err := in.addEnv(ctx, keyref.NewReader(kube))
	if err != nil {
		return nil, errors.Wrap(err, "cannot resolve variables")
	}

	fromFiles, err := in.addVarFiles(ctx, keyref.NewReader(kube))
	in.incomplete = errors.Wrap(err, "cannot resolve variables")

	variables = append(variables, fromFiles...)
	others := slices.Concat(secrets, fromEnv)
	in.secrets = redact.New(slices.Concat(others, variables)...).With(nil, variablesIn(variables, others...)...)

	return in, nil
}

// withoutWindows returns the contents of a file of credentials without what editors of Windows add and its reader does
// not take: Git reads a carriage return as a part of the host, and skips a first line that begins with a byte order mark.
func withoutWindows(name string, data []byte) []byte {
	switch name {
	case gitCredentialsFile:
		return bytes.ReplaceAll(bytes.TrimPrefix(data, []byte("\ufeff")), []byte("\r\n"), []byte("\n"))
	case cliConfigFile:
		return bytes.TrimPrefix(data, []byte("\ufeff"))
	default:
		return data
	}
}

// addEnv resolves the environment variables, in their order, and returns the secrets in them. A value
// that is not empty takes precedence over a ConfigMap, and a ConfigMap over a Secret. Without any of
// them the variable is empty.
func (in *Inputs) addEnv(ctx context.Context, values *keyref.Reader) (secrets [][]byte, err error) {
	for i, v := range in.parameters.Env {
		if err := environ.CheckName(v.Name); err != nil {
			return nil, errors.Wrapf(err, "spec.forProvider.env[%d].name", i)
		}

		data := []byte(v.Value)

		switch {
		case v.Value != "":
		case v.ConfigMapKeyReference != nil:
			ref := v.ConfigMapKeyReference
			data, err = values.ConfigMap(ctx, ref.Namespace, ref.Name, ref.Key)
		case v.SecretKeyReference != nil:
			ref := v.SecretKeyReference
			data, err = values.Secret(ctx, ref.Namespace, ref.Name, ref.Key)
			secrets = append(secrets, data)

			if strings.HasPrefix(v.Name, "TF_CLI_ARGS") {
				secrets = append(secrets, secretArguments(string(data))...)
			}
		}

		if err == nil {
			err = environ.CheckValue(v.Name, data)
		}

		if err != nil {
			return nil, errors.Wrapf(err, "spec.forProvider.env %s", v.Name)
		}

		in.env = append(in.env, v.Name+"="+string(data))
	}

	return secrets, nil
}

// endingWithLine returns the names of the environment variables and of the vars whose values are one line that ends with a line
// break. Tools add one to Secrets, and YAML to a text after "|". It does no harm after a list or an object.
func (in *Inputs) endingWithLine() (env, vars []string) {
	ends := func(value string) bool {
		line := strings.TrimRight(value, "\r\n")

		return line != value && !strings.Contains(line, "\n") && !strings.HasPrefix(line, "[") && !strings.HasPrefix(line, "{")
	}

	for _, kv := range in.env {
		if name, value, _ := strings.Cut(kv, "="); ends(value) {
			env = append(env, name)
		}
	}

	for _, v := range in.parameters.Vars {
		if ends(v.Value) {
			vars = append(vars, v.Key)
		}
	}

	return env, vars
}

// secretArguments returns what the CLI and the programs that it starts may print of arguments: one of them, or the value
// of -var=NAME=VALUE.
func secretArguments(text string) (secrets [][]byte) {
	for _, word := range environ.Words(text) {
		_, value, _ := strings.Cut(word, "=")
		_, inner, _ := strings.Cut(value, "=")
		secrets = append(secrets, []byte(word), []byte(value), []byte(inner))
	}

	return secrets
}

// addVarFiles resolves the files of variables, in the order in which the CLI reads them, and returns
// those that are secret: varFiles, then varmap, which takes precedence. It adds all of them or none.
func (in *Inputs) addVarFiles(ctx context.Context, values *keyref.Reader) (secrets [][]byte, err error) {
	var names []string

	files := map[string]workdir.File{}
	origins := map[string]origin{}
	add := func(data []byte, json bool, o origin) {
		// HCL needs a line break after the end of a heredoc.
		if !json && !bytes.HasSuffix(data, []byte("\n")) {
			data = slices.Concat(data, []byte("\n"))
		}

		name := varFileName(len(names), json)
		files[name] = workdir.File{Data: data, Secret: true}
		origins[name] = o
		names = append(names, name)
	}

	for i, f := range in.parameters.VarFiles {
		data, from, err := readVarFile(ctx, values, f)
		if err != nil {
			return nil, errors.Wrapf(err, "spec.forProvider.varFiles[%d]", i)
		}

		// The CLI refuses a byte order mark in JSON.
		data = bytes.TrimPrefix(data, []byte("\ufeff"))
		isJSON := ptr.Deref(f.Format, commonv1beta1.FileFormatHCL) == commonv1beta1.FileFormatJSON

		if err := checkVarFile(data, isJSON); err != nil {
			return nil, errors.Wrapf(err, "spec.forProvider.varFiles[%d] (%s)", i, from)
		}

		add(data, isJSON,
			origin{field: fmt.Sprintf("spec.forProvider.varFiles[%d] (%s)", i, from), lines: true})

		if f.Source == commonv1beta1.VarFileSourceSecretKey {
			secrets = append(secrets, data)
		}
	}

	if m := in.parameters.VarMap; m != nil && len(m.Raw) > 0 {
		add(m.Raw, true, origin{field: "spec.forProvider.varmap"})
	}

	maps.Copy(in.config, files)
	maps.Copy(in.origins, origins)
	in.varFiles = names

	return secrets, nil
}

// checkVarFile returns an error if the CLI would misread a file of variables, or not say what is wrong.
func checkVarFile(data []byte, isJSON bool) error {
	switch {
	case bytes.IndexByte(data, 0) >= 0:
		return errors.New("the file contains NUL bytes, as UTF-16 does: save it as UTF-8")
	case !utf8.Valid(data): // In JSON, the CLI replaces such bytes without an error.
		return errors.New("the file is not UTF-8: save it as UTF-8")
	case !isJSON && bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")):
		return errors.New("the file begins like JSON: set format to JSON, or correct it")
	case isJSON && !bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")): // The CLI would show the letters that it begins with.
		return errors.New("the file is no JSON object: set format to HCL if it has lines name = value. " + terraform.OneValue)
	default:
		return nil
	}
}

// readVarFile returns the content of a file of variables, and the key that it is from.
func readVarFile(ctx context.Context, values *keyref.Reader, f commonv1beta1.VarFile) (data []byte, from string, err error) {
	ref, kind, field, read := f.ConfigMapKeyReference, "ConfigMap", "configMapKeyRef", values.ConfigMap
	if f.Source == commonv1beta1.VarFileSourceSecretKey {
		ref, kind, field, read = f.SecretKeyReference, "Secret", "secretKeyRef", values.Secret
	}

	if ref == nil {
		return nil, "", errors.Errorf("source is %s, but %s is not set", f.Source, field)
	}

	data, err = read(ctx, ref.Namespace, ref.Name, ref.Key)

	return data, fmt.Sprintf("%s %s/%s, key %s", kind, ref.Namespace, ref.Name, ref.Key), err
}

// Secrets among the inputs, which must not be shown.
func (in *Inputs) Secrets() *redact.Secrets { return in.secrets }

// Hide adds former secrets, which must not be shown, too. It takes away the words in public.
func (in *Inputs) Hide(former []*redact.Secrets, public ...string) {
	in.secrets = in.secrets.With(former, public...)
}

func (in *Inputs) gitCredentials() []byte { return in.config[gitCredentialsFile].Data }

// mentionsBackend matches all text that configures a backend, and other text, such as comments.
var mentionsBackend = regexp.MustCompile(`\b(backend|cloud)\b`)

// configuredBackend returns the type of the backend in the configuration, or nothing.
func (in *Inputs) configuredBackend() string {
	return module.Backend(in.config[configurationFile].Data)
}

// stateAnywhere says whether the state can be reached from any directory: the configuration says
// where it is, and it is not on this disk.
func (in *Inputs) stateAnywhere() bool {
	backend := in.configuredBackend()

	return backend != "" && backend != "local"
}

// stateWithoutModule says whether the state can be reached from the directory of the module without the
// module. If the module configures the backend, the CLI would find an empty state elsewhere.
func (in *Inputs) stateWithoutModule() bool {
	// A fetched module stays in place: its source may no longer exist.
	if in.parameters.Source != commonv1beta1.ModuleSourceInline {
		return false
	}

	if in.configuredBackend() != "" {
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
