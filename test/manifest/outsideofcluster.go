// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"regexp"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

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
