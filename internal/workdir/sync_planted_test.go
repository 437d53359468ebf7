// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workdir

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestSyncPlanted ensures that files that a module puts in the place of an input do not make Sync
// write, remove or compare anything elsewhere.
func TestSyncPlanted(t *testing.T) {
	t.Parallel()

	type want struct {
		Err     error
		Files   files
		Outside files
	}

	cases := map[string]struct {
		reason string
		// plant is called after {"main.tf": "a", "sub/creds": "s"} was written. outside has a file
		// "main.tf" and a file "creds".
		plant func(t *testing.T, dir, outside string)
		sync  map[string]File
		want  want
	}{
		"FileOutside": {
			reason: "A link to a file outside is replaced, its target stays.",
			plant:  linkMain,
			sync:   map[string]File{"main.tf": text("b")},
			want:   want{Files: files{"main.tf": "b"}},
		},
		"FileOutsideSameContent": {
			reason: "A link to a file of the right content is replaced by a file.",
			plant:  linkMain,
			sync:   map[string]File{"main.tf": text("outside")},
			want:   want{Files: files{"main.tf": "outside"}},
		},
		"RemovedFileOutside": {
			reason: "A link in the place of a file that is no longer given is removed, and its target stays.",
			plant:  linkMain,
			sync:   map[string]File{},
			want:   want{Files: files{}},
		},
		"DirectoryOutside": {
			reason: "No secret is written through a link to a directory outside.",
			plant:  linkSub,
			sync:   map[string]File{"main.tf": text("a"), "sub/creds": secret("s")},
			want:   want{Err: cmpopts.AnyError, Files: files{"main.tf": "a", "sub": "-> outside"}},
		},
		"DirectoryInside": {
			reason: "No secret is written through a link to another place of the directory.",
			plant: func(t *testing.T, dir, _ string) {
				t.Helper()
				remove(t, filepath.Join(dir, "sub"))
				mkdir(t, filepath.Join(dir, "elsewhere"), 0o700)
				symlink(t, "elsewhere", filepath.Join(dir, "sub"))
			},
			sync: map[string]File{"main.tf": text("a"), "sub/creds": secret("s")},
			want: want{Err: cmpopts.AnyError, Files: files{"main.tf": "a", "sub": "-> elsewhere"}},
		},
		"RemovedDirectoryOutside": {
			reason: "Nothing is removed through a link to a directory outside.",
			plant:  linkSub,
			sync:   map[string]File{"main.tf": text("a")},
			want:   want{Files: files{"main.tf": "a", "sub": "-> outside"}},
		},
		"FileInPlaceOfDirectory": {
			reason: "A file in the place of a directory is reported.",
			plant: func(t *testing.T, dir, _ string) {
				t.Helper()
				remove(t, filepath.Join(dir, "sub"))
				write(t, filepath.Join(dir, "sub"), "file")
			},
			sync: map[string]File{"main.tf": text("a"), "sub/creds": secret("s")},
			want: want{Err: cmpopts.AnyError, Files: files{"main.tf": "a", "sub": "file"}},
		},
		"DirectoryInPlaceOfFile": {
			reason: "A directory in the place of a file is reported.",
			plant: func(t *testing.T, dir, _ string) {
				t.Helper()
				remove(t, filepath.Join(dir, "main.tf"))
				write(t, filepath.Join(dir, "main.tf", "file"), "x")
			},
			sync: map[string]File{"main.tf": text("a"), "sub/creds": secret("s")},
			want: want{Err: cmpopts.AnyError, Files: files{"main.tf/file": "x", "sub/creds": "s"}},
		},
		"TemporaryOutside": {
			reason: "A link under the name that is used for writing is not written through.",
			plant: func(t *testing.T, dir, outside string) {
				t.Helper()
				symlink(t, filepath.Join(outside, "main.tf"), filepath.Join(dir, tempName))
			},
			sync: map[string]File{"main.tf": text("b")},
			want: want{Files: files{"main.tf": "b"}},
		},
		"ManifestLeadsOut": {
			reason: "A list that names files outside is refused.",
			plant: func(t *testing.T, dir, _ string) {
				t.Helper()
				write(t, recordOf(dir, manifestName), `{"inputs": {"../outside/main.tf":{},"main.tf":{}}}`)
			},
			sync: map[string]File{"main.tf": text("b")},
			want: want{Err: cmpopts.AnyError, Files: files{"main.tf": "a", "sub/creds": "s"}},
		},
		"ManifestOfState": {
			reason: "A name in the list may be one that is refused now.",
			plant: func(t *testing.T, dir, _ string) {
				t.Helper()
				write(t, recordOf(dir, manifestName), `{"inputs": {"terraform.tfstate":{"secret":true},"main.tf":{},"sub/creds":{"secret":true}}}`)
			},
			sync: map[string]File{"main.tf": text("b")},
			want: want{Files: files{"main.tf": "b"}},
		},
		"ManifestBroken": {
			reason: "Without the list, Sync cannot know which files to remove: it fails instead of keeping them.",
			plant: func(t *testing.T, dir, _ string) {
				t.Helper()
				write(t, recordOf(dir, manifestName), `{`)
			},
			sync: map[string]File{"main.tf": text("b")},
			want: want{Err: cmpopts.AnyError, Files: files{"main.tf": "a", "sub/creds": "s"}},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			d := newDir(t)
			outside := filepath.Join(filepath.Dir(d.Path()), "outside")
			write(t, filepath.Join(outside, "main.tf"), "outside")
			write(t, filepath.Join(outside, "creds"), "outside")
			syncDir(t, d, map[string]File{"main.tf": text("a"), "sub/creds": secret("s")})
			tc.plant(t, d.Path(), outside)

			got := want{Err: d.Sync(tc.sync), Files: content(t, d.Path()), Outside: content(t, outside)}

			tc.want.Outside = files{"main.tf": "outside", "creds": "outside"}
			if diff := cmp.Diff(tc.want, got, cmpopts.EquateErrors()); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// linkMain puts a link to a file outside in the place of a file.
func linkMain(t *testing.T, dir, outside string) {
	t.Helper()
	remove(t, filepath.Join(dir, "main.tf"))
	symlink(t, filepath.Join(outside, "main.tf"), filepath.Join(dir, "main.tf"))
}

// linkSub puts a link to the directory outside in the place of a directory.
func linkSub(t *testing.T, dir, outside string) {
	t.Helper()
	remove(t, filepath.Join(dir, "sub"))
	symlink(t, outside, filepath.Join(dir, "sub"))
}

// TestSyncPlantedDirectory puts a link in the place of the whole directory.
func TestSyncPlantedDirectory(t *testing.T) {
	t.Parallel()

	r := openRoot(t)
	other := filepath.Join(r.Path(), uidB)
	write(t, filepath.Join(other, "main.tf"), "theirs")
	d := dirOf(t, r, uidA)
	remove(t, d.Path())
	symlink(t, uidB, d.Path())

	if err := d.Sync(map[string]File{"main.tf": text("mine")}); err == nil {
		t.Error("Sync followed a link to the directory of another Workspace")
	}

	if err := d.RemoveSecrets(); err != nil {
		t.Errorf("RemoveSecrets(): there are no secrets in a directory that is gone: %v", err)
	}

	if _, err := r.Dir(uidA); err == nil {
		t.Error("Dir followed a link to the directory of another Workspace")
	}

	if gone, err := r.Remove(uidA); gone || err == nil {
		t.Errorf("Remove followed a link to the directory of another Workspace: %t, error %v", gone, err)
	}

	if diff := cmp.Diff(files{"main.tf": "theirs"}, content(t, other)); diff != "" {
		t.Errorf("the other directory: -want, +got:\n%s", diff)
	}
}
