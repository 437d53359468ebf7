// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// Desired returns a digest of everything that people write in a Workspace: its generation, which
// stands for the specification, its labels and its annotations. Each change requires a new plan,
// even if the plan does not depend on it: people annotate a Workspace to have a module fetched at
// once, for example.
//
// Values that the provider itself writes do not count. Otherwise each creation and each move to
// another shard would cost a plan.
func Desired(o client.Object) string {
	labels, annotations := maps.Clone(o.GetLabels()), maps.Clone(o.GetAnnotations())

	maps.DeleteFunc(labels, func(key, _ string) bool { return strings.HasPrefix(key, workspace.KeyPrefix) })
	maps.DeleteFunc(annotations, func(key, _ string) bool {
		switch key {
		case meta.AnnotationKeyExternalCreatePending, meta.AnnotationKeyExternalCreateSucceeded, meta.AnnotationKeyExternalCreateFailed:
			return true
		default:
			return strings.HasPrefix(key, workspace.KeyPrefix) && key != workspace.AcceptLostStateAnnotationKey
		}
	})

	// The default is written with the finalizer, after the first plan.
	if annotations[meta.AnnotationKeyExternalName] == o.GetName() {
		delete(annotations, meta.AnnotationKeyExternalName)
	}

	// Keys of maps are sorted. An empty map equals none.
	text, _ := json.Marshal(struct {
		Generation  int64             `json:"generation"`
		Labels      map[string]string `json:"labels,omitempty"`
		Annotations map[string]string `json:"annotations,omitempty"`
	}{o.GetGeneration(), labels, annotations})
	sum := sha256.Sum256(text)

	return hex.EncodeToString(sum[:])
}
