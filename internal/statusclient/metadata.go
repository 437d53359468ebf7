// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package statusclient

import (
	"context"
	"encoding/json"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// updateMetadata writes the annotations and the finalizers of an object. Like an update, the API server refuses it if
// the object has changed since it was read.
//
// A managed reconciler updates nothing else. An update of the whole object would write a specification without
// empty values, such as env: [] or value: "", which the types of Go leave out. That would change what people have
// applied, and make the provider the owner of those lists: their next server-side apply would be a conflict.
func updateMetadata(ctx context.Context, c client.Writer, o client.Object, opts ...client.UpdateOption) error {
	patch, err := json.Marshal([]struct {
		Op    string `json:"op"`
		Path  string `json:"path"`
		Value any    `json:"value"`
	}{
		{"replace", "/metadata/resourceVersion", o.GetResourceVersion()},
		{"add", "/metadata/annotations", o.GetAnnotations()},
		{"add", "/metadata/finalizers", o.GetFinalizers()},
	})
	if err != nil {
		return err
	}

	u := (&client.UpdateOptions{}).ApplyOptions(opts)

	return c.Patch(ctx, o, client.RawPatch(types.JSONPatchType, patch),
		&client.PatchOptions{DryRun: u.DryRun, FieldManager: u.FieldManager, FieldValidation: u.FieldValidation})
}
