// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"regexp"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// apply creates every object of the supplied files, in the order of the files.
func apply(ctx context.Context, kube client.Client, files ...string) error {
	for _, file := range files {
		objects, err := read(file)
		if err != nil {
			return errors.Wrapf(err, "cannot read %s", file)
		}

		for _, o := range objects {
			if err := outsideOfCluster(o); err != nil {
				return errors.Wrapf(err, "cannot change %s", file)
			}

			if err := kube.Create(ctx, o); err != nil {
				return errors.Wrapf(err, "cannot create the objects in %s", file)
			}
		}
	}

	return nil
}

// read returns the objects in the supplied YAML file.
func read(file string) ([]*unstructured.Unstructured, error) {
	data, err := os.ReadFile(file) //nolint:gosec // One of ours.
	if err != nil {
		return nil, err
	}

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

		objects = append(objects, o)
	}
}

// inCluster is the line of a backend that makes the CLI use the credentials of its pod.
var inCluster = regexp.MustCompile(`(?m)^ *in_cluster_config *= *true\n`)

// outsideOfCluster changes a ProviderConfig for a provider that is not in a pod, and
// nothing else. Without in_cluster_config the CLI's kubernetes backend takes the
// kubeconfig that the environment variable KUBE_CONFIG_PATH names, which the demo sets for
// its instances. This is the only difference from examples/.
func outsideOfCluster(o *unstructured.Unstructured) error {
	path := []string{"spec", "configuration"}

	configuration, found, err := unstructured.NestedString(o.Object, path...)
	if err != nil || !found {
		return err
	}

	return unstructured.SetNestedField(o.Object, inCluster.ReplaceAllString(configuration, ""), path...)
}
