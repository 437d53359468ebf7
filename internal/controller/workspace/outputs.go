// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"bytes"
	"encoding/json"

	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"

	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
)

// visibleOutputs returns the outputs that the status of a Workspace may show: those that have a
// value and are not sensitive.
func visibleOutputs(outputs map[string]terraform.Output) map[string]extv1.JSON {
	visible := make(map[string]extv1.JSON, len(outputs))

	for name, o := range outputs {
		if o.Sensitive || isNull(o.Value) {
			continue
		}

		visible[name] = extv1.JSON{Raw: o.Value}
	}

	return visible
}

// connectionDetails returns every output that has a value, sensitive or not. A string stays as it
// is, and other types are compact JSON with sorted keys. The digits of numbers do not change.
func connectionDetails(outputs map[string]terraform.Output) (managed.ConnectionDetails, error) {
	details := make(managed.ConnectionDetails, len(outputs))

	for name, o := range outputs {
		if isNull(o.Value) {
			continue
		}

		d := json.NewDecoder(bytes.NewReader(o.Value))
		d.UseNumber()

		var v any
		if err := d.Decode(&v); err != nil {
			return nil, errors.Wrapf(err, "cannot read output %q", name)
		}

		if s, ok := v.(string); ok {
			details[name] = []byte(s)

			continue
		}

		b, err := json.Marshal(v)
		if err != nil {
			return nil, errors.Wrapf(err, "cannot write output %q", name)
		}

		details[name] = b
	}

	return details, nil
}

func isNull(v json.RawMessage) bool {
	return len(v) == 0 || bytes.Equal(v, []byte("null"))
}

// anySensitive says whether an output is sensitive.
func anySensitive(outputs map[string]terraform.Output) bool {
	for _, o := range outputs {
		if o.Sensitive {
			return true
		}
	}

	return false
}
