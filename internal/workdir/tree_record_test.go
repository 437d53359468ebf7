// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workdir

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-terraform/test/filesystem"
)

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
				write(t, filepath.Join(d.Path(), manifestName), `{"module":{"files":["main.tf","sub/creds"]}}`)
			}},
		},
		"NoRecord": {
			reason: "An unreadable record does not count.",
			then: []func(*testing.T, *Dir){func(t *testing.T, d *Dir) {
				t.Helper()
				write(t, filepath.Join(d.Path(), manifestName), `{"module":{"revision":"v1"`)
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

	for _, name := range []string{"../escape", "/etc/passwd", "a/../../escape", ".", "", "terraform.tfstate", "sub/.terraform/x", manifestName} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			d := newDir(t)
			present := files{"terraform.tfstate": "s", "sub/.terraform/x": "x"}
			filesystem.Write(t, d.Path(), present)
			write(t, filepath.Join(d.Path(), manifestName), fmt.Sprintf(`{"module":{"revision":"v1","files":[%q]}}`, name))

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
