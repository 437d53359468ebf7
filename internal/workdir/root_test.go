// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workdir

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/crossplane-contrib/provider-terraform/test/filesystem"
)

func TestOpen(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason  string
		path    func(dir string) string
		message []string
	}{
		"Exists": {
			reason: "An existing directory is used.",
			path:   func(dir string) string { return dir },
		},
		"Missing": {
			reason: "A missing directory is created with its parents.",
			path:   func(dir string) string { return filepath.Join(dir, "a", "b") },
		},
		"NotADirectory": {
			reason: "The message names the path, the cause and the remedy.",
			path: func(dir string) string {
				path := filepath.Join(dir, "file")
				if err := os.WriteFile(path, nil, 0o600); err != nil {
					return err.Error()
				}

				return path
			},
			message: []string{"/file", "not a directory", "name a directory"},
		},
		"NotWritable": {
			reason:  "A directory in which no file can be made is refused, even if it can be read.",
			path:    func(_ string) string { return "/proc/self" },
			message: []string{`"/proc/self"`, "name a directory", "write"},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			path := tc.path(t.TempDir())

			var wantErr error
			if tc.message != nil {
				wantErr = cmpopts.AnyError
			}

			r, err := Open(path, maxUse)
			if diff := cmp.Diff(wantErr, err, cmpopts.EquateErrors()); diff != "" {
				t.Fatalf("%s\nOpen(%q): -want error, +got error:\n%s", tc.reason, path, diff)
			}

			for _, m := range tc.message {
				if !strings.Contains(err.Error(), m) {
					t.Errorf("%s\nOpen(%q): %q does not say %q", tc.reason, path, err, m)
				}
			}

			if err != nil {
				return
			}

			if diff := cmp.Diff(path, r.Path()); diff != "" {
				t.Errorf("%s\nPath: -want, +got:\n%s", tc.reason, diff)
			}

			if diff := cmp.Diff([]string{}, filesystem.Names(t, path)); diff != "" {
				t.Errorf("%s\nwhat Open left behind: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestOpenRelative ensures that the path is absolute: the CLI runs in another directory than the
// provider.
func TestOpenRelative(t *testing.T) {
	t.Chdir(t.TempDir())

	r, err := Open("relative", maxUse)
	if err != nil {
		t.Fatal(err)
	}

	if !filepath.IsAbs(r.Path()) {
		t.Errorf("%q is not an absolute path", r.Path())
	}
}

func TestRootDir(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		uid    string
		// prepare the root; outside is a directory beside it.
		prepare func(t *testing.T, root, outside string)
		err     error
	}{
		"New": {
			reason: "A directory is made for a UID.",
			uid:    uidA,
		},
		"Again": {
			reason: "The directory stays, but other users may not read it.",
			uid:    uidA,
			prepare: func(t *testing.T, root, _ string) {
				t.Helper()
				mkdir(t, filepath.Join(root, uidA), 0o755)
			},
		},
		"Parent": {
			reason: "A name that leads out of the root is refused.",
			uid:    "..",
			err:    cmpopts.AnyError,
		},
		"Name": {
			reason: "The name of a Workspace is no UID.",
			uid:    "my-workspace",
			err:    cmpopts.AnyError,
		},
		"UpperCase": {
			reason: "Another way to write a UID would be a second directory for the same Workspace.",
			uid:    strings.ToUpper(uidA),
			err:    cmpopts.AnyError,
		},
		"File": {
			reason: "A file in the place of the directory is reported.",
			uid:    uidA,
			prepare: func(t *testing.T, root, _ string) {
				t.Helper()
				write(t, filepath.Join(root, uidA), "")
			},
			err: cmpopts.AnyError,
		},
		"SymlinkOutside": {
			reason: "A link in the place of the directory does not lead out of the root.",
			uid:    uidA,
			prepare: func(t *testing.T, root, outside string) {
				t.Helper()
				symlink(t, outside, filepath.Join(root, uidA))
			},
			err: cmpopts.AnyError,
		},
		"RecordsOfOther": {
			reason: "Nor does a link in the place of the records. A new directory would remove it.",
			uid:    uidA,
			prepare: func(t *testing.T, root, _ string) {
				t.Helper()
				mkdir(t, filepath.Join(root, uidA), 0o700)
				mkdir(t, filepath.Join(root, uidB), 0o700)
				mkdir(t, filepath.Join(root, recordsDir), 0o700)
				symlink(t, "../"+uidB, filepath.Join(root, recordsDir, uidA))
			},
			err: cmpopts.AnyError,
		},
		"SymlinkToOther": {
			reason: "A link in the place of the directory does not lead to that of another Workspace.",
			uid:    uidA,
			prepare: func(t *testing.T, root, _ string) {
				t.Helper()
				mkdir(t, filepath.Join(root, uidB), 0o700)
				symlink(t, uidB, filepath.Join(root, uidA))
			},
			err: cmpopts.AnyError,
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r := openRoot(t)

			outside := t.TempDir()
			if tc.prepare != nil {
				tc.prepare(t, r.Path(), outside)
			}

			d, err := r.Dir(tc.uid)
			if diff := cmp.Diff(tc.err, err, cmpopts.EquateErrors()); diff != "" {
				t.Fatalf("%s\nDir(%q): -want error, +got error:\n%s", tc.reason, tc.uid, diff)
			}

			if err != nil {
				return
			}

			if diff := cmp.Diff(filepath.Join(r.Path(), tc.uid), d.Path()); diff != "" {
				t.Errorf("%s\nPath: -want, +got:\n%s", tc.reason, diff)
			}

			info, err := os.Stat(d.Path())
			if err != nil {
				t.Fatal(err)
			}

			if diff := cmp.Diff(os.ModeDir|0o700, info.Mode()); diff != "" {
				t.Errorf("%s\nmode: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestList(t *testing.T) {
	t.Parallel()

	r := openRoot(t)
	for _, name := range []string{uidA, uidB, "plugin-cache", ".deleting-" + uidA, strings.ToUpper(uidA), "urn:uuid:" + uidA, strings.ReplaceAll(uidA, "-", "")} {
		mkdir(t, filepath.Join(r.Path(), name), 0o700)
	}

	write(t, filepath.Join(r.Path(), "11111111-1111-4111-8111-111111111111"), "a file")
	symlink(t, uidA, filepath.Join(r.Path(), "22222222-2222-4222-8222-222222222222"))

	got, err := r.List()
	if err != nil {
		t.Fatal(err)
	}

	if diff := cmp.Diff([]string{uidA, uidB}, got); diff != "" {
		t.Errorf("only directories named like a UID are those of Workspaces: -want, +got:\n%s", diff)
	}
}

// TestListMissing ensures that a missing root is an error: an empty list stands for a root
// without Workspaces.
func TestListMissing(t *testing.T) {
	t.Parallel()

	r := openRoot(t)
	if err := os.Remove(r.Path()); err != nil {
		t.Fatal(err)
	}

	if got, err := r.List(); err == nil {
		t.Errorf("List of a root that is gone returned %v", got)
	}
}

func TestBind(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		before func(t *testing.T, r *Root)
		// want is in the error. It is empty if there must be none.
		want  []string
		owner string
	}{
		"New": {
			reason: "The first cluster is the owner.",
			before: func(*testing.T, *Root) {},
			owner:  "b",
		},
		"Unmarked": {
			reason: "A root of an older version belongs to the first cluster that starts.",
			before: func(t *testing.T, r *Root) {
				t.Helper()
				dirOf(t, r, uidA)
			},
			owner: "b",
		},
		"Empty": {
			reason: "The machine failed before the name of the owner was on disk.",
			before: func(t *testing.T, r *Root) {
				t.Helper()
				write(t, filepath.Join(r.Path(), ".cluster"), "")
			},
			owner: "b",
		},
		"Own": {
			reason: "It stays the owner.",
			before: func(t *testing.T, r *Root) {
				t.Helper()
				write(t, filepath.Join(r.Path(), ".cluster"), "b\n")
			},
			owner: "b",
		},
		"Other": {
			reason: "Another cluster is refused, and the error says how to proceed.",
			before: func(t *testing.T, r *Root) {
				t.Helper()
				write(t, filepath.Join(r.Path(), ".cluster"), "a\n")
			},
			want:  []string{`belongs to cluster "a", and this is "b"`, "use another directory", "delete "},
			owner: "a",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r := openRoot(t)
			tc.before(t, r)

			err := r.Bind("b")
			if (err != nil) != (len(tc.want) > 0) {
				t.Errorf("%s\nOwn(...): got error %v", tc.reason, err)
			}

			for _, text := range tc.want {
				if err == nil || !strings.Contains(err.Error(), text) || !strings.Contains(err.Error(), r.Path()) {
					t.Errorf("%s\nOwn(...): want %q in error %v", tc.reason, text, err)
				}
			}

			got := filesystem.Read(t, r.Path())
			if diff := cmp.Diff(files{".cluster": tc.owner + "\n"}, got); diff != "" {
				t.Errorf("%s\nfiles: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestBindAtOnce lets several clusters start on one root: exactly one becomes the owner.
func TestBindAtOnce(t *testing.T) {
	t.Parallel()

	r := openRoot(t)
	owners := make(chan string, 20)

	var wg sync.WaitGroup

	for range 10 {
		for _, cluster := range []string{"a", "b"} {
			wg.Go(func() {
				if reopened(t, r).Bind(cluster) == nil {
					owners <- cluster
				}
			})
		}
	}

	wg.Wait()
	close(owners)

	n := map[string]int{}
	for cluster := range owners {
		n[cluster]++
	}

	if n["a"]+n["b"] != 10 || n["a"]*n["b"] != 0 {
		t.Errorf("want all 10 instances of one cluster and none of the other to start, got %v", n)
	}
}
