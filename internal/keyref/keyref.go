// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package keyref reads single keys of ConfigMaps and Secrets. A key that does not
// exist is an error that names it, never an empty value.
package keyref

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/regular"
)

// maxTotal is much more than a Workspace has, and little enough to be in memory.
const maxTotal = 8 * regular.MiB

// A Reader reads keys. All its values are in memory at the same time, and thousands of references may
// name one large value. So their total size is limited.
type Reader struct {
	kube  client.Reader
	total int
}

// NewReader returns a Reader without values.
func NewReader(kube client.Reader) *Reader { return &Reader{kube: kube} }

// ConfigMap returns the value of a key of a ConfigMap.
func (r *Reader) ConfigMap(ctx context.Context, namespace, name, key string) ([]byte, error) {
	cm, n := &corev1.ConfigMap{}, types.NamespacedName{Namespace: namespace, Name: name}
	if err := r.kube.Get(ctx, n, cm); err != nil {
		return nil, errors.Wrapf(err, "cannot get ConfigMap %s with key %s", n, key)
	}

	data, ok := cm.Data[key]
	if _, binary := cm.BinaryData[key]; binary {
		return nil, NotFound(fmt.Sprintf("cannot use key %s in ConfigMap %s: it is in binaryData, where kubectl puts a file that is not UTF-8; save the file as UTF-8", key, n))
	}

	if !ok {
		return nil, missing("ConfigMap", n, key, slices.Collect(maps.Keys(cm.Data)))
	}

	return r.Add([]byte(data))
}

// Secret returns the value of a key of a Secret.
func (r *Reader) Secret(ctx context.Context, namespace, name, key string) ([]byte, error) {
	s, n := &corev1.Secret{}, types.NamespacedName{Namespace: namespace, Name: name}
	if err := r.kube.Get(ctx, n, s); err != nil {
		return nil, errors.Wrapf(err, "cannot get Secret %s with key %s", n, key)
	}

	data, ok := s.Data[key]
	if !ok {
		return nil, missing("Secret", n, key, slices.Collect(maps.Keys(s.Data)))
	}

	return r.Add(data)
}

// maxNamed is the largest number of keys that an error names.
const maxNamed = 5

// missing returns the error about a key that does not exist. It names those that do: most often, one of them was meant.
func missing(kind string, n types.NamespacedName, key string, keys []string) error {
	slices.Sort(keys)

	have := "it has none"
	if len(keys) > 0 {
		have = "it has " + strings.Join(keys[:min(len(keys), maxNamed)], ", ")
	}

	if more := len(keys) - maxNamed; more > 0 {
		have += fmt.Sprintf(" and %d more", more)
	}

	return NotFound(fmt.Sprintf("couldn't find key %s in %s %s: %s", key, kind, n, have))
}

// Add returns a value from elsewhere, which counts like one of a key.
func (r *Reader) Add(value []byte) ([]byte, error) {
	if r.total += len(value); r.total > maxTotal {
		return nil, errors.Errorf("all values together have more than %s, which is the limit: refer to fewer or smaller ones", regular.Size(maxTotal))
	}

	return value, nil
}

// NotFound returns an error with the supplied text, which is NotFound like that of an object that does not
// exist. A Workspace that refers to something that is NotFound waits for it.
func NotFound(text string) error {
	err := kerrors.NewNotFound(schema.GroupResource{}, "")
	err.ErrStatus.Message = text

	return err
}
