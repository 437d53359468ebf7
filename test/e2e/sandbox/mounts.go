// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// Directories in which the programs of a node write, wherever they are told to.
const (
	library = "/var/lib"
	logs    = "/var/log"
)

// sysctls are the kernel settings that a kubelet changes, with the values that it wants. They belong
// to the whole machine.
func sysctls() map[string]string {
	return map[string]string{
		"vm/overcommit_memory": "1",
		"vm/panic_on_oom":      "0",
		"kernel/panic":         "10",
		"kernel/panic_on_oops": "1",
		// Numbers of keys, for which there are no namespaces.
		"kernel/keys/root_maxkeys":  "1000000",
		"kernel/keys/root_maxbytes": "25000000",
	}
}

// mount mounts the file systems of the sandbox. Directories of the machine in which programs leave
// files are replaced by those of the sandbox.
func mount(dir, log string) error {
	steps := []struct {
		source, target, kind string
		flags                uintptr
	}{
		// Nothing that is mounted from here on appears outside.
		{target: "/", flags: unix.MS_REC | unix.MS_PRIVATE},
		{source: "proc", target: "/proc", kind: "proc"},
		{source: "tmpfs", target: "/run", kind: "tmpfs"},
		{source: dir, target: library, flags: unix.MS_BIND},
		{source: log, target: logs, flags: unix.MS_BIND},
		// A kubelet wants mounts of containers to appear here.
		{target: "/", flags: unix.MS_REC | unix.MS_SHARED},
	}

	for _, s := range steps {
		if err := unix.Mount(s.source, s.target, s.kind, s.flags, ""); err != nil {
			return fmt.Errorf("cannot mount %s: %w", s.target, err)
		}
	}

	return hideSysctls(filepath.Join(dir, "sysctls"))
}

// hideSysctls replaces kernel settings of the whole machine by files.
func hideSysctls(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}

	for name, value := range sysctls() {
		file := filepath.Join(dir, strings.ReplaceAll(name, "/", "."))
		if err := os.WriteFile(file, []byte(value+"\n"), 0o600); err != nil {
			return err
		}

		if err := unix.Mount(file, filepath.Join("/proc/sys", name), "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("cannot replace the setting %s: %w", name, err)
		}
	}

	return nil
}
