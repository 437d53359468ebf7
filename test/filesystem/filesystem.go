// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package filesystem gives a test a second file system, and writes and reads its files.
package filesystem

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// Other returns a new directory in another file system than that of temporary directories:
// links and renames between the two fail. It skips the test if there is no other file
// system.
func Other(t *testing.T) string {
	t.Helper()

	dir, err := os.MkdirTemp("/dev/shm", "test-") //nolint:usetesting // It is about where temporary directories are not.
	if err != nil {
		t.Skipf("there is no second file system: %v", err)
	}

	t.Cleanup(func() { _ = os.RemoveAll(dir) })

	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}

	if err := os.Link(file, filepath.Join(dir, "file")); !errors.Is(err, unix.EXDEV) {
		t.Skipf("/dev/shm is not a second file system: %v", err)
	}

	return dir
}
