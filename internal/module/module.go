// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package module gets the module of a Workspace from the source in its specification. It returns
// the files of an inline module, and fetches all others into the working directory.
package module

import (
	"path"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/workdir"
)

// InlineFiles returns the single file of an inline module, by its name relative to the directory of
// the Workspace. It is in the entrypoint, where the CLI runs. There are no files if the module is not
// in p: a Fetcher fetches such modules.
func InlineFiles(p commonv1beta1.WorkspaceParameters) map[string]workdir.File {
	if p.Source != commonv1beta1.ModuleSourceInline {
		return map[string]workdir.File{}
	}

	name := "main.tf"
	if p.InlineFormat != nil && *p.InlineFormat == commonv1beta1.FileFormatJSON {
		name = "main.tf.json"
	}

	return map[string]workdir.File{path.Join(p.Entrypoint, name): {Data: []byte(p.Module)}}
}
