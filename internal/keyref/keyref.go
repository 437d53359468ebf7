// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package keyref reads single keys of ConfigMaps and Secrets. A key that does not
// exist is an error that names it, never an empty value.
package keyref

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/regular"
)

// maxTotal is much more than a Workspace has, and little enough to be in memory.
const maxTotal = 8 * regular.MiB

// A Total counts the bytes of values that are in memory at the same time. One large value may be
// named in thousands of references.
type Total int

// Add counts a value. It returns an error if the values are too large together.
func (t *Total) Add(value []byte) error {
	*t += Total(len(value))
	if *t > maxTotal {
		return errors.Errorf("all values together have more than %s, which is the limit: refer to fewer or smaller ones", regular.Size(maxTotal))
	}

	return nil
}

// ConfigMap returns the value of a key of the named ConfigMap.
func ConfigMap(ctx context.Context, kube client.Reader, name types.NamespacedName, key string) ([]byte, error) {
	cm := &corev1.ConfigMap{}
	if err := kube.Get(ctx, name, cm); err != nil {
		return nil, errors.Wrapf(err, "cannot get ConfigMap %s with key %s", name, key)
	}

	data, ok := cm.Data[key]
	if !ok {
		return nil, errors.Errorf("couldn't find key %s in ConfigMap %s", key, name)
	}

	return []byte(data), nil
}

// Secret returns the value of a key of the named Secret.
func Secret(ctx context.Context, kube client.Reader, name types.NamespacedName, key string) ([]byte, error) {
	s := &corev1.Secret{}
	if err := kube.Get(ctx, name, s); err != nil {
		return nil, errors.Wrapf(err, "cannot get Secret %s with key %s", name, key)
	}

	data, ok := s.Data[key]
	if !ok {
		return nil, errors.Errorf("couldn't find key %s in Secret %s", key, name)
	}

	return data, nil
}
