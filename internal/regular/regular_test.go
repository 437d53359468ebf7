// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package regular

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/crossplane-contrib/provider-terraform/test/filesystem"
	"github.com/crossplane-contrib/provider-terraform/test/wait"
)

// within fails if fn is blocked.
func within(t *testing.T, fn func()) {
	t.Helper()

	if err := wait.Within(wait.Soon, fn); err != nil {
		t.Fatal(err)
	}
}

// plant files of all kinds in a directory.
func plant(t *testing.T, dir string) {
	t.Helper()

	in := func(name string) string { return filepath.Join(dir, name) }

	filesystem.Write(t, dir, filesystem.Files{
		"file": "content", "empty": "", "full": "12345678", "long": "123456789", "huge": "",
		"link": "-> file", "outside": "-> /dev/zero", "dangling": "-> nothing",
	})

	// No disk is as large.
	if err := os.Truncate(in("huge"), 1<<42); err != nil {
		t.Fatal(err)
	}

	if err := unix.Mkfifo(in("pipe"), 0o600); err != nil {
		t.Fatal(err)
	}

	l, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", in("socket"))
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { _ = l.Close() })
}

func TestRead(t *testing.T) {
	t.Parallel()

	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }

	plant(t, dir)

	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { _ = root.Close() })

	cases := map[string]struct {
		reason, path, want, err string
	}{
		"File":        {"A file is read.", in("file"), "content", ""},
		"Empty":       {"It may be empty.", in("empty"), "", ""},
		"Full":        {"It may be as long as allowed.", in("full"), "12345678", ""},
		"Link":        {"A link to a file is followed.", in("link"), "content", ""},
		"Missing":     {"A missing file is a separate error.", in("none"), "", "no such file"},
		"Dangling":    {"A link to a missing file is the same error.", in("dangling"), "", "no such file"},
		"Long":        {"One byte more is too long.", in("long"), "", "more than 8 bytes"},
		"Huge":        {"A much longer file is not read.", in("huge"), "", "more than 8 bytes"},
		"Directory":   {"A directory has no content.", dir, "", "directory"},
		"Pipe":        {"A pipe may never have a writer.", in("pipe"), "", "pipe"},
		"Socket":      {"A socket has no content.", in("socket"), "", "socket"},
		"Device":      {"A device may never end.", "/dev/zero", "", "device"},
		"Terminal":    {"A device may block.", "/dev/ptmx", "", "device"},
		"LinkToOne":   {"A link to a device is refused, too.", in("outside"), "", ""},
		"Environment": {"A file of the kernel may have secrets of this process.", "/proc/self/environ", "", "kernel"},
		"Memory":      {"A file of the kernel may have memory of this process.", "/proc/self/mem", "", "kernel"},
		"Log":         {"A file of the kernel may block.", "/proc/kmsg", "", ""},
		"Setting":     {"Other files of the kernel are refused, too.", "/sys/kernel/notes", "", ""},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			reads := map[string]func() ([]byte, error){"Read": func() ([]byte, error) { return Read(tc.path, 8) }}
			if rel, err := filepath.Rel(dir, tc.path); err == nil && filepath.IsLocal(rel) {
				reads["ReadIn"] = func() ([]byte, error) { return ReadIn(root, rel, 8) }
			}

			for fn, read := range reads {
				within(t, func() {
					got, err := read()

					switch fails := tc.want == "" && name != "Empty"; {
					case fails != (err != nil), string(got) != tc.want:
						t.Errorf("%s\n%s(%q): want %q, got %q, %v", tc.reason, fn, tc.path, tc.want, got, err)
					case fails && !strings.Contains(err.Error(), tc.err):
						t.Errorf("%s\n%s(%q): want an error with %q, got %v", tc.reason, fn, tc.path, tc.err, err)
					}
				})
			}
		})
	}
}

// TestOpenPipe opens a pipe that replaces a file after the first check of it.
func TestOpenPipe(t *testing.T) {
	t.Parallel()

	path := filepath.Join(t.TempDir(), "pipe")
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}

	within(t, func() {
		regularFile := func(string) (os.FileInfo, error) { return os.Stat("regular_test.go") }
		if f, err := open(path, regularFile, os.OpenFile); err == nil {
			t.Errorf("open of a pipe: want an error, got %q", f.Name())
		}
	})
}

func TestSize(t *testing.T) {
	t.Parallel()

	for n, want := range map[int64]string{0: "0 bytes", 1023: "1023 bytes", 1536: "1.5 KiB", MiB: "1.0 MiB", 5 * MiB / 2: "2.5 MiB"} {
		if got := Size(n); got != want {
			t.Errorf("Size(%d): want %q, got %q", n, want, got)
		}
	}
}
