// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package providerconfig

import (
	"cmp"
	"context"
	"path/filepath"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/environ"
	"github.com/crossplane-contrib/provider-terraform/internal/keyref"
	"github.com/crossplane-contrib/provider-terraform/internal/regular"
)

// maxFile is the size of the largest credentials file. It is the limit of a Secret.
const maxFile = regular.MiB

// Sources of credentials.
type Sources struct {
	Kube   client.Reader
	Tokens *Tokens

	// Lookup returns environment variables.
	Lookup func(string) (string, bool)

	// Private is a directory from which no file is read: it has the states and credentials of all Workspaces.
	Private string
}

// Credentials reads the credential files in the supplied specification, for a Workspace in the supplied namespace. The
// result maps the base name of each file to its content. A missing key of a Secret is an error. A variable that is not
// set, or the source None, makes an empty file.
func (s Sources) Credentials(ctx context.Context, spec commonv1beta1.ProviderConfigSpec, namespace string) (map[string][]byte, error) {
	files := make(map[string][]byte, len(spec.Credentials))
	values := keyref.NewReader(s.Kube)

	for _, c := range spec.Credentials {
		name := c.BaseName()
		if !filepath.IsLocal(name) || name == "." || len(name) > 255 || strings.ContainsRune(name, 0) {
			return nil, errors.Errorf("filename %.100q in spec.credentials of the ProviderConfig does not name a file of at most 255 bytes", c.Filename)
		}

		data, err := s.extract(ctx, values, c, namespace)
		if err != nil {
			return nil, errors.Wrapf(err, "cannot read credentials %q in spec.credentials of the ProviderConfig", c.Filename)
		}

		files[name] = data
	}

	return files, nil
}

func (s Sources) extract(ctx context.Context, values *keyref.Reader, c commonv1beta1.ProviderCredentials, namespace string) ([]byte, error) {
	switch c.Source {
	case xpv2.CredentialsSourceSecret:
		if c.SecretRef == nil {
			return nil, errors.New("source is Secret, but secretRef is not set")
		}

		return values.Secret(ctx, c.SecretRef.Namespace, c.SecretRef.Name, c.SecretRef.Key)
	case xpv2.CredentialsSourceEnvironment:
		if c.Env == nil {
			return nil, errors.New("source is Environment, but env is not set")
		}

		if err := environ.CheckName(c.Env.Name); err != nil {
			return nil, errors.Wrap(err, "env.name")
		}

		v, _ := s.Lookup(c.Env.Name)

		return values.Add([]byte(v))
	case xpv2.CredentialsSourceFilesystem:
		if c.Fs == nil {
			return nil, errors.New("source is Filesystem, but fs is not set")
		}

		data, err := s.read(c.Fs.Path)
		if err != nil {
			return nil, err
		}

		return values.Add(data)
	case commonv1beta1.CredentialsSourceServiceAccountToken:
		if c.ServiceAccountToken == nil {
			return nil, errors.New("source is ServiceAccountToken, but serviceAccountToken is not set")
		}

		data, err := s.Tokens.Get(ctx, *c.ServiceAccountToken, namespace)
		if err != nil {
			return nil, err
		}

		return values.Add(data)
	case xpv2.CredentialsSourceNone:
		return nil, nil
	case xpv2.CredentialsSourceInjectedIdentity:
		fallthrough
	default:
		return nil, errors.Errorf("source %q is not one of None, Secret, Environment, Filesystem, ServiceAccountToken", c.Source)
	}
}

func (s Sources) read(path string) ([]byte, error) {
	data, err := regular.Read(path, maxFile)
	if err != nil {
		return nil, err
	}

	if inside, err := regular.Within(s.Private, path); inside || err != nil {
		return nil, cmp.Or(err, errors.Errorf("cannot use %q: it is below the directory of the working directories, XP_TF_DIR", path))
	}

	return data, nil
}
