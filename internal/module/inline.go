// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package module

import (
	"path"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
)

// inline returns the single file of an inline module. It is in the entrypoint, where the CLI
// runs.
func inline(p commonv1beta1.WorkspaceParameters) Files {
	name := "main.tf"
	if p.InlineFormat != nil && *p.InlineFormat == commonv1beta1.FileFormatJSON {
		name = "main.tf.json"
	}

	return Files{path.Join(p.Entrypoint, name): []byte(p.Module)}
}
