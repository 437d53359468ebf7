// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package manifest reads manifests.
package manifest

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"regexp"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// Read returns the objects in the supplied YAML file.
func Read(file string) ([]*unstructured.Unstructured, error) {
	data, err := os.ReadFile(file) //nolint:gosec // One of ours.
	if err != nil {
		return nil, err
	}

	objects, err := Parse(data)

	return objects, errors.Wrapf(err, "cannot read %s", file)
}

// Parse returns the objects in the supplied YAML. It leaves out empty documents.
func Parse(data []byte) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured

	docs := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data)))

	for {
		doc, err := docs.Read()
		if errors.Is(err, io.EOF) {
			return objects, nil
		}

		if err != nil {
			return nil, err
		}

		o := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(doc, &o.Object); err != nil {
			return nil, err
		}

		if len(o.Object) > 0 {
			objects = append(objects, o)
		}
	}
}

// inCluster is the line of a backend that makes the CLI use the credentials of its pod.
var inCluster = regexp.MustCompile(`(?m)^ *in_cluster_config *= *true\n`)

// OutsideOfCluster changes a ProviderConfig for a provider that is not in a pod, and
// nothing else. Without in_cluster_config the CLI's kubernetes backend takes the
// kubeconfig that the environment variable KUBE_CONFIG_PATH names.
func OutsideOfCluster(o *unstructured.Unstructured) error {
	path := []string{"spec", "configuration"}

	configuration, found, err := unstructured.NestedString(o.Object, path...)
	if err != nil || !found {
		return err
	}

	return unstructured.SetNestedField(o.Object, inCluster.ReplaceAllString(configuration, ""), path...)
}
