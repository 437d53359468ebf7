// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workdir

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

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
		reason   string
		present  files
		tree     files
		revision string
		// dir is the tree, relative to the directory. By default it is a new one.
		dir  string
		want string
	}{
		"Empty": {
			reason:   "With no files at all the CLI would destroy everything.",
			tree:     files{".terraform/x": "x"},
			revision: "new",
			want:     "cannot use module: it is empty",
		},
		"NoRevision": {
			reason: "A tree without a revision would not count.",
			tree:   files{"main.tf": "new"},
			want:   "cannot replace module: it has no revision",
		},
		"StateInTheWay": {
			reason:   "A state is not lost because a directory becomes a file.",
			present:  files{"sub/terraform.tfstate.d/ws/terraform.tfstate": "s"},
			tree:     files{"main.tf": "new", "sub": "file"},
			revision: "new",
			want:     `cannot use module: "sub" is a file in it, but a directory with a state here: move "sub/terraform.tfstate.d" away`,
		},
		"NotTemporary": {
			reason:   "Only files in a temporary directory are moved.",
			present:  files{"sub/x.tf": "x"},
			dir:      "sub",
			revision: "new",
			want:     "it is not in a temporary directory of",
		},
		"TemporaryItself": {
			reason:   "The temporary directory itself contains more than the module.",
			present:  files{".crossplane-fetch-x/x.tf": "x"},
			dir:      ".crossplane-fetch-x",
			revision: "new",
			want:     "it is not in a temporary directory of",
		},
		"Outside": {
			reason:   "Nothing outside is moved.",
			dir:      "../other",
			revision: "new",
			want:     "it is not in a temporary directory of",
		},
		"ThroughTemporary": {
			reason:   "Two dots lead out of a temporary directory.",
			dir:      ".crossplane-fetch-x/../../other",
			revision: "new",
			want:     "it is not in a temporary directory of",
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

			err := d.ReplaceTree(src, tc.revision)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s\nReplaceTree(...): want error %q, got %v", tc.reason, tc.want, err)
			}

			if got := d.TreeRevision(); got != "old" {
				t.Errorf("%s\nTreeRevision() afterwards: want %q, got %q", tc.reason, "old", got)
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
