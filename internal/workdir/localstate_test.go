// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workdir

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-terraform/test/filesystem"
)

// TestLocalStateInModule ensures that no later module replaces or removes the state at the path of a local backend, which people commit.
func TestLocalStateInModule(t *testing.T) {
	t.Parallel()

	const record = `{"version": 3, "backend": {"type": "local", "config": {"path": "states/team.state"}}}`

	d := newDir(t)
	replaceTree(t, d, "v1", files{"env/main.tf": "1", "env/states/team.state": "committed", "env/other.state": "1"})

	// It is used as it was committed, and changes.
	filesystem.Write(t, d.Path(), files{"env/.terraform/terraform.tfstate": record, "env/states/team.state": "applied"})

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

		tc.want["env/.terraform/terraform.tfstate"] = record
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

// TestLocalStateWithoutModule ensures that such a state stays if the module comes from elsewhere.
func TestLocalStateWithoutModule(t *testing.T) {
	t.Parallel()

	const record = `{"version": 3, "backend": {"type": "local", "config": {"path": "team.state"}}}`

	d := newDir(t)
	replaceTree(t, d, "v1", files{"main.tf": "1", "team.state": "committed"})
	filesystem.Write(t, d.Path(), files{".terraform/terraform.tfstate": record, "team.state": "applied"})

	if err := d.RemoveTree(); err != nil {
		t.Fatal(err)
	}

	if diff := cmp.Diff(files{".terraform/terraform.tfstate": record, "team.state": "applied"}, treeContent(t, d)); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}
