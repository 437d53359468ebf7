// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// A hierarchy of cgroups, with one of a sandbox.
type hierarchy struct {
	// root is where the hierarchy is mounted, and name that of the cgroup below.
	root, name string

	// unified says that the hierarchy is of cgroup version 2 and has all controllers.
	unified bool
}

// hierarchies returns those of this machine that have controllers.
func hierarchies(name string) ([]hierarchy, error) {
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		return nil, err
	}

	return parseHierarchies(string(mounts), name)
}

// parseHierarchies returns the hierarchies in a list of mounts. On a machine with both versions, the
// controllers are in those of version 1.
func parseHierarchies(mounts, name string) ([]hierarchy, error) {
	var one, two []hierarchy

	for line := range strings.Lines(mounts) {
		fields := strings.Fields(line)

		switch {
		case len(fields) < 3:
		case fields[2] == "cgroup":
			one = append(one, hierarchy{root: fields[1], name: name})
		case fields[2] == "cgroup2":
			two = append(two, hierarchy{root: fields[1], name: name, unified: true})
		}
	}

	if len(one) > 0 {
		return one, nil
	}

	if len(two) != 1 {
		return nil, errors.Errorf("want one hierarchy of cgroups, found %d", len(two))
	}

	return two, nil
}

func (h hierarchy) path() string { return filepath.Join(h.root, h.name) }

func (h hierarchy) create() error {
	if err := os.Mkdir(h.path(), 0o755); err != nil { //nolint:gosec // The mode of all cgroups.
		return errors.Wrap(err, "cannot create a cgroup")
	}

	if h.unified {
		return h.needControllers()
	}

	// In version 1, a new cgroup has no CPUs until it is given some.
	for _, file := range []string{"cpuset.cpus", "cpuset.mems"} {
		value, err := os.ReadFile(filepath.Join(h.root, file)) //nolint:gosec // One of the kernel.
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}

		if err != nil {
			return err
		}

		if err := os.WriteFile(filepath.Join(h.path(), file), value, 0o600); err != nil { //nolint:gosec // One of the kernel.
			return err
		}
	}

	return nil
}

// needControllers returns an error unless the cgroup has the controllers that a kubelet needs. To enable
// one changes the cgroups of the whole machine.
func (h hierarchy) needControllers() error {
	for _, file := range []string{h.root, h.path()} {
		if _, err := os.Stat(filepath.Join(file, "cgroup.controllers")); err != nil {
			return err
		}
	}

	available, err := os.ReadFile(filepath.Join(h.root, "cgroup.controllers"))
	if err != nil {
		return err
	}

	enabled, err := os.ReadFile(filepath.Join(h.path(), "cgroup.controllers"))
	if err != nil {
		return err
	}

	if missing := missingControllers(string(available), string(enabled)); len(missing) > 0 {
		return errors.Errorf("the controllers %s are not enabled for cgroups: write +NAME of each of them to %s",
			strings.Join(missing, ", "), filepath.Join(h.root, "cgroup.subtree_control"))
	}

	return nil
}

// missingControllers returns the controllers that a kubelet needs if they are available, and that are not
// enabled.
func missingControllers(available, enabled string) []string {
	var missing []string

	for _, c := range []string{"cpu", "cpuset", "hugetlb", "memory", "pids"} {
		if slices.Contains(strings.Fields(available), c) && !slices.Contains(strings.Fields(enabled), c) {
			missing = append(missing, c)
		}
	}

	return missing
}

// remove removes the cgroup, and those below. It waits for the end of their processes.
func (h hierarchy) remove(ctx context.Context) error {
	return untilGone(ctx, func() error {
		var dirs []string

		err := filepath.WalkDir(h.path(), func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() {
				dirs = append(dirs, path)
			}

			return err
		})
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}

		if err != nil {
			return err
		}

		// Those below first. The files of a cgroup are not removed.
		for _, dir := range slices.Backward(dirs) {
			if err := os.Remove(dir); err != nil {
				return err
			}
		}

		return nil
	})
}
