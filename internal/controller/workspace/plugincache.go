// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"path/filepath"

	"github.com/crossplane-contrib/provider-terraform/internal/plugincache"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
)

// privatePlugins is what an init has in place of the plugin cache.
const privatePlugins = ".crossplane-plugins"

// pluginCacheRun returns what the plugin cache has to know of an init.
func (s *session) pluginCacheRun() plugincache.Run {
	registry := "registry.terraform.io"
	if s.cli.Product() == terraform.OpenTofu {
		registry = "registry.opentofu.org"
	}

	return plugincache.Run{
		Root:     s.dir.Path(),
		Dir:      s.target.Dir,
		Private:  filepath.Join(s.dir.Path(), privatePlugins),
		Env:      s.target.Env,
		Registry: registry,
	}
}
