// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"debug/buildinfo"
	"fmt"
	"runtime/debug"
	"slices"

	"golang.org/x/mod/module"
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
			return nil, fmt.Errorf("cannot read the modules in %q: %w", path, err)
		}

		found, err := modulesIn(info)
		if err != nil {
			return nil, fmt.Errorf("binary %q: %w", path, err)
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
			return nil, fmt.Errorf("module %q was built from a directory, and not from the module cache", m.Path)
		}

		modules = append(modules, module.Version{Path: m.Path, Version: m.Version})
	}

	return modules, nil
}
