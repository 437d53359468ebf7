// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// A machine is the part of its state that programs of a node could change, as text by names.
type machine map[string]string

// traces are patterns of files that programs of a node create, if they are not told otherwise.
func traces() []string {
	return []string{
		"/etc/cni", "/opt/cni", "/opt/containerd", "/run/containerd", "/run/netns/*", "/run/runc/*", "/run/kubernetes", "/usr/libexec/kubernetes",
		library + "/cni", library + "/containerd", library + "/kubelet", logs + "/containers", logs + "/pods",
	}
}

// look returns the state of this machine. The directory and the cgroups are those of the sandbox.
func look(dir string, groups []hierarchy) (machine, error) {
	m := machine{}

	for _, g := range groups {
		if err := m.cgroups(g); err != nil {
			return nil, err
		}
	}

	for name := range sysctls() {
		if err := m.sysctl(name); err != nil {
			return nil, err
		}
	}

	if err := m.sysctl("net/ipv4/ip_forward"); err != nil {
		return nil, err
	}

	for _, pattern := range traces() {
		found, err := filepath.Glob(pattern)
		if err != nil {
			return nil, err
		}

		for _, f := range found {
			m["file "+f] = "exists"
		}
	}

	links, err := net.Interfaces()
	if err != nil {
		return nil, err
	}

	for _, l := range links {
		if strings.HasPrefix(l.Name, "cni") || strings.HasPrefix(l.Name, "node") {
			m["network interface "+l.Name] = "exists"
		}
	}

	return m, m.mounts(dir)
}

// cgroups reads what a hierarchy has of the sandbox.
func (m machine) cgroups(h hierarchy) error {
	if _, err := os.Stat(h.path()); !errors.Is(err, fs.ErrNotExist) {
		m["cgroup "+h.path()] = "exists"
	}

	if h.version != 2 {
		return nil
	}

	value, err := os.ReadFile(filepath.Join(h.root, delegated))
	m[controllersOf(h)] = strings.TrimSpace(string(value))

	return err
}

// controllersOf returns the name of the controllers of a hierarchy.
func controllersOf(h hierarchy) string { return "controllers of cgroups in " + h.root }

func (m machine) sysctl(name string) error {
	value, err := os.ReadFile(filepath.Join("/proc/sys", name)) //nolint:gosec // One of the kernel.
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}

	m["kernel setting "+name] = strings.TrimSpace(string(value))

	return err
}

// mounts reads the mounts in the supplied directory, and where programs of a node mount. Other programs of
// this machine may mount at other places at the same time.
func (m machine) mounts(dir string) error {
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		return err
	}

	for line := range strings.Lines(string(mounts)) {
		fields := strings.Fields(line)

		for _, place := range []string{dir, "/proc/sys", "/run/containerd", "/run/netns", library + "/cni", library + "/containerd", library + "/kubelet", logs} {
			if strings.HasPrefix(fields[1]+"/", place+"/") {
				m["mount of "+fields[0]+" at "+fields[1]] = "exists"
			}
		}
	}

	return nil
}

// restore restores the controllers of cgroups.
func (m machine) restore(groups []hierarchy) error {
	var errs []error

	for _, g := range groups {
		if g.version == 2 {
			errs = append(errs, g.disable(m[controllersOf(g)]))
		}
	}

	return errors.Join(errs...)
}

// compare returns an error if this machine has changed.
func (m machine) compare(dir string, groups []hierarchy) error {
	after, err := look(dir, groups)
	if err != nil {
		return err
	}

	if changed := m.changes(after); len(changed) > 0 {
		return fmt.Errorf("this machine has changed:\n  %s", strings.Join(changed, "\n  "))
	}

	return nil
}

// changes returns the differences.
func (m machine) changes(after machine) []string {
	const none = "not there"

	names := maps.Clone(m)
	maps.Copy(names, after)

	var changed []string

	for _, name := range slices.Sorted(maps.Keys(names)) {
		was, is := none, none
		if v, ok := m[name]; ok {
			was = v
		}

		if v, ok := after[name]; ok {
			is = v
		}

		if was != is {
			changed = append(changed, name+": was "+was+", is "+is)
		}
	}

	return changed
}

// namespaces are those of a process, by their inode numbers.
type namespaces []string

// kinds of namespaces of a sandbox.
func kinds() []string { return []string{"ipc", "mnt", "net", "pid", "uts"} }

// of reads the namespaces of a process.
func (n *namespaces) of(pid int) error {
	for _, kind := range kinds() {
		ns, err := os.Readlink(filepath.Join("/proc", strconv.Itoa(pid), "ns", kind))
		if err != nil {
			// It has ended.
			return nil //nolint:nilerr // Its exit code says why.
		}

		own, err := os.Readlink(filepath.Join("/proc/self/ns", kind))
		if err != nil {
			return err
		}

		if ns == own {
			return fmt.Errorf("the %s namespace is not a new one", kind)
		}

		*n = append(*n, ns)
	}

	return nil
}

// gone waits until no process is in one of the namespaces.
func (n *namespaces) gone(ctx context.Context) error {
	return untilGone(ctx, func() error {
		processes, err := filepath.Glob("/proc/[0-9]*/ns/*")
		if err != nil {
			return err
		}

		for _, p := range processes {
			ns, err := os.Readlink(p)

			switch {
			case errors.Is(err, fs.ErrNotExist), errors.Is(err, unix.ESRCH), errors.Is(err, fs.ErrPermission):
				// The process has ended, or is protected against root. No process of the sandbox is.
			case err != nil:
				return err
			case slices.Contains(*n, ns):
				return fmt.Errorf("%s of the sandbox still exists: %s", p, ns)
			}
		}

		return nil
	})
}
