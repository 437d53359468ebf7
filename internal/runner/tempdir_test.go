// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/crossplane-contrib/provider-terraform/internal/environ"
)

// tempUID is of no Workspace of another test: the Workspaces of all tests of this process have their directories beside each other.
const tempUID = "44444444-4444-4444-8444-444444444444"

// TestTempDir ensures that runs have a directory for temporary files that does not outlive them, and that a fetch, whose result is for
// all Workspaces, does not depend on it.
func TestTempDir(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		change []func(*subject)
		own    bool
	}{
		"Ours": {reason: "What is left there is removed, also from directories that are read-only."},
		"Own":  {reason: "The Workspace has another one.", change: []func(*subject){environment("TMPDIR", "/elsewhere")}, own: true},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			p := newPlace(t)
			p.answerPlanned(t)

			r := p.stubbed(t, tempUID, tc.change...)

			want, _ := tempDir(r.Dir)

			// A process that was killed leaves it.
			if !tc.own {
				if err := os.Mkdir(want, 0o700); err != nil {
					t.Fatal(err)
				}
			}

			if err := callPlan(t.Context(), r); err != nil {
				t.Fatal(err)
			}

			dir, _ := environ.Lookup(r.run.Env, "TMPDIR")
			if (dir == want) == tc.own {
				t.Fatalf("%s: got %q, ours is %q", tc.reason, dir, want)
			}

			if fetched, _ := environ.Lookup(r.env(r.Dir.Path()), "TMPDIR"); fetched == dir && !tc.own {
				t.Errorf("a fetch gets the directory of one Workspace, %q", fetched)
			}

			if tc.own {
				return
			}

			expectRemovedAtEnd(t, r, dir)
		})
	}
}

// expectRemovedAtEnd expects that nothing is left of a directory for one user when the run has ended.
func expectRemovedAtEnd(t *testing.T, r *Runner, dir string) {
	t.Helper()

	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("want a directory for one user, got %v, %v", info, err)
	}

	deep := filepath.Join(dir, "a")
	if err := os.Mkdir(deep, 0o700); err != nil {
		t.Fatal(err)
	}

	if err := os.WriteFile(filepath.Join(deep, "b"), nil, 0o600); err != nil {
		t.Fatal(err)
	}

	if err := os.Chmod(deep, 0o500); err != nil {
		t.Fatal(err)
	}

	if err := r.Close(); err != nil {
		t.Fatal(err)
	}

	if _, err := os.Lstat(dir); !os.IsNotExist(err) {
		t.Errorf("want the directory to be removed, got %v", err)
	}
}

// TestLongTempDir ensures that runs share a directory whose path leaves no room for sockets.
func TestLongTempDir(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir()) // It is long, with the name of the test.

	p := newPlace(t)
	p.answerPlanned(t)

	r := p.stubbed(t, firstUID)
	if err := callPlan(t.Context(), r); err != nil {
		t.Fatal(err)
	}

	if dir, ok := environ.Lookup(r.run.Env, "TMPDIR"); ok {
		t.Errorf("want none, got %q", dir)
	}
}
