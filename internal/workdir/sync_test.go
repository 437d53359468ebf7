// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workdir

import (
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/crossplane-contrib/provider-terraform/test/filesystem"
)

func TestSync(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		// earlier are the sets of earlier calls. present are files that another program wrote after
		// them.
		earlier []map[string]File
		present files
		sync    map[string]File
		want    files
	}{
		"Nested": {
			reason: "Directories are made as needed.",
			sync:   map[string]File{"envs/prod/main.tf": text("a"), "envs/prod/creds": secret("s")},
			want:   files{"envs/prod/main.tf": "a", "envs/prod/creds": "s"},
		},
		"SameLength": {
			reason:  "New content of the same length is noticed.",
			earlier: []map[string]File{{"main.tf": text("a")}},
			sync:    map[string]File{"main.tf": text("b")},
			want:    files{"main.tf": "b"},
		},
		"Empty": {
			reason: "A file may be empty.",
			sync:   map[string]File{"empty": text("")},
			want:   files{"empty": ""},
		},
		"RemovedCredentials": {
			reason:  "A credential that was removed from the ProviderConfig is removed.",
			earlier: []map[string]File{{"main.tf": text("a"), "sub/creds": secret("s")}},
			sync:    map[string]File{"main.tf": text("a")},
			want:    files{"main.tf": "a"},
		},
		"Nothing": {
			reason:  "Everything that was written can be removed.",
			earlier: []map[string]File{{"main.tf": text("a"), "sub/creds": secret("s")}},
			sync:    nil,
			want:    files{},
		},
		"RemembersAll": {
			reason:  "Only the files of the last Sync stay.",
			earlier: []map[string]File{{"a": text("1")}, {"b": text("2")}, {"c": text("3")}},
			sync:    map[string]File{"d": text("4")},
			want:    files{"d": "4"},
		},
		"ForgetsRemoved": {
			reason:  "A file that another writer has under a formerly given name stays.",
			earlier: []map[string]File{{"main.tf": text("a")}, {"other.tf": text("b")}},
			present: files{"main.tf": "theirs"},
			sync:    map[string]File{"other.tf": text("b")},
			want:    files{"main.tf": "theirs", "other.tf": "b"},
		},
		"AlreadyGone": {
			reason:  "A file that is no longer given may be missing already.",
			earlier: []map[string]File{{"main.tf": text("a"), "old": text("o")}},
			present: files{"old": ""},
			sync:    map[string]File{"main.tf": text("a")},
			want:    files{"main.tf": "a"},
		},
		"Foreign": {
			reason:  "Files of the CLI and the module stay.",
			earlier: []map[string]File{{"main.tf": text("a")}},
			present: files{".terraform.lock.hcl": "lock", ".terraform/modules/modules.json": "{}"},
			sync:    map[string]File{"main.tf.json": text("{}")},
			want:    files{"main.tf.json": "{}", ".terraform.lock.hcl": "lock", ".terraform/modules/modules.json": "{}"},
		},
		"Overwritten": {
			reason:  "Other changes to a given file are reverted.",
			earlier: []map[string]File{{"main.tf": text("a")}},
			present: files{"main.tf": "b"},
			sync:    map[string]File{"main.tf": text("a")},
			want:    files{"main.tf": "a"},
		},
		"HiddenDots": {
			reason: "Two dots are only a way out when they are the whole name.",
			sync:   map[string]File{"..a": text("a"), "b..": text("b"), "...": text("c")},
			want:   files{"..a": "a", "b..": "b", "...": "c"},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			d := newDir(t)
			for _, earlier := range tc.earlier {
				syncDir(t, d, earlier)
			}

			filesystem.Write(t, d.Path(), tc.present)

			for _, time := range []string{"first", "second"} {
				if err := d.Sync(tc.sync); err != nil {
					t.Fatalf("%s\n%s Sync: %v", tc.reason, time, err)
				}

				if diff := cmp.Diff(tc.want, content(t, d.Path())); diff != "" {
					t.Errorf("%s\nafter the %s Sync: -want, +got:\n%s", tc.reason, time, diff)
				}
			}
		})
	}
}

func TestSyncRefuses(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		name   string
	}{
		"Empty":          {reason: "An empty name names no file.", name: ""},
		"Parent":         {reason: "The parent is outside.", name: ".."},
		"Outside":        {reason: "A file of the parent is outside.", name: "../escape"},
		"Absolute":       {reason: "An absolute path is outside.", name: "/tmp/escape"},
		"NotClean":       {reason: "A file must have one name: under two names, it would be both written and removed.", name: "a/../b"},
		"DoubleSlash":    {reason: "A file must have one name.", name: "a//b"},
		"NotUTF8":        {reason: "A name that cannot be recorded could not be removed.", name: "\xb2"},
		"Temporary":      {reason: "The temporary file of Sync is not an input.", name: tempName},
		"ReservedFuture": {reason: "Names with this prefix belong to the provider, too.", name: ".crossplane.tfplan"},
		"ReservedBelow":  {reason: "A reserved name is not allowed in a subdirectory either.", name: "sub/" + tempName},
		"ReservedAbove":  {reason: "A reserved name is not allowed for a directory either.", name: ".crossplane-fetch/a"},
		"State":          {reason: "A file over the state, which is removed after the run, would be the end of the state.", name: "terraform.tfstate"},
		"UnsavedState":   {reason: "A state that no run could save has this name.", name: "sub/errored.tfstate"},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			d := newDir(t)
			syncDir(t, d, map[string]File{"main.tf": text("a")})

			err := d.Sync(map[string]File{"main.tf": text("b"), "other.tf": text("b"), tc.name: text("x")})
			if diff := cmp.Diff(cmpopts.AnyError, err, cmpopts.EquateErrors()); diff != "" {
				t.Fatalf("%s\nSync of %q: -want error, +got error:\n%s", tc.reason, tc.name, diff)
			}

			if !strings.Contains(err.Error(), strconv.Quote(tc.name)) {
				t.Errorf("%s\n%q does not name %q", tc.reason, err, tc.name)
			}

			if diff := cmp.Diff(files{"main.tf": "a"}, content(t, d.Path())); diff != "" {
				t.Errorf("%s\nnothing is written when a name is refused: -want, +got:\n%s", tc.reason, diff)
			}

			if diff := cmp.Diff([]string{recordsDir, uidA}, filesystem.Names(t, filepath.Dir(d.Path()))); diff != "" {
				t.Errorf("%s\nbeside the directory: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestSyncModes(t *testing.T) {
	t.Parallel()

	d := newDir(t)
	set := map[string]File{"main.tf": text("a"), "a/b/creds": secret("s")}
	syncDir(t, d, set)

	if err := os.Chmod(filepath.Join(d.Path(), "main.tf"), 0o644); err != nil {
		t.Fatal(err)
	}

	syncDir(t, d, set)

	got := map[string]fs.FileMode{}

	err := filepath.WalkDir(d.Path(), func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}

		info, err := os.Lstat(path)
		if err != nil {
			return err
		}

		rel, err := filepath.Rel(d.Path(), path)
		got[rel] = info.Mode()

		return err
	})
	if err != nil {
		t.Fatal(err)
	}

	want := map[string]fs.FileMode{
		".":         fs.ModeDir | 0o700,
		"a":         fs.ModeDir | 0o700,
		"a/b":       fs.ModeDir | 0o700,
		"a/b/creds": 0o600,
		"main.tf":   0o600,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("no other user may read anything: -want, +got:\n%s", diff)
	}
}

// TestSyncPolled ensures that a run with the inputs of the last one writes only its secrets.
func TestSyncPolled(t *testing.T) {
	t.Parallel()

	d := newDir(t)
	poll := func() {
		t.Helper()

		given := map[string]File{"main.tf": text("a"), "sub/creds": secret("s")}
		syncDir(t, d, given, "sub/vars")

		if diff := cmp.Diff(files{"main.tf": "a", "sub/creds": "s"}, content(t, d.Path())); diff != "" {
			t.Errorf("later files are not written yet: -want, +got:\n%s", diff)
		}

		given["sub/vars"] = secret("v")
		syncDir(t, d, given)

		if diff := cmp.Diff(files{"main.tf": "a", "sub/creds": "s", "sub/vars": "v"}, content(t, d.Path())); diff != "" {
			t.Errorf("files during a run: -want, +got:\n%s", diff)
		}

		removeSecrets(t, d)

		if diff := cmp.Diff(files{"main.tf": "a"}, content(t, d.Path())); diff != "" {
			t.Errorf("files after a run: -want, +got:\n%s", diff)
		}
	}
	stat := func(name string) os.FileInfo {
		t.Helper()

		info, err := os.Stat(filepath.Join(d.Path(), name))
		if err != nil {
			t.Fatal(err)
		}

		return info
	}

	poll()

	before := map[string]os.FileInfo{}
	for _, name := range []string{"main.tf", "../" + recordsDir + "/" + uidA + "/" + manifestName} {
		before[name] = stat(name)
	}

	poll()

	for name, info := range before {
		if now := stat(name); !os.SameFile(info, now) || !now.ModTime().Equal(info.ModTime()) {
			t.Errorf("%q was written although nothing of it has changed", name)
		}
	}
}

// TestSyncLater ensures that a secret that is announced but never written is removed, too.
func TestSyncLater(t *testing.T) {
	t.Parallel()

	d := newDir(t)
	syncDir(t, d, map[string]File{"vars": secret("left by a run that was killed")})
	syncDir(t, d, map[string]File{"main.tf": text("a")}, "vars")
	removeSecrets(t, d)

	if diff := cmp.Diff(files{"main.tf": "a"}, content(t, d.Path())); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}

	if err := d.Sync(nil, "../vars"); err == nil {
		t.Error("Sync(nil, \"../vars\"): want an error")
	}
}

// TestSyncInterrupted ensures that the next Sync knows all files of a failed one, which removes
// nothing.
func TestSyncInterrupted(t *testing.T) {
	t.Parallel()

	d := newDir(t)
	mkdir(t, filepath.Join(d.Path(), "z-in-the-way", "x"), 0o700)

	if err := d.Sync(map[string]File{"creds": secret("s"), "z-in-the-way": text("a")}); err == nil {
		t.Fatal("a directory was replaced by a file")
	}

	if diff := cmp.Diff(files{"creds": "s"}, content(t, d.Path())); diff != "" {
		t.Fatalf("the test expects that the first file was written: -want, +got:\n%s", diff)
	}

	syncDir(t, d, map[string]File{"main.tf": text("a")})

	if diff := cmp.Diff(files{"main.tf": "a"}, content(t, d.Path())); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

// FuzzSync checks that no name makes Sync touch anything outside, and that it writes every name
// that it accepts.
func FuzzSync(f *testing.F) {
	for _, name := range []string{"main.tf", "", ".", "..", "../a", "a/../../b", "/a", "a//b", "a\x00b", "a/" + tempName, "a\\..\\b", "\xb2"} {
		f.Add(name)
	}

	f.Fuzz(func(t *testing.T, name string) {
		d := newDir(t)

		err := d.Sync(map[string]File{name: text("a")})
		if diff := cmp.Diff([]string{recordsDir, uidA}, filesystem.Names(t, filepath.Dir(d.Path()))); diff != "" {
			t.Errorf("beside the directory, after Sync of %q: -want, +got:\n%s", name, diff)
		}

		if err != nil {
			return
		}

		if diff := cmp.Diff(files{name: "a"}, content(t, d.Path())); diff != "" {
			t.Errorf("in the directory, after Sync of %q: -want, +got:\n%s", name, diff)
		}

		if err := d.Sync(nil); err != nil {
			t.Errorf("the file %q cannot be removed: %v", name, err)
		}

		if diff := cmp.Diff(files{}, content(t, d.Path())); diff != "" {
			t.Errorf("after removing %q: -want, +got:\n%s", name, diff)
		}
	})
}
