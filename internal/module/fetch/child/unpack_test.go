// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package child

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/flate"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/crossplane-contrib/provider-terraform/internal/dircache"
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
			want:    map[string]string{"main.tf": "-rw-r--r-- m", "bin/run": "-rwxr-xr-x r", "secret": "-rw------- s"},
		},
		"Dotted": {
			reason:  "Names may begin with a dot, as in archives of tar.",
			entries: []packed{dir("./", 0o755), file("./main.tf", "m"), dir("./sub/", 0o755), file("./sub/..a", "a")},
			want:    map[string]string{"main.tf": "-rw-r--r-- m", "sub/..a": "-rw-r--r-- a"},
		},
		"ReadOnlyDirectory": {
			reason:  "A read-only directory can be filled, and removed later.",
			entries: []packed{dir("sub/", 0o555), file("sub/main.tf", "m")},
			want:    map[string]string{"sub/main.tf": "-rw-r--r-- m"},
		},
		"Setuid": {
			reason:  "Only permissions are kept.",
			entries: []packed{{tar.TypeReg, "x", "x", 0o6755}},
			want:    map[string]string{"x": "-rwxr-xr-x x"},
		},
		"Links": {
			reason:  "Symbolic links are kept, to files that come later as well.",
			entries: []packed{link("a.tf", "sub/b.tf"), file("sub/b.tf", "b"), link("dir", "sub")},
			want:    map[string]string{"a.tf": "-> sub/b.tf", "sub/b.tf": "-rw-r--r-- b", "dir": "-> sub"},
		},
		"ThroughLinkInside": {
			reason:  "A path may go through a link to a directory inside.",
			entries: []packed{dir("sub/", 0o755), link("dir", "sub"), file("dir/b.tf", "b")},
			want:    map[string]string{"dir": "-> sub", "sub/b.tf": "-rw-r--r-- b"},
		},
		"HardLink": {
			reason:  "A hard link is another name.",
			entries: []packed{file("a.tf", "a"), hard("sub/b.tf", "a.tf")},
			tarOnly: true,
			want:    map[string]string{"a.tf": "-rw-r--r-- a", "sub/b.tf": "-rw-r--r-- a"},
		},
		"Twice": {
			reason:  "The last of two entries wins, and does not write through a link.",
			entries: []packed{file("a.tf", "long content"), file("a.tf", "a"), file("b.tf", "b"), link("c.tf", "b.tf"), file("c.tf", "c")},
			want:    map[string]string{"a.tf": "-rw-r--r-- a", "b.tf": "-rw-r--r-- b", "c.tf": "-rw-r--r-- c"},
		},
		"GlobalHeader": {
			reason:  "Headers that git writes to archives are not files.",
			entries: []packed{{tar.TypeXGlobalHeader, "pax_global_header", "", 0}, file("main.tf", "m")},
			tarOnly: true,
			want:    map[string]string{"main.tf": "-rw-r--r-- m"},
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
			want:    map[string]string{"a": "-rw-r--r-- 12345", "b": "-rw-r--r-- 12345"},
		},
		"TooManyBytes": {
			reason:  "All files together count.",
			entries: []packed{file("a", "12345"), file("b", "123456")},
			limits:  limits{2, 10},
			err:     "the module has more than 10 bytes",
		},
		"TooManyBytesInLinks": {
			reason:  "A copy of the module has a file for each hard link.",
			entries: []packed{file("a", "123456"), hard("b", "a")},
			tarOnly: true,
			limits:  limits{2, 10},
			err:     "the module has more than 10 bytes",
		},
		"TooManyFiles": {
			reason:  "Empty files and directories count as well.",
			entries: []packed{dir("a/", 0o755), file("b", ""), file("c", "")},
			limits:  limits{2, 10},
			err:     "the module has more than 2 files",
		},
		"TooManyParents": {
			reason:  "So do directories without an entry.",
			entries: []packed{file("a/b/c", "")},
			limits:  limits{2, 10},
			err:     "the module has more than 2 files",
		},
		"SameParent": {
			reason:  "A directory without an entry counts once.",
			entries: []packed{file("a/b", "b"), file("a/c", "c")},
			limits:  limits{3, 10},
			want:    map[string]string{"a/b": "-rw-r--r-- b", "a/c": "-rw-r--r-- c"},
		},
		"LongName": {
			reason:  "A longer name than the kernel allows makes a directory that is too deep to be read.",
			entries: []packed{file(strings.Repeat("a/", unix.PathMax/2)+"b", "")},
			err:     "the module has a path with 4097 bytes",
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

	// The caller refuses such a file if the CLI loads it. Such a directory could not be read.
	filesystem.Write(t, src.Name(), map[string]string{"caf\xe9.tf": "x", "caf\xe9/y.tf": "y"})

	root := newRoot(t, filepath.Join(parent, "root"))
	if err := copyDirectory(root, src, wide); err != nil {
		t.Fatal(err)
	}

	want := map[string]string{
		"..2024/main.tf": "-rw-r--r-- m", "..data": "-> ..2024", "main.tf": "-> ..data/main.tf", "bin/run": "-rwxr-xr-x r",
		"caf\xe9.tf": "-rw-r--r-- x",
	}
	if diff := cmp.Diff(want, content(t, root.Name())); diff != "" {
		t.Errorf("directory(...): -want, +got:\n%s", diff)
	}

	if _, err := root.Stat("empty"); err != nil {
		t.Errorf("directory(...): an empty directory is missing: %v", err)
	}

	err := copyDirectory(newRoot(t, filepath.Join(parent, "small")), src, limits{3, 100})
	if err == nil || !strings.Contains(err.Error(), "the module has more than 3 files") {
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

// TestUnpackDeclaredSize ensures that the declared size in a ZIP archive is ignored: this one is
// negative as an int64.
func TestUnpackDeclaredSize(t *testing.T) {
	t.Parallel()

	body := &bytes.Buffer{}

	deflate, err := flate.NewWriter(body, flate.BestCompression)
	if err != nil {
		t.Fatal(err)
	}

	if _, err := deflate.Write(make([]byte, 8<<20)); err != nil {
		t.Fatal(err)
	}

	if err := deflate.Close(); err != nil {
		t.Fatal(err)
	}

	archive := &bytes.Buffer{}
	w := zip.NewWriter(archive)

	f, err := w.CreateRaw(&zip.FileHeader{Name: "main.tf", Method: zip.Deflate, CompressedSize64: uint64(body.Len()), UncompressedSize64: 1 << 63})
	if err != nil {
		t.Fatal(err)
	}

	if _, err := f.Write(body.Bytes()); err != nil {
		t.Fatal(err)
	}

	if err := w.Close(); err != nil {
		t.Fatal(err)
	}

	root := newRoot(t, filepath.Join(t.TempDir(), "root"))
	if err := unzip(t, root, archive.Bytes(), wide); err == nil {
		t.Error("zip of a file that is too long: want an error")
	}

	if n := dircache.Size(root.Name()); n > wide.bytes+1 {
		t.Errorf("zip: want at most %d bytes written, got %d", wide.bytes+1, n)
	}
}

// FuzzTar unpacks an archive with a link and a file of any name, and checks that there is nothing
// outside.
func FuzzTar(f *testing.F) {
	for _, seed := range [][3]string{
		{"a", "..", "a/escape"},
		{"a/b", "../..", "a/b/../escape"},
		{"a", "/tmp", "a/x"},
		{"..", "x", "y"},
		{".", "..", "./x"},
		{"a", "a", "a"},
		{"", "", ""},
		{"a//b/", "./..", "a/./b/x"},
		{"a\x00b", "\x00", "x\\..\\y"},
		{"a", "b/..", "a/../../x"},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}

	f.Fuzz(func(t *testing.T, name, target, second string) {
		if len(name)+len(target)+len(second) > 4000 {
			return
		}

		entries := []packed{dir("b", 0o755), link(name, target), file(second, "x"), hard(second+"x", name), dir(second, 0o755)}
		for i := range entries {
			b := &bytes.Buffer{}
			w := tar.NewWriter(b)
			wrote := 0

			for _, e := range entries[:i+1] {
				if addToTar(w, e) == nil {
					wrote++
				}
			}

			if wrote == 0 || w.Close() != nil {
				return // It is no archive.
			}

			parent := t.TempDir()
			root := newRoot(t, filepath.Join(parent, "root"))
			_ = untar(root, b.Bytes(), wide)

			if got := filesystem.Names(t, parent); len(got) != 1 {
				t.Fatalf("link %q to %q, file %q: there is something outside: %q", name, target, second, got)
			}
		}
	})
}
