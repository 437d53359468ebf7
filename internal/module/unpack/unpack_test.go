// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package unpack

import (
	"archive/tar"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/crossplane-contrib/provider-terraform/test/filesystem"
)

func TestArchives(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason  string
		entries []entry
		// tarOnly is for what ZIP does not have.
		tarOnly bool
		limits  Limits
		want    map[string]string
		// err is a part of the error.
		err string
	}{
		"Files": {
			reason:  "Files are written with their permissions, in directories that need no entry.",
			entries: []entry{file("main.tf", "m"), {tar.TypeReg, "bin/run", "r", 0o755}, {tar.TypeReg, "secret", "s", 0o000}},
			want:    map[string]string{"main.tf": "0644 m", "bin/run": "0755 r", "secret": "0600 s"},
		},
		"Dotted": {
			reason:  "Names may begin with a dot, as tar makes them.",
			entries: []entry{dir("./", 0o755), file("./main.tf", "m"), dir("./sub/", 0o755), file("./sub/..a", "a")},
			want:    map[string]string{"main.tf": "0644 m", "sub/..a": "0644 a"},
		},
		"ReadOnlyDirectory": {
			reason:  "A directory that nobody may write to can be filled, and removed later.",
			entries: []entry{dir("sub/", 0o555), file("sub/main.tf", "m")},
			want:    map[string]string{"sub/main.tf": "0644 m"},
		},
		"Setuid": {
			reason:  "Only permissions are kept.",
			entries: []entry{{tar.TypeReg, "x", "x", 0o6755}},
			want:    map[string]string{"x": "0755 x"},
		},
		"Links": {
			reason:  "Symbolic links are kept, to files that come later as well.",
			entries: []entry{link("a.tf", "sub/b.tf"), file("sub/b.tf", "b"), link("dir", "sub")},
			want:    map[string]string{"a.tf": "-> sub/b.tf", "sub/b.tf": "0644 b", "dir": "-> sub"},
		},
		"ThroughLinkInside": {
			reason:  "A link to a directory inside may be gone through.",
			entries: []entry{dir("sub/", 0o755), link("dir", "sub"), file("dir/b.tf", "b")},
			want:    map[string]string{"dir": "-> sub", "sub/b.tf": "0644 b"},
		},
		"HardLink": {
			reason:  "A hard link is another name.",
			entries: []entry{file("a.tf", "a"), hard("sub/b.tf", "a.tf")},
			tarOnly: true,
			want:    map[string]string{"a.tf": "0644 a", "sub/b.tf": "0644 a"},
		},
		"Twice": {
			reason:  "The last of two entries wins, and does not write through a link.",
			entries: []entry{file("a.tf", "long content"), file("a.tf", "a"), file("b.tf", "b"), link("c.tf", "b.tf"), file("c.tf", "c")},
			want:    map[string]string{"a.tf": "0644 a", "b.tf": "0644 b", "c.tf": "0644 c"},
		},
		"GlobalHeader": {
			reason:  "Headers that git puts into archives are no files.",
			entries: []entry{{tar.TypeXGlobalHeader, "pax_global_header", "", 0}, file("main.tf", "m")},
			tarOnly: true,
			want:    map[string]string{"main.tf": "0644 m"},
		},
		"Parent": {
			reason:  "Two dots lead out.",
			entries: []entry{file("../escape", "x")},
			err:     `entry "../escape" leads out of the archive`,
		},
		"ParentDeep": {
			reason:  "Two dots lead out at any depth.",
			entries: []entry{file("a/../../escape", "x")},
			err:     `entry "a/../../escape" leads out of the archive`,
		},
		"ParentInside": {
			reason:  "Two dots that stay inside may not, once there are links.",
			entries: []entry{file("a/../b", "x")},
			err:     `entry "a/../b" leads out of the archive`,
		},
		"Absolute": {
			reason:  "An absolute name is outside.",
			entries: []entry{file("/tmp/escape", "x")},
			err:     `entry "/tmp/escape" leads out of the archive`,
		},
		"ParentDirectory": {
			reason:  "A directory outside is not made.",
			entries: []entry{dir("../escape/", 0o755)},
			err:     `leads out of the archive`,
		},
		"ParentLink": {
			reason:  "A link is not made outside.",
			entries: []entry{link("../escape", "x")},
			err:     `leads out of the archive`,
		},
		"ThroughLink": {
			reason:  "Nothing is written through a link that leads out.",
			entries: []entry{link("out", ".."), file("out/escape", "x")},
			err:     "path escapes from parent",
		},
		"ThroughAbsoluteLink": {
			reason:  "Nor through one to somewhere else entirely.",
			entries: []entry{link("out", t.TempDir()), file("out/escape", "x")},
			err:     "path escapes from parent",
		},
		"DirectoryThroughLink": {
			reason:  "No directory is made through a link.",
			entries: []entry{link("out", ".."), dir("out/escape/", 0o755)},
			err:     "path escapes from parent",
		},
		"LinkOverDirectory": {
			reason:  "A directory with something in it does not become a link.",
			entries: []entry{file("sub/a", "a"), link("sub", "..")},
			err:     "not empty",
		},
		"HardLinkOut": {
			reason:  "A hard link to a file outside would let an archive change that.",
			entries: []entry{hard("passwd", "../../../../../../etc/passwd")},
			tarOnly: true,
			err:     `leads out of the archive`,
		},
		"HardLinkThroughLink": {
			reason:  "Nor does a link help it.",
			entries: []entry{link("etc", "/etc"), hard("passwd", "etc/passwd")},
			tarOnly: true,
			err:     "path escapes from parent",
		},
		"Device": {
			reason:  "Devices have no place in a module.",
			entries: []entry{{tar.TypeChar, "null", "", 0o666}},
			tarOnly: true,
			err:     `entry "null" is neither a file, a directory nor a link`,
		},
		"Fifo": {
			reason:  "Reading a named pipe would never end.",
			entries: []entry{{tar.TypeFifo, "pipe", "", 0o666}},
			tarOnly: true,
			err:     `entry "pipe" is neither a file, a directory nor a link`,
		},
		"JustEnough": {
			reason:  "Limits can be reached.",
			entries: []entry{file("a", "12345"), file("b", "12345")},
			limits:  Limits{Entries: 2, Bytes: 10},
			want:    map[string]string{"a": "0644 12345", "b": "0644 12345"},
		},
		"TooManyBytes": {
			reason:  "All files together count.",
			entries: []entry{file("a", "12345"), file("b", "123456")},
			limits:  Limits{Entries: 2, Bytes: 10},
			err:     "there are more than 10 bytes",
		},
		"TooManyFiles": {
			reason:  "Empty files and directories count as well.",
			entries: []entry{dir("a/", 0o755), file("b", ""), file("c", "")},
			limits:  Limits{Entries: 2, Bytes: 10},
			err:     "there are more than 2 files",
		},
	}

	for name, tc := range cases {
		if tc.limits == (Limits{}) {
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
			check(t, func(root *os.Root) error { return Tar(root, bytes.NewReader(makeTar(t, tc.entries)), tc.limits) })
		})

		if tc.tarOnly {
			continue
		}

		t.Run(name+"/Zip", func(t *testing.T) {
			t.Parallel()
			check(t, func(root *os.Root) error {
				data := makeZip(t, tc.entries)

				return Zip(root, bytes.NewReader(data), int64(len(data)), tc.limits)
			})
		})
	}
}

func TestBrokenArchives(t *testing.T) {
	t.Parallel()

	root := newRoot(t, filepath.Join(t.TempDir(), "root"))

	data := makeTar(t, []entry{file("main.tf", strings.Repeat("x", 2000))})
	if err := Tar(root, bytes.NewReader(data[:1000]), wide); err == nil {
		t.Error("Tar(...) of half an archive: want an error")
	}

	data = makeZip(t, []entry{file("main.tf", strings.Repeat("x", 2000))})
	if err := Zip(root, bytes.NewReader(data[:len(data)/2]), int64(len(data)/2), wide); err == nil {
		t.Error("Zip(...) of half an archive: want an error")
	}
}

func TestDirectory(t *testing.T) {
	t.Parallel()

	parent := t.TempDir()
	src := newRoot(t, filepath.Join(parent, "src"))
	// As a ConfigMap is mounted: every file is a link into a directory that a link
	// leads to.
	data := makeTar(t, []entry{
		file("..2024/main.tf", "m"), link("..data", "..2024"), link("main.tf", "..data/main.tf"),
		{tar.TypeReg, "bin/run", "r", 0o755},
		dir("empty/", 0o755),
	})
	if err := Tar(src, bytes.NewReader(data), wide); err != nil {
		t.Fatal(err)
	}

	root := newRoot(t, filepath.Join(parent, "root"))
	if err := Directory(root, src, wide); err != nil {
		t.Fatal(err)
	}

	want := map[string]string{"..2024/main.tf": "0644 m", "..data": "-> ..2024", "main.tf": "-> ..data/main.tf", "bin/run": "0755 r"}
	if diff := cmp.Diff(want, content(t, root.Name())); diff != "" {
		t.Errorf("Directory(...): -want, +got:\n%s", diff)
	}

	if _, err := root.Stat("empty"); err != nil {
		t.Errorf("Directory(...): an empty directory is missing: %v", err)
	}

	err := Directory(newRoot(t, filepath.Join(parent, "small")), src, Limits{Entries: 3, Bytes: 100})
	if err == nil || !strings.Contains(err.Error(), "there are more than 3 files") {
		t.Errorf("Directory(...) of too many files: got %v", err)
	}

	if err := unix.Mkfifo(filepath.Join(src.Name(), "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}

	err = Directory(newRoot(t, filepath.Join(parent, "fifo")), src, wide)
	if err == nil || !strings.Contains(err.Error(), `"pipe" is neither a file`) {
		t.Errorf("Directory(...) with a named pipe: got %v", err)
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason  string
		entries []entry
		// err is a part of the error.
		err string
	}{
		"Inside": {
			reason:  "Links inside are fine, up and down, and through other links.",
			entries: []entry{file("a/b/c.tf", "c"), link("c.tf", "a/b/c.tf"), link("a/b/up", "../.."), link("a/via", "b/up/c.tf"), link("self", ".")},
		},
		"Dangling": {
			reason:  "A link to nothing does no harm.",
			entries: []entry{link("sub/a", "../nothing/there")},
		},
		"Up": {
			reason:  "A link may not lead to the parent.",
			entries: []entry{link("a", "..")},
			err:     `symbolic link "a" leads out of the module, to ".."`,
		},
		"UpDeep": {
			reason:  "Nor from deeper.",
			entries: []entry{link("sub/a", "../../x")},
			err:     `symbolic link "sub/a" leads out of the module, to "../../x"`,
		},
		"Absolute": {
			reason:  "Nor to an absolute path.",
			entries: []entry{link("a", "/etc/passwd")},
			err:     `symbolic link "a" leads out of the module, to "/etc/passwd"`,
		},
		"DanglingUp": {
			reason:  "What a link leads to outside need not be there yet.",
			entries: []entry{link("a", "../nothing")},
			err:     `symbolic link "a" leads out of the module`,
		},
		"DanglingAbsolute": {
			reason:  "Wherever that is.",
			entries: []entry{link("a", "/nothing")},
			err:     `symbolic link "a" leads out of the module`,
		},
		"UpThroughLink": {
			reason:  "Two dots go up from where a link leads: the text of the target stays inside, the target does not.",
			entries: []entry{file("x/a", "a"), dir("k/", 0o755), link("x/e", ".."), link("z", "x/e/k/../..")},
			err:     `symbolic link "z" leads out of the module`,
		},
		"ToLinkOut": {
			reason:  "A link to a link that leads out leads out, whichever is found first.",
			entries: []entry{link("a", "b"), link("b", "..")},
			err:     "leads out of the module",
		},
		"Circle": {
			reason:  "A link in a circle leads nowhere.",
			entries: []entry{link("a", "b"), link("b", "a")},
			err:     `symbolic link "a" leads out of the module`,
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			root := newRoot(t, filepath.Join(t.TempDir(), "root"))
			if err := Tar(root, bytes.NewReader(makeTar(t, tc.entries)), wide); err != nil {
				t.Fatal(err)
			}

			err := Check(root)
			if tc.err == "" && err != nil || tc.err != "" && (err == nil || !strings.Contains(err.Error(), tc.err)) {
				t.Errorf("%s\nCheck(...): want error %q, got %v", tc.reason, tc.err, err)
			}
		})
	}

	t.Run("Pipe", func(t *testing.T) {
		t.Parallel()

		root := newRoot(t, filepath.Join(t.TempDir(), "root"))
		if err := unix.Mkfifo(filepath.Join(root.Name(), "pipe"), 0o600); err != nil {
			t.Fatal(err)
		}

		if err := Check(root); err == nil || !strings.Contains(err.Error(), `"pipe" is neither a file`) {
			t.Errorf("Check(...) with a named pipe: got %v", err)
		}
	})
}
