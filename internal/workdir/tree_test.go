// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workdir

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestReplaceTree(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		// earlier are the trees of earlier calls. After them there is a Sync of inputs,
		// and present is what somebody else wrote.
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
			reason:  "What was deleted upstream disappears, directories as well.",
			earlier: []files{{"main.tf": "m", "old.tf": "o", "old/deep/x.tf": "x", "both/a.tf": "a", "both/b.tf": "b"}},
			tree:    files{"main.tf": "m", "both/b.tf": "b"},
			want:    files{"main.tf": "m", "both/b.tf": "b"},
		},
		"RemembersOnlyTheLast": {
			reason:  "No file of any tree before stays.",
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
			reason:  "A module brings no state and nothing that the CLI or the provider keeps for itself.",
			present: files{"terraform.tfstate": "mine"},
			tree: files{
				"main.tf": "m", "terraform.tfstate": "theirs", "terraform.tfstate.d/ws/terraform.tfstate": "t", "sub/errored.tfstate": "e", "sub/main.tf": "s",
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
			reason:  "What a resource wrote stays, unless it is in the way.",
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
			reason:  "A directory becomes a file, and what the CLI can install again goes with it.",
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
			reason:  "A directory that somebody replaced by a link is put right, not followed.",
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
			reason:  "A history goes when the next tree has none.",
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
			if err := d.Sync(tc.inputs); err != nil {
				t.Fatal(err)
			}
			writeFiles(t, d.Path(), tc.present)

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
		// dir is the tree, relative to the directory, instead of a new one.
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
			reason: "A tree without a revision would count as none.",
			tree:   files{"main.tf": "new"},
			want:   "cannot replace module: it has no revision",
		},
		"StateInTheWay": {
			reason:   "A state is not lost because a directory became a file.",
			present:  files{"sub/terraform.tfstate.d/ws/terraform.tfstate": "s"},
			tree:     files{"main.tf": "new", "sub": "file"},
			revision: "new",
			want:     `cannot use module: "sub" is a file in it, but a directory with a state here: move "sub/terraform.tfstate.d" away`,
		},
		"NotTemporary": {
			reason:   "Only what is in a temporary directory is moved.",
			present:  files{"sub/x.tf": "x"},
			dir:      "sub",
			revision: "new",
			want:     "it is not in a temporary directory of",
		},
		"TemporaryItself": {
			reason:   "The temporary directory itself holds more than the module.",
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
			writeFiles(t, d.Path(), tc.present)
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

func TestTreeRevision(t *testing.T) {
	t.Parallel()

	tree := files{"main.tf": "m", "sub/creds": "of the module"}
	sync := func(f map[string]File) func(*testing.T, *Dir) {
		return func(t *testing.T, d *Dir) {
			t.Helper()
			if err := d.Sync(f); err != nil {
				t.Fatal(err)
			}
		}
	}

	cases := map[string]struct {
		reason string
		then   []func(*testing.T, *Dir)
		want   string
	}{
		"Complete": {
			reason: "What was recorded is returned.",
			want:   "v1",
		},
		"Inputs": {
			reason: "Inputs beside the module change nothing.",
			then:   []func(*testing.T, *Dir){sync(map[string]File{"vars.tfvars": text("v"), "sub/other": secret("s")})},
			want:   "v1",
		},
		"Covered": {
			reason: "Nobody knows whether the next Sync will remove what covers a file.",
			then:   []func(*testing.T, *Dir){sync(map[string]File{"sub/creds": secret("s")})},
		},
		"CoveredNoMore": {
			reason: "The file was removed by the Sync that no longer wanted it.",
			then: []func(*testing.T, *Dir){
				sync(map[string]File{"sub/creds": secret("s")}),
				sync(nil),
			},
		},
		"CoveredByRemovedSecret": {
			reason: "Neither is the file there when the run is over.",
			then: []func(*testing.T, *Dir){
				sync(map[string]File{"sub/creds": secret("s")}),
				func(t *testing.T, d *Dir) {
					t.Helper()
					if err := d.RemoveSecrets(); err != nil {
						t.Fatal(err)
					}
				},
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
			reason: "There is no tree after it was removed.",
			then: []func(*testing.T, *Dir){func(t *testing.T, d *Dir) {
				t.Helper()
				if err := d.RemoveTree(); err != nil {
					t.Fatal(err)
				}
			}},
		},
		"HalfReplaced": {
			reason: "A record without a revision is that of a replacement that was interrupted.",
			then: []func(*testing.T, *Dir){func(t *testing.T, d *Dir) {
				t.Helper()
				write(t, filepath.Join(d.Path(), treeName), `{"files":["main.tf","sub/creds"]}`)
			}},
		},
		"NoRecord": {
			reason: "What cannot be read is no record.",
			then: []func(*testing.T, *Dir){func(t *testing.T, d *Dir) {
				t.Helper()
				write(t, filepath.Join(d.Path(), treeName), `{"revision":"v1"`)
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

// TestTreeTakesInputs ensures that Sync leaves alone what has become a file of the
// module: here it is the next Sync, in the same reconcile, that has one input less.
func TestTreeTakesInputs(t *testing.T) {
	t.Parallel()

	d := newDir(t)
	if err := d.Sync(map[string]File{"main.tf": text("inline"), "sub/creds": secret("c")}); err != nil {
		t.Fatal(err)
	}
	replaceTree(t, d, "v1", files{"main.tf": "remote", "sub/creds": "example"})
	if err := d.Sync(nil); err != nil {
		t.Fatal(err)
	}
	if err := d.RemoveSecrets(); err != nil {
		t.Fatal(err)
	}
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
	if err := d.Sync(map[string]File{"vars": text("v")}); err != nil {
		t.Fatal(err)
	}
	replaceTree(t, d, "v1", files{"main.tf": "m", "sub/x.tf": "x", ".git/HEAD": "h", "a.tf": "-> main.tf"})
	writeFiles(t, d.Path(), files{"sub/terraform.tfstate": "s", "kubeconfig": "k", ".crossplane-fetch-x/credentials": "c"})

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

func TestTempDir(t *testing.T) {
	t.Parallel()

	d := newDir(t)
	replaceTree(t, d, "v1", files{"main.tf": "m"})
	writeFiles(t, d.Path(), files{".crossplane-fetch-old/module/x.tf": "left", ".crossplane-other": "kept"})

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

// TestTreeRecord ensures that a record that somebody tampered with makes nothing
// disappear that is not a file of a module.
func TestTreeRecord(t *testing.T) {
	t.Parallel()

	for _, name := range []string{"../escape", "/etc/passwd", "a/../../escape", ".", "", "terraform.tfstate", "sub/.terraform/x", manifestName} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			d := newDir(t)
			present := files{"terraform.tfstate": "s", "sub/.terraform/x": "x"}
			writeFiles(t, d.Path(), present)
			write(t, filepath.Join(d.Path(), treeName), fmt.Sprintf(`{"revision":"v1","files":[%q]}`, name))

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

// crashVariable has the path of the root in which TestReplaceTreeCrash replaces
// trees until it is killed.
const crashVariable = "WORKDIR_TEST_CRASH"

// TestReplaceTreeCrash kills a process that replaces one tree by another, over and
// over, while a replacement is under way.
func TestReplaceTreeCrash(t *testing.T) {
	trees := map[string]files{"a": {}, "b": {}}
	for i := range 300 {
		trees["a"][fmt.Sprintf("both/%d.tf", i)] = "a"
		trees["b"][fmt.Sprintf("both/%d.tf", i)] = "b"
		trees["a"][fmt.Sprintf("only-a-%d/x.tf", i)] = "a"
		trees["b"][fmt.Sprintf("only-b-%d/x.tf", i)] = "b"
	}

	if path := os.Getenv(crashVariable); path != "" {
		r, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		d, err := r.Dir(uidA)
		if err != nil {
			t.Fatal(err)
		}
		for {
			replaceTree(t, d, "a", trees["a"])
			replaceTree(t, d, "b", trees["b"])
		}
	}

	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	d := newDir(t)
	for range 5 {
		child := exec.CommandContext(t.Context(), self, "-test.run=^TestReplaceTreeCrash$")
		child.Env = append(os.Environ(), crashVariable+"="+filepath.Dir(d.Path()))
		child.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		output := &bytes.Buffer{}
		child.Stdout = output
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		// The file is never there by half: it is replaced by a rename.
		deadline := time.Now().Add(30 * time.Second)
		for !bytes.HasPrefix(record(d), []byte(`{"files"`)) {
			if time.Now().After(deadline) {
				t.Fatalf("the child does not replace anything: %s", output)
			}
		}
		_ = child.Process.Kill()
		_ = child.Wait()

		if got := d.TreeRevision(); got != "" {
			if diff := cmp.Diff(trees[got], treeContent(t, d)); diff != "" {
				t.Fatalf("the tree counts as complete: -want, +got:\n%s", diff)
			}
		}
		replaceTree(t, d, "a", trees["a"])
		if diff := cmp.Diff(trees["a"], treeContent(t, d)); diff != "" {
			t.Fatalf("after the next ReplaceTree: -want, +got:\n%s", diff)
		}
	}
}

// record returns the record of the tree as it is on disk.
func record(d *Dir) []byte {
	data, _ := os.ReadFile(filepath.Join(d.Path(), treeName))
	return data
}

// replaceTree makes the files the tree of d.
func replaceTree(t *testing.T, d *Dir, revision string, f files) {
	t.Helper()
	if err := d.ReplaceTree(newTree(t, d, f), revision); err != nil {
		t.Fatalf("ReplaceTree(..., %q): %v", revision, err)
	}
}

// newTree returns a directory with the files in a temporary one of d.
func newTree(t *testing.T, d *Dir, f files) string {
	t.Helper()
	dir, err := d.TempDir()
	if err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(dir, "module")
	mkdir(t, dir, 0o700)
	writeFiles(t, dir, f)
	return dir
}

// writeFiles writes files below dir. Content that begins with an arrow is the target
// of a symbolic link.
func writeFiles(t *testing.T, dir string, f files) {
	t.Helper()
	for name, content := range f {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if target, ok := strings.CutPrefix(content, "-> "); ok {
			symlink(t, target, path)
			continue
		}
		write(t, path, content)
	}
}

// treeContent of d, without its record and its temporary directories.
func treeContent(t *testing.T, d *Dir) files {
	t.Helper()
	got := content(t, d.Path())
	for name := range got {
		if name == treeName || strings.HasPrefix(name, fetchPrefix) {
			delete(got, name)
		}
	}
	return got
}

// emptyDirs returns the directories below dir with nothing in them, but for those
// that are temporary.
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
		if len(names(t, path)) == 0 {
			empty = append(empty, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return empty
}
