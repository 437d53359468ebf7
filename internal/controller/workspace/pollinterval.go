// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"fmt"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// ignoredInterval warns of a poll interval that is none, such as "1d": the Workspace is polled as if it had no annotation.
func ignoredInterval(ws workspace.Workspace) terraform.Warnings {
	value := ws.GetAnnotations()[meta.AnnotationKeyPollInterval]
	if _, ok := meta.GetPollInterval(ws); ok || value == "" {
		return terraform.Warnings{}
	}

	return terraform.Warnings{First: []terraform.Diagnostic{{
		File: "annotation " + meta.AnnotationKeyPollInterval, Summary: "No effect", Detail: fmt.Sprintf("%q is no positive duration such as 90m or 24h", value),
	}}}
}
