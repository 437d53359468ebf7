// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workdir

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-terraform/test/filesystem"
)

// TestLocalStateInModule ensures that no later module replaces or removes the state at the path of a local backend, which people commit.
func TestLocalStateInModule(t *testing.T) {
	t.Parallel()

	d := newDir(t)
	replaceTree(t, d, "v1", files{"env/main.tf": "1", "env/states/team.state": "committed", "env/other.state": "1"})

	// It is used as it was committed, and changes.
	initLocal(t, d, "env", "states/team.state")
	filesystem.Write(t, d.Path(), files{"env/states/team.state": "applied"})

	// An init that fails leaves no record.
	if err := os.RemoveAll(filepath.Join(d.Path(), "env/.terraform")); err != nil {
		t.Fatal(err)
	}

	if err := d.ClearInitialized(); err != nil {
		t.Fatal(err)
	}

	trees := []struct {
		reason     string
		tree, want files
	}{
		{"The commit is old.", files{"env/main.tf": "2", "env/states/team.state": "committed", "env/other.state": "2"}, files{"env/main.tf": "2", "env/states/team.state": "applied", "env/other.state": "2"}},
		{"It is not committed any more.", files{"env/main.tf": "3"}, files{"env/main.tf": "3", "env/states/team.state": "applied"}},
		{"It is committed again, and the backend is elsewhere.", files{"env/states/team.state": "again", "main.tf": "4"}, files{"env/states/team.state": "applied", "main.tf": "4"}},
	}
	for _, tc := range trees {
		replaceTree(t, d, "v", tc.tree)

		if diff := cmp.Diff(tc.want, treeContent(t, d)); diff != "" {
			t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
		}
	}

	for want, tree := range map[string]files{
		`"env/states/team.state" is a directory in it, but the state of its local backend here`:              {"env/states/team.state/main.tf": "5"},
		`"env/states" is a file in it, but a directory with a state here: move "env/states/team.state" away`: {"env/states": "6"},
	} {
		if err := d.ReplaceTree(newTree(t, d, tree), "v"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ReplaceTree(...): want %q, got %v", want, err)
		}
	}
}

// TestLocalStatePaths has the ways to name a state, which a module of the same name must not replace.
func TestLocalStatePaths(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		path   func(d *Dir) string

		// states have to stay.
		states []string
	}{
		"Absolute": {reason: "It may be absolute.", path: func(d *Dir) string { return d.Path() + "/team.state" }, states: []string{"team.state"}},
		"Out":      {reason: "It may lead out and in again.", path: func(d *Dir) string { return "../" + filepath.Base(d.Path()) + "/team.state" }, states: []string{"team.state"}},
		"OverLink": {reason: "The root may be a link.", path: func(d *Dir) string {
			return linkTo(t, filepath.Dir(d.Path())) + "/" + filepath.Base(d.Path()) + "/team.state"
		}, states: []string{"team.state"}},
		"Link":      {reason: "The link stays, and its target.", path: func(*Dir) string { return "link.state" }, states: []string{"link.state", "real.state"}},
		"Directory": {reason: "A directory may be a link.", path: func(*Dir) string { return "linked/team.state" }, states: []string{"dir/team.state"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			d := newDir(t)
			filesystem.Write(t, d.Path(), files{"team.state": "applied", "real.state": "applied", "dir/team.state": "applied"})

			tree := files{"main.tf": "1", "team.state": "committed", "real.state": "committed", "dir/team.state": "committed"}

			for link, target := range map[string]string{"link.state": "real.state", "linked": "dir"} {
				if err := os.Symlink(target, filepath.Join(d.Path(), link)); err != nil {
					t.Fatal(err)
				}
			}

			initLocal(t, d, ".", tc.path(d))

			src := newTree(t, d, tree)
			if err := os.Symlink("dir", filepath.Join(src, "linked")); err != nil {
				t.Fatal(err)
			}

			if err := d.ReplaceTree(src, "v"); err != nil {
				t.Fatal(err)
			}

			for _, state := range tc.states {
				if got, err := os.ReadFile(filepath.Join(d.Path(), state)); err != nil || string(got) != "applied" {
					t.Errorf("%s\n%s: got %q, %v", tc.reason, state, got, err)
				}
			}
		})
	}
}

// TestLocalStateOfEarlierVersion ensures that a state that is not in the record of the directory stays, too: of an earlier version, or
// of another provider, which has no record.
func TestLocalStateOfEarlierVersion(t *testing.T) {
	t.Parallel()

	for name, leave := range map[string]func(t *testing.T, d *Dir){
		"Earlier": func(t *testing.T, d *Dir) {
			t.Helper()
			replaceTree(t, d, "v1", files{"env/main.tf": "1", "env/team.state": "committed"})
		},
		"Other": func(*testing.T, *Dir) {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			d := newDir(t)
			leave(t, d)
			filesystem.Write(t, d.Path(), files{
				"env/.terraform/terraform.tfstate": `{"version": 3, "backend": {"type": "local", "config": {"path": "team.state"}}}`,
				"env/team.state":                   "applied",
			})
			replaceTree(t, d, "v2", files{"env/main.tf": "2", "env/team.state": "committed"})

			if got, err := os.ReadFile(filepath.Join(d.Path(), "env/team.state")); err != nil || string(got) != "applied" {
				t.Errorf("want the state to stay, got %q, %v", got, err)
			}
		})
	}
}

// TestLocalStateWithoutModule ensures that such a state stays if the module comes from elsewhere.
func TestLocalStateWithoutModule(t *testing.T) {
	t.Parallel()

	d := newDir(t)
	replaceTree(t, d, "v1", files{"main.tf": "1", "team.state": "committed"})
	initLocal(t, d, ".", "team.state")
	filesystem.Write(t, d.Path(), files{"team.state": "applied"})

	if err := d.RemoveTree(); err != nil {
		t.Fatal(err)
	}

	if got, err := os.ReadFile(filepath.Join(d.Path(), "team.state")); err != nil || string(got) != "applied" {
		t.Errorf("want the state to stay, got %q, %v", got, err)
	}
}

// initLocal does what init does with a local backend.
func initLocal(t *testing.T, d *Dir, entrypoint, path string) {
	t.Helper()

	filesystem.Write(t, d.Path(), files{entrypoint + "/.terraform/terraform.tfstate": `{"version": 3, "backend": {"type": "local", "config": {"path": "` + path + `"}}}`})

	if err := d.MarkInitialized(entrypoint, "digest"); err != nil {
		t.Fatal(err)
	}
}

// linkTo returns a link to a directory.
func linkTo(t *testing.T, dir string) string {
	t.Helper()

	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}

	return link
}
