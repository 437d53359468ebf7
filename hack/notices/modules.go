// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"debug/buildinfo"
	"runtime/debug"
	"slices"

	"golang.org/x/mod/module"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// project is the module of this repository. Its license is not copied: the image has it already.
const project = "github.com/crossplane-contrib/provider-terraform"

// std is the path under which the Go standard library is listed. No module has such a path.
const std = "std"

// modulesOf returns the modules in the binaries and the Go standard library, in order.
func modulesOf(binaries ...string) ([]module.Version, error) {
	var modules []module.Version

	for _, path := range binaries {
		info, err := buildinfo.ReadFile(path)
		if err != nil {
			return nil, errors.Wrapf(err, "cannot read the modules in %q", path)
		}

		found, err := modulesIn(info)
		if err != nil {
			return nil, errors.Wrapf(err, "binary %q", path)
		}

		modules = append(modules, found...)
	}

	module.Sort(modules)

	return slices.Compact(modules), nil
}

func modulesIn(info *debug.BuildInfo) ([]module.Version, error) {
	modules := []module.Version{{Path: std, Version: info.GoVersion}}

	for _, m := range append([]*debug.Module{&info.Main}, info.Deps...) {
		if m.Path == project {
			continue
		}

		if m.Replace != nil {
			m = m.Replace
		}

		// Only a module of the module cache has a checksum.
		if m.Sum == "" {
			return nil, errors.Errorf("module %q was built from a directory, and not from the module cache", m.Path)
		}

		modules = append(modules, module.Version{Path: m.Path, Version: m.Version})
	}

	return modules, nil
}
