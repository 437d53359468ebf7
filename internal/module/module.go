// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package module gets the module of a Workspace from the source in its specification. It returns
// the files of an inline module, and fetches all others into the working directory.
package module

import (
	"path"
	"strings"

	"k8s.io/utils/ptr"

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
	if isJSON(p) {
		name = "main.tf.json"
	}

	return map[string]workdir.File{path.Join(p.Entrypoint, name): {Data: []byte(p.Module)}}
}

// Mistaken says what an inline module seems to be instead of a configuration in HCL, and what to do. It is empty if it
// may be one.
func Mistaken(p commonv1beta1.WorkspaceParameters) string {
	text := strings.TrimSpace(p.Module)

	switch {
	case p.Source != commonv1beta1.ModuleSourceInline || text == "":
		return ""
	case isJSON(p) && !strings.HasPrefix(text, "{") && !strings.HasPrefix(text, "["):
		return "the module does not begin like JSON: set spec.forProvider.inlineFormat to HCL, or correct it"
	case isJSON(p):
		return ""
	case strings.HasPrefix(text, "{"):
		return "the module begins like JSON: set spec.forProvider.inlineFormat to JSON, or correct it"
	// No configuration is one word, except for a comment or a block.
	case len(strings.Fields(text)) == 1 && !strings.Contains(text, "{") && !strings.ContainsAny(text[:1], "#/"):
		return "the module is one word, like an address: set spec.forProvider.source to Remote, or correct it"
	default:
		return ""
	}
}

func isJSON(p commonv1beta1.WorkspaceParameters) bool {
	return ptr.Deref(p.InlineFormat, commonv1beta1.FileFormatHCL) == commonv1beta1.FileFormatJSON
}
