// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	"github.com/crossplane-contrib/provider-terraform/internal/workdir"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// desired returns a digest of all that people write on a Workspace: its specification, as
// its generation, its labels and its annotations. Each change of these asks for a new look,
// whether or not the plan depends on it: people annotate a Workspace to have a module
// fetched at once, for example.
//
// What the provider itself writes does not count, or each creation and each move to
// another shard would cost a plan.
func desired(o client.Object) string {
	labels := without(o.GetLabels(), func(key string) bool { return strings.HasPrefix(key, workspace.KeyPrefix) })
	annotations := without(o.GetAnnotations(), func(key string) bool {
		switch key {
		case meta.AnnotationKeyExternalCreatePending, meta.AnnotationKeyExternalCreateSucceeded, meta.AnnotationKeyExternalCreateFailed:
			return true
		default:
			return strings.HasPrefix(key, workspace.KeyPrefix) && key != workspace.AcceptLostStateAnnotationKey
		}
	})

	return workdir.Digest(nil, workdir.Encode(o.GetGeneration(), labels, annotations))
}

// without returns those entries whose keys are not left out. It is never nil.
func without(all map[string]string, leftOut func(key string) bool) map[string]string {
	kept := map[string]string{}

	for key, value := range all {
		if !leftOut(key) {
			kept[key] = value
		}
	}

	return kept
}
