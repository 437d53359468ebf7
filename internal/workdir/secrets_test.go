// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workdir

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-terraform/test/filesystem"
)

func TestRemoveSecrets(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason  string
		sync    []map[string]File
		present files
		want    files
	}{
		"Nothing": {
			reason: "An empty directory has no secrets.",
			want:   files{},
		},
		"Secrets": {
			reason: "Secrets are removed at any depth, and other files stay.",
			sync:   []map[string]File{{"main.tf": text("a"), "creds": secret("s"), "sub/creds": secret("s")}},
			want:   files{"main.tf": "a"},
		},
		"NoLongerSecret": {
			reason: "The last Sync decides which files are secret.",
			sync:   []map[string]File{{"a": secret("s"), "b": text("t")}, {"a": text("s"), "b": secret("t")}},
			want:   files{"a": "s"},
		},
		"Changed": {
			reason:  "A secret file that the module has changed is still secret.",
			sync:    []map[string]File{{"creds": secret("s")}},
			present: files{"creds": "refreshed token"},
			want:    files{},
		},
		"Interrupted": {
			reason:  "The file that an interrupted Sync was writing may be secret. A killed fetch leaves its credentials.",
			sync:    []map[string]File{{"main.tf": text("a")}},
			present: files{tempName: "half a secr", ".crossplane-fetch-x/credentials": "s"},
			want:    files{"main.tf": "a"},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			d := newDir(t)
			for _, set := range tc.sync {
				syncDir(t, d, set)
			}

			filesystem.Write(t, d.Path(), tc.present)

			for _, time := range []string{"first", "second"} {
				if err := d.RemoveSecrets(); err != nil {
					t.Fatalf("%s\n%s RemoveSecrets: %v", tc.reason, time, err)
				}

				if diff := cmp.Diff(tc.want, content(t, d.Path())); diff != "" {
					t.Errorf("%s\nafter the %s RemoveSecrets: -want, +got:\n%s", tc.reason, time, diff)
				}
			}
		})
	}
}

// TestRemoveSecretsWithoutDirectory ensures that a missing directory is no error: the garbage
// collector may have been faster.
func TestRemoveSecretsWithoutDirectory(t *testing.T) {
	t.Parallel()

	d := newDir(t)
	if err := os.Remove(d.Path()); err != nil {
		t.Fatal(err)
	}

	if err := d.RemoveSecrets(); err != nil {
		t.Errorf("there are no secrets in a directory that is gone: %v", err)
	}
}
