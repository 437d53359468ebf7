// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workdir

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/crossplane-contrib/provider-terraform/test/wait"
)

// TestOddFiles ensures that a special file in the place of the record, or of the entrypoint, neither
// blocks a reader nor fills the memory.
func TestOddFiles(t *testing.T) {
	t.Parallel()

	pipe := func(path string) error { return unix.Mkfifo(path, 0o600) }
	large := func(path string) error { return truncate(path, 1<<40) }

	for name, tc := range map[string]struct {
		plant func(path string) error
		name  string
		use   func(d *Dir) error
	}{
		"PipeForRecord":     {plant: pipe, name: "../" + recordsDir + "/" + uidA + "/" + manifestName, use: func(d *Dir) error { return d.Sync(nil) }},
		"LargeRecord":       {plant: large, name: "../" + recordsDir + "/" + uidA + "/" + manifestName, use: func(d *Dir) error { return d.Sync(nil) }},
		"PipeForEntrypoint": {plant: pipe, name: "pipe", use: func(d *Dir) error { _, err := d.ResolveEntrypoint("pipe"); return err }}, //nolint:nlreturn // One line is clearer.
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			d := newDir(t)
			if err := tc.plant(filepath.Join(d.Path(), tc.name)); err != nil {
				t.Fatal(err)
			}

			if err := wait.Within(wait.Soon, func() {
				if tc.use(d) == nil {
					t.Error("want an error")
				}
			}); err != nil {
				t.Error(err)
			}
		})
	}
}

// truncate makes a file that has a size but no blocks.
func truncate(path string, size int64) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()

	return f.Truncate(size)
}
