// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package vars

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
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

	var total keyref.Total

	for _, v := range vars {
		resolved := Variable{Name: v.Name, Value: v.Value}

		switch {
		case resolved.Value != "":
		case v.ConfigMapKeyReference != nil:
			data, err := configMapKey(ctx, kube, &total, *v.ConfigMapKeyReference)
			if err != nil {
				return nil, errors.Wrapf(err, "environment variable %q", v.Name)
			}

			resolved.Value = string(data)
		case v.SecretKeyReference != nil:
			data, err := secretKey(ctx, kube, &total, *v.SecretKeyReference)
			if err != nil {
				return nil, errors.Wrapf(err, "environment variable %q", v.Name)
			}

			resolved.Value, resolved.Secret = string(data), true
		}

		env = append(env, resolved)
	}

	return env, nil
}

// Files resolves the files of variables of a Workspace, in the order in which the CLI reads them:
// varFiles, then varmap, which takes precedence.
func Files(ctx context.Context, kube client.Reader, p commonv1beta1.WorkspaceParameters) ([]File, error) {
	files := make([]File, 0, len(p.VarFiles)+1)

	var total keyref.Total

	for i, f := range p.VarFiles {
		data, err := varFile(ctx, kube, &total, f)
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

func varFile(ctx context.Context, kube client.Reader, total *keyref.Total, f commonv1beta1.VarFile) ([]byte, error) {
	switch f.Source {
	case commonv1beta1.VarFileSourceConfigMapKey:
		if f.ConfigMapKeyReference == nil {
			return nil, errors.New("source is ConfigMapKey, but configMapKeyRef is not set")
		}

		return configMapKey(ctx, kube, total, *f.ConfigMapKeyReference)
	case commonv1beta1.VarFileSourceSecretKey:
		if f.SecretKeyReference == nil {
			return nil, errors.New("source is SecretKey, but secretKeyRef is not set")
		}

		return secretKey(ctx, kube, total, *f.SecretKeyReference)
	default:
		return nil, errors.Errorf("source %q is not one of ConfigMapKey, SecretKey", f.Source)
	}
}

func configMapKey(ctx context.Context, kube client.Reader, total *keyref.Total, ref commonv1beta1.KeyReference) ([]byte, error) {
	data, err := keyref.ConfigMap(ctx, kube, types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}, ref.Key)
	if err != nil {
		return nil, err
	}

	return data, total.Add(data)
}

func secretKey(ctx context.Context, kube client.Reader, total *keyref.Total, ref commonv1beta1.KeyReference) ([]byte, error) {
	data, err := keyref.Secret(ctx, kube, types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}, ref.Key)
	if err != nil {
		return nil, err
	}

	return data, total.Add(data)
}
