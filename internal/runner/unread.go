// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"encoding/json"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/regular"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
)

// CheckUnread returns an error if a file of the module, or of one that it calls, declares resources for OpenTofu only, and the CLI
// does not read it: the CLI would destroy these resources, and everything that the file protects. The directory must be
// initialized.
func (r *Runner) CheckUnread() error {
	root, err := os.OpenRoot(r.Dir.Path())
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // Nothing is written through it.

	fsys := regular.FS(root, terraform.MaxFile)

	for _, dir := range r.moduleDirs() {
		names, _ := fileNames(fsys, path.Join(r.Inputs.parameters.Entrypoint, dir)) // The CLI has read it.

		for _, name := range r.CLI.Unread(names) {
			src, err := fs.ReadFile(fsys, path.Join(r.Inputs.parameters.Entrypoint, dir, name))
			if err != nil || terraform.HasResources(src, name) {
				return errors.Errorf("%s declares resources or calls modules, and %s does not read it. Nothing was changed. Set spec.forProvider.cli.product to OpenTofu, in version 1.8 or later, or rename the file",
					path.Join(dir, name), r.CLI)
			}
		}
	}

	return nil
}

// moduleDirs returns the directories of the module and of the modules that it calls, relative to the entrypoint.
func (r *Runner) moduleDirs() []string {
	var installed struct {
		Modules []struct {
			Dir string `json:"Dir"`
		} `json:"Modules"`
	}

	// Without called modules, init writes no such file.
	if data, err := regular.Read(filepath.Join(r.run.Dir, terraform.DataDir, "modules", "modules.json"), terraform.MaxFile); err == nil {
		_ = json.Unmarshal(data, &installed)
	}

	dirs := []string{"."}
	for _, m := range installed.Modules {
		dirs = append(dirs, filepath.ToSlash(m.Dir))
	}

	return dirs
}

// fileNames returns the names of what a directory has, except for directories.
func fileNames(fsys fs.FS, dir string) ([]string, error) {
	entries, err := fs.ReadDir(fsys, dir)

	var names []string

	for _, e := range entries {
		if !e.IsDir() {
			names = append(names, e.Name())
		}
	}

	return names, err
}
