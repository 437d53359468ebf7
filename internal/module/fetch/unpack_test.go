// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"archive/tar"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/crossplane-contrib/provider-terraform/test/filesystem"
)

func TestUnpack(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason  string
		entries []packed
		// tarOnly marks a case that ZIP does not support.
		tarOnly bool
		limits  limits
		want    map[string]string
		// err is a part of the error.
		err string
	}{
		"Files": {
			reason:  "Files are written with their permissions, in directories that need no entry.",
			entries: []packed{file("main.tf", "m"), {tar.TypeReg, "bin/run", "r", 0o755}, {tar.TypeReg, "secret", "s", 0o000}},
			want:    map[string]string{"main.tf": "0644 m", "bin/run": "0755 r", "secret": "0600 s"},
		},
		"Dotted": {
			reason:  "Names may begin with a dot, as in archives of tar.",
			entries: []packed{dir("./", 0o755), file("./main.tf", "m"), dir("./sub/", 0o755), file("./sub/..a", "a")},
			want:    map[string]string{"main.tf": "0644 m", "sub/..a": "0644 a"},
		},
		"ReadOnlyDirectory": {
			reason:  "A read-only directory can be filled, and removed later.",
			entries: []packed{dir("sub/", 0o555), file("sub/main.tf", "m")},
			want:    map[string]string{"sub/main.tf": "0644 m"},
		},
		"Setuid": {
			reason:  "Only permissions are kept.",
			entries: []packed{{tar.TypeReg, "x", "x", 0o6755}},
			want:    map[string]string{"x": "0755 x"},
		},
		"Links": {
			reason:  "Symbolic links are kept, to files that come later as well.",
			entries: []packed{link("a.tf", "sub/b.tf"), file("sub/b.tf", "b"), link("dir", "sub")},
			want:    map[string]string{"a.tf": "-> sub/b.tf", "sub/b.tf": "0644 b", "dir": "-> sub"},
		},
		"ThroughLinkInside": {
			reason:  "A path may go through a link to a directory inside.",
			entries: []packed{dir("sub/", 0o755), link("dir", "sub"), file("dir/b.tf", "b")},
			want:    map[string]string{"dir": "-> sub", "sub/b.tf": "0644 b"},
		},
		"HardLink": {
			reason:  "A hard link is another name.",
			entries: []packed{file("a.tf", "a"), hard("sub/b.tf", "a.tf")},
			tarOnly: true,
			want:    map[string]string{"a.tf": "0644 a", "sub/b.tf": "0644 a"},
		},
		"Twice": {
			reason:  "The last of two entries wins, and does not write through a link.",
			entries: []packed{file("a.tf", "long content"), file("a.tf", "a"), file("b.tf", "b"), link("c.tf", "b.tf"), file("c.tf", "c")},
			want:    map[string]string{"a.tf": "0644 a", "b.tf": "0644 b", "c.tf": "0644 c"},
		},
		"GlobalHeader": {
			reason:  "Headers that git writes to archives are not files.",
			entries: []packed{{tar.TypeXGlobalHeader, "pax_global_header", "", 0}, file("main.tf", "m")},
			tarOnly: true,
			want:    map[string]string{"main.tf": "0644 m"},
		},
		"Parent": {
			reason:  "Two dots lead out.",
			entries: []packed{file("../escape", "x")},
			err:     `entry "../escape" leads out of the archive`,
		},
		"ParentInside": {
			reason:  "Two dots that stay inside may lead out when there are links.",
			entries: []packed{file("a/../b", "x")},
			err:     `entry "a/../b" leads out of the archive`,
		},
		"Absolute": {
			reason:  "An absolute name is outside.",
			entries: []packed{file("/tmp/escape", "x")},
			err:     `entry "/tmp/escape" leads out of the archive`,
		},
		"ThroughLink": {
			reason:  "Nothing is written through a link that leads out.",
			entries: []packed{link("out", ".."), file("out/escape", "x")},
			err:     "path escapes from parent",
		},
		"DirectoryThroughLink": {
			reason:  "No directory is made through a link.",
			entries: []packed{link("out", ".."), dir("out/escape/", 0o755)},
			err:     "path escapes from parent",
		},
		"LinkOverDirectory": {
			reason:  "A directory that is not empty does not become a link.",
			entries: []packed{file("sub/a", "a"), link("sub", "..")},
			err:     "not empty",
		},
		"HardLinkOut": {
			reason:  "A hard link to a file outside would let an archive change that file.",
			entries: []packed{hard("passwd", "../../../../../../etc/passwd")},
			tarOnly: true,
			err:     "path escapes from parent",
		},
		"Device": {
			reason:  "A module has no devices.",
			entries: []packed{{tar.TypeChar, "null", "", 0o666}},
			tarOnly: true,
			err:     `entry "null" is neither a file, a directory nor a link`,
		},
		"Fifo": {
			reason:  "A read of a named pipe would never end.",
			entries: []packed{{tar.TypeFifo, "pipe", "", 0o666}},
			tarOnly: true,
			err:     `entry "pipe" is neither a file, a directory nor a link`,
		},
		"JustEnough": {
			reason:  "The limits themselves are allowed.",
			entries: []packed{file("a", "12345"), file("b", "12345")},
			limits:  limits{2, 10},
			want:    map[string]string{"a": "0644 12345", "b": "0644 12345"},
		},
		"TooManyBytes": {
			reason:  "All files together count.",
			entries: []packed{file("a", "12345"), file("b", "123456")},
			limits:  limits{2, 10},
			err:     "the archive has more than 10 bytes",
		},
		"TooManyBytesInLinks": {
			reason:  "A copy of the module has a file for each hard link.",
			entries: []packed{file("a", "123456"), hard("b", "a")},
			tarOnly: true,
			limits:  limits{2, 10},
			err:     "the archive has more than 10 bytes",
		},
		"TooManyFiles": {
			reason:  "Empty files and directories count as well.",
			entries: []packed{dir("a/", 0o755), file("b", ""), file("c", "")},
			limits:  limits{2, 10},
			err:     "the archive has more than 2 files",
		},
	}

	for name, tc := range cases {
		if tc.limits == (limits{}) {
			tc.limits = wide
		}

		check := func(t *testing.T, unpack func(*os.Root) error) {
			t.Helper()
			parent := t.TempDir()
			root := newRoot(t, filepath.Join(parent, "root"))

			err := unpack(root)
			if tc.err == "" && err != nil || tc.err != "" && (err == nil || !strings.Contains(err.Error(), tc.err)) {
				t.Errorf("%s\nwant error %q, got %v", tc.reason, tc.err, err)
			}

			if got := filesystem.Names(t, parent); len(got) != 1 {
				t.Errorf("%s\nthere is something outside: %q", tc.reason, got)
			}

			if tc.err != "" {
				return
			}

			if diff := cmp.Diff(tc.want, content(t, root.Name())); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
		}
		t.Run(name+"/Tar", func(t *testing.T) {
			t.Parallel()
			check(t, func(root *os.Root) error { return untar(root, makeTar(t, tc.entries), tc.limits) })
		})

		if tc.tarOnly {
			continue
		}

		t.Run(name+"/Zip", func(t *testing.T) {
			t.Parallel()
			check(t, func(root *os.Root) error { return unzip(t, root, makeZip(t, tc.entries), tc.limits) })
		})
	}
}

func TestUnpackDirectory(t *testing.T) {
	t.Parallel()

	parent := t.TempDir()
	src := newRoot(t, filepath.Join(parent, "src"))
	// A mounted ConfigMap: every file is a link into a directory behind a link.
	data := makeTar(t, []packed{
		file("..2024/main.tf", "m"), link("..data", "..2024"), link("main.tf", "..data/main.tf"),
		{tar.TypeReg, "bin/run", "r", 0o755},
		dir("empty/", 0o755),
	})
	if err := untar(src, data, wide); err != nil {
		t.Fatal(err)
	}

	root := newRoot(t, filepath.Join(parent, "root"))
	if err := copyDirectory(root, src, wide); err != nil {
		t.Fatal(err)
	}

	want := map[string]string{"..2024/main.tf": "0644 m", "..data": "-> ..2024", "main.tf": "-> ..data/main.tf", "bin/run": "0755 r"}
	if diff := cmp.Diff(want, content(t, root.Name())); diff != "" {
		t.Errorf("directory(...): -want, +got:\n%s", diff)
	}

	if _, err := root.Stat("empty"); err != nil {
		t.Errorf("directory(...): an empty directory is missing: %v", err)
	}

	err := copyDirectory(newRoot(t, filepath.Join(parent, "small")), src, limits{3, 100})
	if err == nil || !strings.Contains(err.Error(), "the archive has more than 3 files") {
		t.Errorf("directory(...) of too many files: got %v", err)
	}

	if err := unix.Mkfifo(filepath.Join(src.Name(), "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}

	err = copyDirectory(newRoot(t, filepath.Join(parent, "fifo")), src, wide)
	if err == nil || !strings.Contains(err.Error(), `"pipe" is neither a file`) {
		t.Errorf("directory(...) with a named pipe: got %v", err)
	}
}
