// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"path/filepath"

	"github.com/crossplane-contrib/provider-terraform/internal/plugincache"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
)

// privatePlugins is what an init has in place of the plugin cache.
const privatePlugins = ".crossplane-plugins"

// pluginCacheRun returns what the plugin cache has to know of an init.
func (r *Runner) pluginCacheRun() plugincache.Run {
	registry := "registry.terraform.io"
	if r.CLI.Product() == terraform.OpenTofu {
		registry = "registry.opentofu.org"
	}

	return plugincache.Run{
		Root:     r.Dir.Path(),
		Dir:      r.run.Dir,
		Private:  filepath.Join(r.Dir.Path(), privatePlugins),
		Env:      r.run.Env,
		Registry: registry,
	}
}
