// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workdir

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-terraform/test/filesystem"
)

func TestReplaceTree(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		// earlier are the trees of earlier calls. After them there is a Sync of inputs. present are
		// files that another program wrote.
		earlier []files
		inputs  map[string]File
		present files
		tree    files
		want    files
	}{
		"First": {
			reason: "All files are moved into place.",
			tree:   files{"main.tf": "m", "modules/a/main.tf": "a"},
			want:   files{"main.tf": "m", "modules/a/main.tf": "a"},
		},
		"Changed": {
			reason:  "Files get their new content.",
			earlier: []files{{"main.tf": "old", "a/b.tf": "old"}},
			tree:    files{"main.tf": "new", "a/b.tf": "new"},
			want:    files{"main.tf": "new", "a/b.tf": "new"},
		},
		"Deleted": {
			reason:  "Files and directories that were deleted upstream are removed.",
			earlier: []files{{"main.tf": "m", "old.tf": "o", "old/deep/x.tf": "x", "both/a.tf": "a", "both/b.tf": "b"}},
			tree:    files{"main.tf": "m", "both/b.tf": "b"},
			want:    files{"main.tf": "m", "both/b.tf": "b"},
		},
		"RemembersOnlyTheLast": {
			reason:  "No file of an earlier tree stays.",
			earlier: []files{{"a.tf": "1"}, {"b.tf": "2"}},
			tree:    files{"c.tf": "3"},
			want:    files{"c.tf": "3"},
		},
		"StateStays": {
			reason:  "The CLI keeps its state between the files of the module, in the entrypoint.",
			earlier: []files{{"main.tf": "m", "envs/prod/main.tf": "p"}},
			present: files{
				"terraform.tfstate": "s", "terraform.tfstate.backup": "b", "terraform.tfstate.d/ws/terraform.tfstate": "w", "errored.tfstate": "e",
				".terraform/modules/modules.json": "{}", ".terraform.lock.hcl": "l",
				"envs/prod/terraform.tfstate.d/ws/terraform.tfstate": "w", "envs/prod/.terraform/x": "x", "envs/prod/.terraform.tfstate.lock.info": "i",
			},
			tree: files{"main.tf": "n", "envs/prod/main.tf": "q"},
			want: files{
				"main.tf": "n", "envs/prod/main.tf": "q",
				"terraform.tfstate": "s", "terraform.tfstate.backup": "b", "terraform.tfstate.d/ws/terraform.tfstate": "w", "errored.tfstate": "e",
				".terraform/modules/modules.json": "{}", ".terraform.lock.hcl": "l",
				"envs/prod/terraform.tfstate.d/ws/terraform.tfstate": "w", "envs/prod/.terraform/x": "x", "envs/prod/.terraform.tfstate.lock.info": "i",
			},
		},
		"StateOutlivesItsDirectory": {
			reason:  "When the directory of a state is deleted upstream, the state is not.",
			earlier: []files{{"main.tf": "m", "sub/main.tf": "s"}},
			present: files{"sub/terraform.tfstate": "s"},
			tree:    files{"main.tf": "m"},
			want:    files{"main.tf": "m", "sub/terraform.tfstate": "s"},
		},
		"NoStateComesIn": {
			reason:  "A module adds no state and no files of the CLI or the provider.",
			present: files{"terraform.tfstate": "mine"},
			tree: files{
				"main.tf": "m", "terraform.tfstate": "theirs", "terraform.tfstate.d/ws/terraform.tfstate": "t", "sub/errored.tfstate": "e", "sub/errored.tfstate.superseded-1": "e", "sub/main.tf": "s",
				".terraform/providers/x": "x", "sub/.terraform/y": "y", ".crossplane.tfplan": "p", "sub/.crossplane-x/z": "z", "sub/.terraform.tfstate.lock.info": "l",
			},
			want: files{"main.tf": "m", "sub/main.tf": "s", "terraform.tfstate": "mine"},
		},
		"LockFile": {
			reason:  "The lock file of a module is one of its files.",
			earlier: []files{{"main.tf": "m", ".terraform.lock.hcl": "old"}},
			tree:    files{"main.tf": "m", ".terraform.lock.hcl": "new"},
			want:    files{"main.tf": "m", ".terraform.lock.hcl": "new"},
		},
		"ForeignStays": {
			reason:  "A file that a resource wrote stays, unless the module has one of the same name.",
			earlier: []files{{"main.tf": "m"}},
			present: files{"kubeconfig": "k", "out/a": "a", "b.tf": "theirs"},
			tree:    files{"main.tf": "m", "b.tf": "ours"},
			want:    files{"main.tf": "m", "kubeconfig": "k", "out/a": "a", "b.tf": "ours"},
		},
		"FileToDirectory": {
			reason:  "A file becomes a directory.",
			earlier: []files{{"a": "file", "main.tf": "m"}},
			tree:    files{"a/b.tf": "b", "main.tf": "m"},
			want:    files{"a/b.tf": "b", "main.tf": "m"},
		},
		"DirectoryToFile": {
			reason:  "A directory becomes a file, and data that the CLI can install again is removed with it.",
			earlier: []files{{"a/b.tf": "b", "main.tf": "m"}},
			inputs:  map[string]File{"a/creds": secret("c")},
			present: files{"a/.terraform/terraform.tfstate": "backend", "a/c": "c"},
			tree:    files{"a": "file", "main.tf": "m"},
			want:    files{"a": "file", "main.tf": "m"},
		},
		"Links": {
			reason:  "Links are files of the module, and replace and are replaced by others.",
			earlier: []files{{"main.tf": "m", "a.tf": "-> main.tf", "b.tf": "b", "dir": "-> sub", "sub/x.tf": "x"}},
			tree:    files{"main.tf": "m", "a.tf": "a", "b.tf": "-> main.tf", "dir/y.tf": "y", "sub": "-> dir"},
			want:    files{"main.tf": "m", "a.tf": "a", "b.tf": "-> main.tf", "dir/y.tf": "y", "sub": "-> dir"},
		},
		"PlantedLink": {
			reason:  "A link in the place of a directory is replaced, not followed.",
			earlier: []files{{"main.tf": "m"}},
			present: files{"other/x.tf": "other", "sub": "-> other"},
			tree:    files{"main.tf": "m", "sub/x.tf": "ours"},
			want:    files{"main.tf": "m", "sub/x.tf": "ours", "other/x.tf": "other"},
		},
		"History": {
			reason:  "The history of a repository is replaced as a whole, also where a file refers to it.",
			earlier: []files{{"main.tf": "m", ".git/HEAD": "old", ".git/objects/a": "a", "sub/.git": "gitdir: x"}},
			present: files{".git/index.lock": "left by a crash"},
			tree:    files{"main.tf": "m", ".git/HEAD": "new", "sub/.git/HEAD": "h"},
			want:    files{"main.tf": "m", ".git/HEAD": "new", "sub/.git/HEAD": "h"},
		},
		"NoHistoryAnyMore": {
			reason:  "A history is removed when the next tree has none.",
			earlier: []files{{"main.tf": "m", ".git/HEAD": "old"}},
			tree:    files{"main.tf": "m"},
			want:    files{"main.tf": "m"},
		},
		"OverInputs": {
			reason: "A file of the module replaces an input of the same name, and other inputs stay.",
			inputs: map[string]File{"main.tf": text("inline"), "creds": secret("c")},
			tree:   files{"main.tf": "remote"},
			want:   files{"main.tf": "remote", "creds": "c"},
		},
		"NotUTF8": {
			reason: "A name that cannot be recorded is left out.",
			tree:   files{"main.tf": "m", "caf\xe9.tf": "x", "caf\xe9/y.tf": "y"},
			want:   files{"main.tf": "m"},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			d := newDir(t)
			for i, earlier := range tc.earlier {
				replaceTree(t, d, fmt.Sprint("earlier ", i), earlier)
			}

			syncDir(t, d, tc.inputs)
			filesystem.Write(t, d.Path(), tc.present)

			for _, time := range []string{"first", "second"} {
				replaceTree(t, d, time, tc.tree)

				if diff := cmp.Diff(tc.want, treeContent(t, d)); diff != "" {
					t.Errorf("%s\nafter the %s ReplaceTree: -want, +got:\n%s", tc.reason, time, diff)
				}

				if got := emptyDirs(t, d.Path()); len(got) > 0 {
					t.Errorf("%s\nafter the %s ReplaceTree: there are empty directories: %q", tc.reason, time, got)
				}

				if got := d.TreeRevision(); got != time {
					t.Errorf("%s\nTreeRevision(): want %q, got %q", tc.reason, time, got)
				}
			}
		})
	}
}

func TestReplaceTreeRefuses(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason  string
		present files
		tree    files
		// dir is the tree, relative to the directory. By default it is a new one.
		dir  string
		want string
	}{
		"Empty": {
			reason: "With no files at all the CLI would destroy everything.",
			tree:   files{".terraform/x": "x"},
			want:   "cannot use module: it is empty",
		},
		"StateInTheWay": {
			reason:  "A state is not lost because a directory becomes a file.",
			present: files{"sub/terraform.tfstate.d/ws/terraform.tfstate": "s"},
			tree:    files{"main.tf": "new", "sub": "file"},
			want:    `cannot use module: "sub" is a file in it, but a directory with a state here: move "sub/terraform.tfstate.d" away`,
		},
		"Outside": {
			reason: "Nothing outside is moved.",
			dir:    "../other",
			want:   "cannot list module",
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			d := newDir(t)
			replaceTree(t, d, "old", files{"main.tf": "old", "sub/main.tf": "old"})
			filesystem.Write(t, d.Path(), tc.present)

			src := filepath.Join(d.Path(), tc.dir)
			if tc.dir == "" {
				src = newTree(t, d, tc.tree)
			}

			err := d.ReplaceTree(src, "new")
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s\nReplaceTree(...): want error %q, got %v", tc.reason, tc.want, err)
			}

			if got := d.TreeRevision(); got != "old" {
				t.Errorf("%s\nTreeRevision() afterwards: want %q, got %q", tc.reason, "old", got)
			}
		})
	}
}

// TestTreeLimits ensures that the names of a module do not fill the memory.
func TestTreeLimits(t *testing.T) {
	t.Parallel()

	deep := strings.Repeat(strings.Repeat("d", 250)+"/", 14)

	cases := map[string]struct {
		reason string
		name   func(i int) string
		files  int
	}{
		"Files": {reason: "There are too many.", name: strconv.Itoa, files: maxFiles + 1},
		"Names": {reason: "Their paths are too long.", name: func(i int) string { return deep + strconv.Itoa(i) }, files: maxNames/len(deep) + 1},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			tree := fstest.MapFS{}
			for i := range tc.files {
				tree[tc.name(i)] = &fstest.MapFile{}
			}

			if _, _, err := listTree(tree, "."); err == nil || !strings.Contains(err.Error(), "it has more than 200000 files and directories, or paths of more than 16.0 MiB in all") {
				t.Errorf("%s\nlistTree(...): want an error with the limits, got %v", tc.reason, err)
			}
		})
	}
}

// TestTreeTakesInputs ensures that Sync leaves a file alone that has become part of the module.
// Here the next Sync, in the same reconcile, has one input less.
func TestTreeTakesInputs(t *testing.T) {
	t.Parallel()

	d := newDir(t)
	syncDir(t, d, map[string]File{"main.tf": text("inline"), "sub/creds": secret("c")})
	replaceTree(t, d, "v1", files{"main.tf": "remote", "sub/creds": "example"})
	syncDir(t, d, nil)
	removeSecrets(t, d)

	if diff := cmp.Diff(files{"main.tf": "remote", "sub/creds": "example"}, treeContent(t, d)); diff != "" {
		t.Errorf("after Sync: -want, +got:\n%s", diff)
	}

	if got := d.TreeRevision(); got != "v1" {
		t.Errorf("TreeRevision(): want %q, got %q", "v1", got)
	}
}

func TestRemoveTree(t *testing.T) {
	t.Parallel()

	d := newDir(t)
	if err := d.RemoveTree(); err != nil {
		t.Fatalf("RemoveTree() without a tree: %v", err)
	}

	syncDir(t, d, map[string]File{"vars": text("v")})
	replaceTree(t, d, "v1", files{"main.tf": "m", "sub/x.tf": "x", ".git/HEAD": "h", "a.tf": "-> main.tf"})
	filesystem.Write(t, d.Path(), files{"sub/terraform.tfstate": "s", "kubeconfig": "k", ".crossplane-fetch-x/credentials": "c"})

	for _, time := range []string{"first", "second"} {
		if err := d.RemoveTree(); err != nil {
			t.Fatalf("%s RemoveTree(): %v", time, err)
		}

		want := files{"vars": "v", "sub/terraform.tfstate": "s", "kubeconfig": "k"}
		if diff := cmp.Diff(want, content(t, d.Path())); diff != "" {
			t.Errorf("after the %s RemoveTree: -want, +got:\n%s", time, diff)
		}
	}
}

// emptyDirs returns the empty directories below dir, except temporary ones.
func emptyDirs(t *testing.T, dir string) []string {
	t.Helper()

	var empty []string

	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.IsDir() {
			return err
		}

		if strings.HasPrefix(e.Name(), fetchPrefix) {
			return fs.SkipDir
		}

		if len(filesystem.Names(t, path)) == 0 {
			empty = append(empty, path)
		}

		return nil
	})
	if err != nil {
		t.Fatal(err)
	}

	return empty
}

func TestTempDir(t *testing.T) {
	t.Parallel()

	d := newDir(t)
	replaceTree(t, d, "v1", files{"main.tf": "m"})
	filesystem.Write(t, d.Path(), files{".crossplane-fetch-old/module/x.tf": "left", ".crossplane-other": "kept"})

	dir, err := d.TempDir()
	if err != nil {
		t.Fatal(err)
	}

	write(t, filepath.Join(dir, "credentials"), "c")

	second, err := d.TempDir()
	if err != nil {
		t.Fatal(err)
	}

	if dir == second {
		t.Errorf("TempDir(): %q twice", dir)
	}

	info, err := os.Stat(second)
	if err != nil {
		t.Fatal(err)
	}

	if got := info.Mode().Perm(); got != 0o700 {
		t.Errorf("mode of TempDir(): want 0700, got %o", got)
	}

	if diff := cmp.Diff(files{"main.tf": "m", ".crossplane-other": "kept"}, treeContent(t, d)); diff != "" {
		t.Errorf("TempDir() must remove what earlier ones left, and nothing else: -want, +got:\n%s", diff)
	}
}

func TestTreeRevision(t *testing.T) {
	t.Parallel()

	tree := files{"main.tf": "m", "sub/creds": "of the module"}
	sync := func(f map[string]File) func(*testing.T, *Dir) {
		return func(t *testing.T, d *Dir) {
			t.Helper()
			syncDir(t, d, f)
		}
	}

	cases := map[string]struct {
		reason string
		then   []func(*testing.T, *Dir)
		want   string
	}{
		"Complete": {
			reason: "The recorded tree is returned.",
			want:   "v1",
		},
		"Inputs": {
			reason: "Inputs beside the module do not matter.",
			then:   []func(*testing.T, *Dir){sync(map[string]File{"vars.tfvars": text("v"), "sub/other": secret("s")})},
			want:   "v1",
		},
		"Covered": {
			reason: "It is unknown whether the next Sync will remove the input that replaced a file.",
			then:   []func(*testing.T, *Dir){sync(map[string]File{"sub/creds": secret("s")})},
		},
		"CoveredNoMore": {
			reason: "The Sync that no longer had the input removed the file.",
			then: []func(*testing.T, *Dir){
				sync(map[string]File{"sub/creds": secret("s")}),
				sync(nil),
			},
		},
		"CoveredByRemovedSecret": {
			reason: "The file is missing after the run, too.",
			then: []func(*testing.T, *Dir){
				sync(map[string]File{"sub/creds": secret("s")}),
				removeSecrets,
			},
		},
		"Missing": {
			reason: "A file is missing.",
			then:   []func(*testing.T, *Dir){func(t *testing.T, d *Dir) { t.Helper(); remove(t, filepath.Join(d.Path(), "main.tf")) }},
		},
		"MissingDirectory": {
			reason: "A directory is missing.",
			then:   []func(*testing.T, *Dir){func(t *testing.T, d *Dir) { t.Helper(); remove(t, filepath.Join(d.Path(), "sub")) }},
		},
		"Removed": {
			reason: "After its removal there is no tree.",
			then: []func(*testing.T, *Dir){func(t *testing.T, d *Dir) {
				t.Helper()

				if err := d.RemoveTree(); err != nil {
					t.Fatal(err)
				}
			}},
		},
		"HalfReplaced": {
			reason: "A record without a revision comes from an interrupted replacement.",
			then: []func(*testing.T, *Dir){func(t *testing.T, d *Dir) {
				t.Helper()
				write(t, filepath.Join(d.Records(), manifestName), `{"module":{"files":["main.tf","sub/creds"]}}`)
			}},
		},
		"NoRecord": {
			reason: "An unreadable record does not count.",
			then: []func(*testing.T, *Dir){func(t *testing.T, d *Dir) {
				t.Helper()
				write(t, filepath.Join(d.Records(), manifestName), `{"module":{"revision":"v1"`)
			}},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			d := newDir(t)
			replaceTree(t, d, "v1", tree)

			for _, then := range tc.then {
				then(t, d)
			}

			if got := d.TreeRevision(); got != tc.want {
				t.Errorf("%s\nTreeRevision(): want %q, got %q", tc.reason, tc.want, got)
			}

			want := []string{"main.tf", "sub/creds"}
			if tc.want == "" {
				want = nil
			}

			if diff := cmp.Diff(want, d.TreeFiles()); diff != "" {
				t.Errorf("%s\nTreeFiles(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestTreeRecord ensures that a manipulated record only removes files of a module.
func TestTreeRecord(t *testing.T) {
	t.Parallel()

	for _, name := range []string{"../escape", "/etc/passwd", "a/../../escape", ".", "", "terraform.tfstate", "sub/.terraform/x", ".crossplane-x"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			d := newDir(t)
			present := files{"terraform.tfstate": "s", "sub/.terraform/x": "x"}
			filesystem.Write(t, d.Path(), present)
			write(t, filepath.Join(d.Records(), manifestName), fmt.Sprintf(`{"module":{"revision":"v1","files":[%q]}}`, name))

			if got := d.TreeRevision(); got != "" {
				t.Errorf("TreeRevision(): want none, got %q", got)
			}

			if err := d.RemoveTree(); err == nil {
				t.Errorf("RemoveTree(): want an error")
			}

			if diff := cmp.Diff(present, treeContent(t, d)); diff != "" {
				t.Errorf("afterwards: -want, +got:\n%s", diff)
			}
		})
	}
}
