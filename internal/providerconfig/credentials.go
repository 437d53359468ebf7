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

// Credentials reads the credential files in the supplied specification. lookup returns
// environment variables. private is a directory from which no file is read: it has the states and
// credentials of all Workspaces. The result maps the base name of each file to its content. A missing key
// of a Secret is an error. A variable that is not set, or the source None, makes an empty file.
func Credentials(ctx context.Context, kube client.Reader, lookup func(string) (string, bool), private string, spec commonv1beta1.ProviderConfigSpec) (map[string][]byte, error) {
	files := make(map[string][]byte, len(spec.Credentials))
	values := keyref.NewReader(kube)

	for _, c := range spec.Credentials {
		name := filepath.Base(filepath.Clean(c.Filename))
		if !filepath.IsLocal(name) || name == "." || len(name) > 255 || strings.ContainsRune(name, 0) {
			return nil, errors.Errorf("filename %.100q in spec.credentials of the ProviderConfig does not name a file of at most 255 bytes", c.Filename)
		}

		data, err := extract(ctx, values, lookup, private, c)
		if err != nil {
			return nil, errors.Wrapf(err, "cannot read credentials %q in spec.credentials of the ProviderConfig", c.Filename)
		}

		files[name] = data
	}

	return files, nil
}

func extract(ctx context.Context, values *keyref.Reader, lookup func(string) (string, bool), private string, c commonv1beta1.ProviderCredentials) ([]byte, error) {
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

		v, _ := lookup(c.Env.Name)

		return values.Add([]byte(v))
	case xpv2.CredentialsSourceFilesystem:
		if c.Fs == nil {
			return nil, errors.New("source is Filesystem, but fs is not set")
		}

		data, err := regular.Read(c.Fs.Path, maxFile)
		if err != nil {
			return nil, err
		}

		if inside, err := regular.Within(private, c.Fs.Path); inside || err != nil {
			return nil, cmp.Or(err, errors.Errorf("cannot use %q: it is below the directory of the working directories, XP_TF_DIR", c.Fs.Path))
		}

		return values.Add(data)
	case xpv2.CredentialsSourceNone:
		return nil, nil
	case xpv2.CredentialsSourceInjectedIdentity:
		fallthrough
	default:
		return nil, errors.Errorf("source %q is not one of None, Secret, Environment, Filesystem", c.Source)
	}
}
