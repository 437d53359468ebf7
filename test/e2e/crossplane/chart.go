// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package crossplane installs Crossplane from its Helm chart, and builds packages with its CLI.
package crossplane

import (
	"strings"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/releaseutil"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/test/manifest"
)

const (
	// Namespace of Crossplane.
	Namespace = "crossplane-system"

	// release is the name in the labels of all objects.
	release = "crossplane"
)

// Render returns the objects of a Helm chart in the order in which Helm installs them.
func Render(dir string, settings map[string]any) ([]*unstructured.Unstructured, error) {
	chart, err := loader.LoadDir(dir)
	if err != nil {
		return nil, errors.Wrap(err, "cannot load the chart")
	}

	values, err := chartutil.ToRenderValues(chart, settings, chartutil.ReleaseOptions{Name: release, Namespace: Namespace, Revision: 1, IsInstall: true}, nil)
	if err != nil {
		return nil, errors.Wrap(err, "cannot merge the values of the chart")
	}

	files, err := engine.Render(chart, values)
	if err != nil {
		return nil, errors.Wrap(err, "cannot render the chart")
	}

	for name := range files {
		// A text for users.
		if strings.HasSuffix(name, "NOTES.txt") {
			delete(files, name)
		}
	}

	// Crossplane's chart has no hooks.
	hooks, manifests, err := releaseutil.SortManifests(files, nil, releaseutil.InstallOrder)
	if err != nil {
		return nil, errors.Wrap(err, "cannot sort the objects of the chart")
	}

	if len(hooks) > 0 {
		return nil, errors.Errorf("the chart has hooks, which are not installed here: %s", hooks[0].Path)
	}

	var objects []*unstructured.Unstructured

	for _, m := range manifests {
		o, err := manifest.Parse([]byte(m.Content))
		if err != nil {
			return nil, errors.Wrapf(err, "cannot parse %s", m.Name)
		}

		objects = append(objects, o...)
	}

	return objects, nil
}
