// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package module

import (
	"cmp"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
)

// Backend returns the type of the backend that the supplied configuration, in HCL, declares. It
// is "cloud" for a cloud block, and empty if there is no backend or the configuration cannot be
// parsed.
func Backend(src []byte) string {
	f, ok := terraform.ParseFile(src, "configuration.tf")
	if !ok {
		return ""
	}

	root, _, diags := f.Body.PartialContent(&hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{{Type: "terraform"}}})
	if diags.HasErrors() {
		return ""
	}

	for _, terraform := range root.Blocks {
		settings, _, diags := terraform.Body.PartialContent(&hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{
			{Type: "backend", LabelNames: []string{"type"}},
			{Type: "cloud"},
		}})
		if !diags.HasErrors() && len(settings.Blocks) > 0 {
			b := settings.Blocks[0]

			return cmp.Or(strings.Join(b.Labels, " "), b.Type)
		}
	}

	return ""
}
