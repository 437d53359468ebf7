// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package vars

import (
	"context"

	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/keyref"
)

// A File holds values of variables.
type File struct {
	Data []byte

	// JSON says that Data is JSON. Otherwise it is HCL.
	JSON bool

	// Secret says that Data comes from a Secret.
	Secret bool
}

// A Variable is one of an environment.
type Variable struct {
	Name  string
	Value string

	// Secret says that Value comes from a Secret.
	Secret bool
}

// Env resolves the supplied environment variables, in their order. A value that is not empty
// takes precedence over a ConfigMap, and a ConfigMap over a Secret. Without any of them the
// variable is empty.
func Env(ctx context.Context, kube client.Reader, vars []commonv1beta1.EnvVar) ([]Variable, error) {
	env := make([]Variable, 0, len(vars))
	values := keyref.NewReader(kube)

	for _, v := range vars {
		var err error

		data, secret := []byte(v.Value), false

		switch {
		case v.Value != "":
		case v.ConfigMapKeyReference != nil:
			ref := v.ConfigMapKeyReference
			data, err = values.ConfigMap(ctx, ref.Namespace, ref.Name, ref.Key)
		case v.SecretKeyReference != nil:
			ref := v.SecretKeyReference
			data, err = values.Secret(ctx, ref.Namespace, ref.Name, ref.Key)
			secret = true
		}

		if err != nil {
			return nil, errors.Wrapf(err, "environment variable %q", v.Name)
		}

		env = append(env, Variable{Name: v.Name, Value: string(data), Secret: secret})
	}

	return env, nil
}

// Files resolves the files of variables of a Workspace, in the order in which the CLI reads them:
// varFiles, then varmap, which takes precedence.
func Files(ctx context.Context, kube client.Reader, p commonv1beta1.WorkspaceParameters) ([]File, error) {
	files := make([]File, 0, len(p.VarFiles)+1)
	values := keyref.NewReader(kube)

	for i, f := range p.VarFiles {
		data, err := varFile(ctx, values, f)
		if err != nil {
			return nil, errors.Wrapf(err, "varFiles[%d]", i)
		}

		files = append(files, File{
			Data:   data,
			JSON:   ptr.Deref(f.Format, commonv1beta1.FileFormatHCL) == commonv1beta1.FileFormatJSON,
			Secret: f.Source == commonv1beta1.VarFileSourceSecretKey,
		})
	}

	if p.VarMap != nil && len(p.VarMap.Raw) > 0 {
		files = append(files, File{Data: p.VarMap.Raw, JSON: true})
	}

	return files, nil
}

func varFile(ctx context.Context, values *keyref.Reader, f commonv1beta1.VarFile) ([]byte, error) {
	switch f.Source {
	case commonv1beta1.VarFileSourceConfigMapKey:
		ref := f.ConfigMapKeyReference
		if ref == nil {
			return nil, errors.New("source is ConfigMapKey, but configMapKeyRef is not set")
		}

		return values.ConfigMap(ctx, ref.Namespace, ref.Name, ref.Key)
	case commonv1beta1.VarFileSourceSecretKey:
		ref := f.SecretKeyReference
		if ref == nil {
			return nil, errors.New("source is SecretKey, but secretKeyRef is not set")
		}

		return values.Secret(ctx, ref.Namespace, ref.Name, ref.Key)
	default:
		return nil, errors.Errorf("source %q is not one of ConfigMapKey, SecretKey", f.Source)
	}
}
