// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// A hierarchy of cgroups, with one of a sandbox.
type hierarchy struct {
	// root is where the hierarchy is mounted, and name that of the cgroup below.
	root, name string

	// version of the hierarchy, 1 or 2.
	version int

	// controllers says that the hierarchy has controllers. In the one of version 2 beside those of version 1,
	// runc creates cgroups, too.
	controllers bool
}

// hierarchies returns those of this machine.
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
			one = append(one, hierarchy{root: fields[1], name: name, version: 1, controllers: true})
		case fields[2] == "cgroup2":
			two = append(two, hierarchy{root: fields[1], name: name, version: 2})
		}
	}

	switch {
	case len(one) > 0:
		return append(one, two...), nil
	case len(two) == 1:
		two[0].controllers = true

		return two, nil
	default:
		return nil, fmt.Errorf("want one hierarchy of cgroups, found %d", len(two))
	}
}

func (h hierarchy) path() string { return filepath.Join(h.root, h.name) }

// writable returns an error if no cgroup can be created, as in many containers.
func (h hierarchy) writable() error {
	if err := unix.Access(h.root, unix.W_OK); err != nil {
		return fmt.Errorf("cannot create cgroups in %s: %w", h.root, err)
	}

	return nil
}

// create creates the cgroup if it needs controllers.
func (h hierarchy) create() error {
	switch {
	case !h.controllers:
		return nil
	case h.version == 2:
		if err := h.enable(); err != nil {
			return err
		}
	}

	if err := os.Mkdir(h.path(), 0o755); err != nil { //nolint:gosec // The mode of all cgroups.
		return fmt.Errorf("cannot create a cgroup: %w", err)
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

// delegated is the file of a cgroup of version 2 with the controllers of the cgroups below. To add one changes the
// cgroups of the whole machine.
const delegated = "cgroup.subtree_control"

// enable gives the cgroups below the root the controllers that a kubelet needs, if this kernel has them.
func (h hierarchy) enable() error {
	available, err := os.ReadFile(filepath.Join(h.root, "cgroup.controllers"))
	if err != nil {
		return err
	}

	file := filepath.Join(h.root, delegated)

	before, err := os.ReadFile(file) //nolint:gosec // One of the kernel.
	if err != nil {
		return err
	}

	return writeControllers(file, "+", missing(strings.Fields(string(before)), needed(strings.Fields(string(available)))))
}

// disable takes the controllers from the cgroups below the root that they did not have before.
func (h hierarchy) disable(before string) error {
	file := filepath.Join(h.root, delegated)

	after, err := os.ReadFile(file) //nolint:gosec // One of the kernel.
	if err != nil {
		return err
	}

	return writeControllers(file, "-", missing(strings.Fields(before), strings.Fields(string(after))))
}

// needed returns the controllers that a kubelet needs if they are available.
func needed(available []string) []string {
	return slices.DeleteFunc([]string{"cpu", "cpuset", "hugetlb", "memory", "pids"}, func(c string) bool { return !slices.Contains(available, c) })
}

// missing returns the items of wanted that are not in all.
func missing(all, wanted []string) []string {
	return slices.DeleteFunc(slices.Clone(wanted), func(c string) bool { return slices.Contains(all, c) })
}

// writeControllers adds or removes controllers.
func writeControllers(file, sign string, controllers []string) error {
	if len(controllers) == 0 {
		return nil
	}

	text := sign + strings.Join(controllers, " "+sign)

	if err := os.WriteFile(file, []byte(text), 0o600); err != nil { //nolint:gosec // One of the kernel.
		return fmt.Errorf("cannot write %q to %s: %w", text, file, err)
	}

	return nil
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
