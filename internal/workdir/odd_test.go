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

// TestOddRecords ensures that a special file in the place of a record neither blocks a reader nor
// fills the memory.
func TestOddRecords(t *testing.T) {
	t.Parallel()

	reads := map[string]func(d *Dir) error{
		"Sync":       func(d *Dir) error { return d.Sync(nil) },
		"RemoveTree": func(d *Dir) error { return d.RemoveTree() },
		"ReadRun":    func(d *Dir) error { _, err := d.ReadRun(&struct{}{}); return err }, //nolint:nlreturn // One line is clearer.
	}
	odd := map[string]func(path string) error{
		"Pipe":  func(path string) error { return unix.Mkfifo(path, 0o600) },
		"Large": func(path string) error { return truncate(path, 1<<40) },
	}

	for name, read := range reads {
		for kind, plant := range odd {
			t.Run(name+kind, func(t *testing.T) {
				t.Parallel()

				d := newDir(t)
				if err := plant(filepath.Join(d.Path(), manifestName)); err != nil {
					t.Fatal(err)
				}

				if err := wait.Within(wait.Soon, func() {
					if read(d) == nil {
						t.Error("want an error")
					}
				}); err != nil {
					t.Error(err)
				}
			})
		}
	}

	for kind, plant := range odd {
		t.Run("Initialized"+kind, func(t *testing.T) {
			t.Parallel()

			d := newDir(t)
			if err := plant(filepath.Join(d.Path(), manifestName)); err != nil {
				t.Fatal(err)
			}

			if err := wait.Within(wait.Soon, func() {
				if got := d.Initialized("."); got != "" {
					t.Errorf("Initialized(...): want nothing, got %q", got)
				}
			}); err != nil {
				t.Error(err)
			}
		})
	}

	t.Run("Entrypoint", func(t *testing.T) {
		t.Parallel()

		d := newDir(t)
		if err := odd["Pipe"](filepath.Join(d.Path(), "pipe")); err != nil {
			t.Fatal(err)
		}

		if err := wait.Within(wait.Soon, func() {
			if _, err := d.Entrypoint("pipe"); err == nil {
				t.Error("Entrypoint(...) of a pipe: want an error")
			}
		}); err != nil {
			t.Error(err)
		}
	})
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
