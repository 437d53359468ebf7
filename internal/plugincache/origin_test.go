// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package plugincache

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/crossplane-contrib/provider-terraform/test/wait"
)

// TestOriginOfOddFiles configures the CLI with a special file.
func TestOriginOfOddFiles(t *testing.T) {
	t.Parallel()

	dir := t.TempDir()
	pipe, large := filepath.Join(dir, "pipe"), filepath.Join(dir, "large")

	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}

	if err := os.WriteFile(large, make([]byte, maxConfig+1), 0o600); err != nil {
		t.Fatal(err)
	}

	cases := map[string]struct {
		reason, path, err string
	}{
		"Missing":   {reason: "The CLI complains about it.", path: filepath.Join(dir, "none")},
		"Pipe":      {reason: "A pipe can be read only once.", path: pipe, err: "it is a pipe"},
		"Device":    {reason: "A device may have no end.", path: "/dev/zero", err: `cannot use configuration file of the CLI: cannot read "/dev/zero": it is a device, and only regular files on a disk are read: use one of them`},
		"Kernel":    {reason: "A file of the kernel has other content for each process.", path: "/proc/self/environ", err: "the kernel makes it up"},
		"Large":     {reason: "A real configuration is smaller.", path: large, err: "more than 1.0 MiB"},
		"Directory": {reason: "The CLI ignores a directory, too.", path: dir},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			var err error

			if blocked := wait.Within(wait.Soon, func() { _, err = Origin([]string{configVariable + "=" + tc.path}) }); blocked != nil {
				t.Fatalf("\n%s\nOrigin(...): %v", tc.reason, blocked)
			}

			if (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Errorf("\n%s\nOrigin(...): want an error with %q, got %v", tc.reason, tc.err, err)
			}
		})
	}
}
