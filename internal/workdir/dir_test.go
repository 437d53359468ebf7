// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workdir

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// files are the contents of the files of a directory by their names.
type files map[string]string

func TestSync(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		// earlier are the sets of earlier calls, and present what somebody else
		// wrote after them.
		earlier []map[string]File
		present files
		sync    map[string]File
		want    files
	}{
		"First": {
			reason: "All files are written.",
			sync:   map[string]File{"main.tf": text("a"), "creds.json": secret("s")},
			want:   files{"main.tf": "a", "creds.json": "s"},
		},
		"Nested": {
			reason: "Directories are made as needed.",
			sync:   map[string]File{"envs/prod/main.tf": text("a"), "envs/prod/creds": secret("s")},
			want:   files{"envs/prod/main.tf": "a", "envs/prod/creds": "s"},
		},
		"Changed": {
			reason:  "A file gets its new content.",
			earlier: []map[string]File{{"main.tf": text("old")}},
			sync:    map[string]File{"main.tf": text("new")},
			want:    files{"main.tf": "new"},
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
		"AnotherMainFile": {
			reason:  "The main file of the other syntax does not stay beside the new one.",
			earlier: []map[string]File{{"main.tf": text("a")}},
			sync:    map[string]File{"main.tf.json": text("{}")},
			want:    files{"main.tf.json": "{}"},
		},
		"RemovedCredentials": {
			reason:  "A credential that the ProviderConfig lost is gone.",
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
			reason:  "It is the last Sync that counts, and no file of any before it stays.",
			earlier: []map[string]File{{"a": text("1")}, {"b": text("2")}, {"c": text("3")}},
			sync:    map[string]File{"d": text("4")},
			want:    files{"d": "4"},
		},
		"ForgetsRemoved": {
			reason:  "A file that somebody else writes under a name that was once given stays.",
			earlier: []map[string]File{{"main.tf": text("a")}, {"other.tf": text("b")}},
			present: files{"main.tf": "theirs"},
			sync:    map[string]File{"other.tf": text("b")},
			want:    files{"main.tf": "theirs", "other.tf": "b"},
		},
		"AlreadyGone": {
			reason:  "A file that is to be removed may be gone already.",
			earlier: []map[string]File{{"main.tf": text("a"), "old": text("o")}},
			present: files{"old": ""},
			sync:    map[string]File{"main.tf": text("a")},
			want:    files{"main.tf": "a"},
		},
		"Foreign": {
			reason:  "What the CLI and the module wrote stays.",
			earlier: []map[string]File{{"main.tf": text("a")}},
			present: files{".terraform.lock.hcl": "lock", ".terraform/modules/modules.json": "{}"},
			sync:    map[string]File{"main.tf.json": text("{}")},
			want:    files{"main.tf.json": "{}", ".terraform.lock.hcl": "lock", ".terraform/modules/modules.json": "{}"},
		},
		"Overwritten": {
			reason:  "What somebody else made of a file is put right.",
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
				if err := d.Sync(earlier); err != nil {
					t.Fatal(err)
				}
			}
			for name, content := range tc.present {
				write(t, filepath.Join(d.Path(), name), content)
			}
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
		"Dot":            {reason: "A dot names the directory itself.", name: "."},
		"Parent":         {reason: "The parent is outside.", name: ".."},
		"Outside":        {reason: "A file of the parent is outside.", name: "../escape"},
		"OutsideDeep":    {reason: "What leads out at any depth is outside.", name: "a/../../escape"},
		"Absolute":       {reason: "An absolute path is outside.", name: "/tmp/escape"},
		"NotClean":       {reason: "One file has one name: the same file under two would be written and removed.", name: "a/../b"},
		"LeadingDot":     {reason: "One file has one name.", name: "./a"},
		"DoubleSlash":    {reason: "One file has one name.", name: "a//b"},
		"TrailingSlash":  {reason: "A directory is no file.", name: "a/"},
		"NotUTF8":        {reason: "A name that cannot be recorded could not be removed.", name: "\xb2"},
		"Manifest":       {reason: "The list of what was written is not an input.", name: manifestName},
		"Marker":         {reason: "A credential must not claim that init succeeded.", name: markerName},
		"Temporary":      {reason: "What is used to write the others is not an input.", name: tempName},
		"ReservedFuture": {reason: "What begins like these belongs to the provider, too.", name: ".crossplane.tfplan"},
		"ReservedBelow":  {reason: "A reserved name is not allowed in a subdirectory either.", name: "sub/" + manifestName},
		"ReservedAbove":  {reason: "A reserved name is not allowed for a directory either.", name: ".crossplane-fetch/a"},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			d := newDir(t)
			if err := d.Sync(map[string]File{"main.tf": text("a")}); err != nil {
				t.Fatal(err)
			}
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
			if diff := cmp.Diff([]string{uidA}, names(t, filepath.Dir(d.Path()))); diff != "" {
				t.Errorf("%s\nbeside the directory: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// What a module leaves in the place of an input must not make Sync write, remove
// or compare anything elsewhere.
func TestSyncPlanted(t *testing.T) {
	t.Parallel()

	type want struct {
		Err     error
		Files   files
		Outside files
	}
	cases := map[string]struct {
		reason string
		// plant something after {"main.tf": "a", "sub/creds": "s"} was written;
		// outside has a file "main.tf" and a file "creds".
		plant func(t *testing.T, dir, outside string)
		sync  map[string]File
		want  want
	}{
		"FileOutside": {
			reason: "A link to a file outside is replaced, its target stays.",
			plant: func(t *testing.T, dir, outside string) {
				t.Helper()
				remove(t, filepath.Join(dir, "main.tf"))
				symlink(t, filepath.Join(outside, "main.tf"), filepath.Join(dir, "main.tf"))
			},
			sync: map[string]File{"main.tf": text("b")},
			want: want{Files: files{"main.tf": "b"}},
		},
		"FileOutsideSameContent": {
			reason: "A link to a file of the right content is not what was asked for.",
			plant: func(t *testing.T, dir, outside string) {
				t.Helper()
				remove(t, filepath.Join(dir, "main.tf"))
				symlink(t, filepath.Join(outside, "main.tf"), filepath.Join(dir, "main.tf"))
			},
			sync: map[string]File{"main.tf": text("outside")},
			want: want{Files: files{"main.tf": "outside"}},
		},
		"RemovedFileOutside": {
			reason: "A link in the place of a file that is to go is removed, its target stays.",
			plant: func(t *testing.T, dir, outside string) {
				t.Helper()
				remove(t, filepath.Join(dir, "main.tf"))
				symlink(t, filepath.Join(outside, "main.tf"), filepath.Join(dir, "main.tf"))
			},
			sync: map[string]File{},
			want: want{Files: files{}},
		},
		"DirectoryOutside": {
			reason: "No secret is written through a link to a directory outside.",
			plant: func(t *testing.T, dir, outside string) {
				t.Helper()
				remove(t, filepath.Join(dir, "sub"))
				symlink(t, outside, filepath.Join(dir, "sub"))
			},
			sync: map[string]File{"main.tf": text("a"), "sub/creds": secret("s")},
			want: want{Err: cmpopts.AnyError, Files: files{"main.tf": "a", "sub": "-> outside"}},
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
			plant: func(t *testing.T, dir, outside string) {
				t.Helper()
				remove(t, filepath.Join(dir, "sub"))
				symlink(t, outside, filepath.Join(dir, "sub"))
			},
			sync: map[string]File{"main.tf": text("a")},
			want: want{Files: files{"main.tf": "a", "sub": "-> outside"}},
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
			reason: "A list that names files outside is not believed.",
			plant: func(t *testing.T, dir, _ string) {
				t.Helper()
				write(t, filepath.Join(dir, manifestName), `{"../outside/main.tf":{},"main.tf":{}}`)
			},
			sync: map[string]File{"main.tf": text("b")},
			want: want{Err: cmpopts.AnyError, Files: files{"main.tf": "a", "sub/creds": "s"}},
		},
		"ManifestBroken": {
			reason: "Without the list nobody knows what has to go: going on would keep it.",
			plant: func(t *testing.T, dir, _ string) {
				t.Helper()
				write(t, filepath.Join(dir, manifestName), `{`)
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
			if err := d.Sync(map[string]File{"main.tf": text("a"), "sub/creds": secret("s")}); err != nil {
				t.Fatal(err)
			}
			tc.plant(t, d.Path(), outside)

			got := want{Err: d.Sync(tc.sync), Files: content(t, d.Path()), Outside: content(t, outside)}
			tc.want.Outside = files{"main.tf": "outside", "creds": "outside"}
			if diff := cmp.Diff(tc.want, got, cmpopts.EquateErrors()); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// A module could also put a link in the place of its whole directory.
func TestSyncPlantedDirectory(t *testing.T) {
	t.Parallel()

	r := openRoot(t)
	other := filepath.Join(r.Path(), uidB)
	write(t, filepath.Join(other, "main.tf"), "theirs")
	d, err := r.Dir(uidA)
	if err != nil {
		t.Fatal(err)
	}
	remove(t, d.Path())
	symlink(t, uidB, d.Path())

	if err := d.Sync(map[string]File{"main.tf": text("mine")}); err == nil {
		t.Error("Sync followed a link to the directory of another Workspace")
	}
	if err := d.RemoveSecrets(); err == nil {
		t.Error("RemoveSecrets followed a link to the directory of another Workspace")
	}
	if diff := cmp.Diff(files{"main.tf": "theirs"}, content(t, other)); diff != "" {
		t.Errorf("the other directory: -want, +got:\n%s", diff)
	}
}

func TestSyncModes(t *testing.T) {
	t.Parallel()

	d := newDir(t)
	set := map[string]File{"main.tf": text("a"), "a/b/creds": secret("s")}
	if err := d.Sync(set); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(d.Path(), "main.tf"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := d.Sync(set); err != nil {
		t.Fatal(err)
	}

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
		".":          fs.ModeDir | 0o700,
		"a":          fs.ModeDir | 0o700,
		"a/b":        fs.ModeDir | 0o700,
		"a/b/creds":  0o600,
		"main.tf":    0o600,
		manifestName: 0o600,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("nobody else may read anything: -want, +got:\n%s", diff)
	}
}

// What stays the same keeps its time, so that nothing looks new that is not.
func TestSyncUnchanged(t *testing.T) {
	t.Parallel()

	d := newDir(t)
	if err := d.Sync(map[string]File{"main.tf": text("a"), "sub/other.tf": text("b")}); err != nil {
		t.Fatal(err)
	}
	past := time.Date(2020, time.January, 1, 0, 0, 0, 0, time.UTC)
	for _, name := range []string{"main.tf", "sub/other.tf", manifestName} {
		if err := os.Chtimes(filepath.Join(d.Path(), name), past, past); err != nil {
			t.Fatal(err)
		}
	}

	if err := d.Sync(map[string]File{"main.tf": text("a"), "sub/other.tf": text("changed")}); err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{"main.tf": true, "sub/other.tf": false, manifestName: true}
	got := map[string]bool{}
	for name := range want {
		info, err := os.Stat(filepath.Join(d.Path(), name))
		if err != nil {
			t.Fatal(err)
		}
		got[name] = info.ModTime().Equal(past)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("which files have their old modification time: -want, +got:\n%s", diff)
	}
}

// A run that is like the one before writes nothing but its secrets.
func TestSyncPolled(t *testing.T) {
	t.Parallel()

	d := newDir(t)
	poll := func() {
		t.Helper()
		given := map[string]File{"main.tf": text("a"), "sub/creds": secret("s")}
		if err := d.Sync(given, "sub/vars"); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(files{"main.tf": "a", "sub/creds": "s"}, content(t, d.Path())); diff != "" {
			t.Errorf("what is given later is not written before: -want, +got:\n%s", diff)
		}
		given["sub/vars"] = secret("v")
		if err := d.Sync(given); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(files{"main.tf": "a", "sub/creds": "s", "sub/vars": "v"}, content(t, d.Path())); diff != "" {
			t.Errorf("files during a run: -want, +got:\n%s", diff)
		}
		if err := d.RemoveSecrets(); err != nil {
			t.Fatal(err)
		}
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
	for _, name := range []string{"main.tf", manifestName} {
		before[name] = stat(name)
	}
	poll()
	for name, info := range before {
		if now := stat(name); !os.SameFile(info, now) || !now.ModTime().Equal(info.ModTime()) {
			t.Errorf("%q was written although nothing of it has changed", name)
		}
	}
}

// A secret that is to be written later is removed, too, if it never is.
func TestSyncLater(t *testing.T) {
	t.Parallel()

	d := newDir(t)
	if err := d.Sync(map[string]File{"vars": secret("left by a run that was killed")}); err != nil {
		t.Fatal(err)
	}
	if err := d.Sync(map[string]File{"main.tf": text("a")}, "vars"); err != nil {
		t.Fatal(err)
	}
	if err := d.RemoveSecrets(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(files{"main.tf": "a"}, content(t, d.Path())); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	if err := d.Sync(nil, "../vars"); err == nil {
		t.Error("Sync(nil, \"../vars\"): want an error")
	}
}

// A Sync that fails, and so does not remove anything, leaves nothing behind that
// the next one does not know of.
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
	if err := d.Sync(map[string]File{"main.tf": text("a")}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(files{"main.tf": "a"}, content(t, d.Path())); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

func TestRemoveSecrets(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason  string
		sync    []map[string]File
		present files
		want    files
	}{
		"Nothing": {
			reason: "A directory that nothing was written to has no secrets.",
			want:   files{},
		},
		"Secrets": {
			reason: "Secrets go, wherever they are; the rest stays.",
			sync:   []map[string]File{{"main.tf": text("a"), "creds": secret("s"), "sub/creds": secret("s")}},
			want:   files{"main.tf": "a"},
		},
		"NoLongerSecret": {
			reason: "It is the last Sync that says what is secret.",
			sync:   []map[string]File{{"a": secret("s"), "b": text("t")}, {"a": text("s"), "b": secret("t")}},
			want:   files{"a": "s"},
		},
		"Changed": {
			reason:  "A secret that the module changed is still one.",
			sync:    []map[string]File{{"creds": secret("s")}},
			present: files{"creds": "refreshed token"},
			want:    files{},
		},
		"Interrupted": {
			reason:  "What an interrupted Sync was writing may be a secret.",
			sync:    []map[string]File{{"main.tf": text("a")}},
			present: files{tempName: "half a secr"},
			want:    files{"main.tf": "a"},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			d := newDir(t)
			for _, set := range tc.sync {
				if err := d.Sync(set); err != nil {
					t.Fatal(err)
				}
			}
			for name, content := range tc.present {
				write(t, filepath.Join(d.Path(), name), content)
			}
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

// The garbage collector may have been faster.
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

func TestEntrypoint(t *testing.T) {
	t.Parallel()

	type want struct {
		Path string
		Err  error
	}
	cases := map[string]struct {
		reason     string
		entrypoint string
		want       want
	}{
		"Empty":         {reason: "The module itself is the default.", entrypoint: "", want: want{Path: "."}},
		"Dot":           {reason: "A dot is the module itself.", entrypoint: ".", want: want{Path: "."}},
		"Directory":     {reason: "A directory of the module.", entrypoint: "envs/prod", want: want{Path: "envs/prod"}},
		"LeadingSlash":  {reason: "A leading slash has always meant the module itself.", entrypoint: "/envs/prod", want: want{Path: "envs/prod"}},
		"TrailingSlash": {reason: "A trailing slash changes nothing.", entrypoint: "envs/prod/", want: want{Path: "envs/prod"}},
		"RoundTrip":     {reason: "What stays inside on the whole is inside.", entrypoint: "envs/../envs/prod", want: want{Path: "envs/prod"}},
		"LinkInside":    {reason: "A link to a directory of the module is followed, and the path has no link left.", entrypoint: "link-inside/prod", want: want{Path: "envs/prod"}},
		"Parent":        {reason: "The parent is outside.", entrypoint: "..", want: want{Err: cmpopts.AnyError}},
		"Outside":       {reason: "Another Workspace's directory is outside.", entrypoint: "../" + uidB, want: want{Err: cmpopts.AnyError}},
		"OutsideSlash":  {reason: "A leading slash does not help to get out.", entrypoint: "/../" + uidB, want: want{Err: cmpopts.AnyError}},
		"Back":          {reason: "A way out and in again would tell what is outside.", entrypoint: "../" + uidA + "/envs", want: want{Err: cmpopts.AnyError}},
		"Dots":          {reason: "Dots that a careless filter would make two of are a name as any other.", entrypoint: "....//....//etc", want: want{Err: cmpopts.AnyError}},
		"LinkOutside":   {reason: "A link that leads out is refused.", entrypoint: "link-outside", want: want{Err: cmpopts.AnyError}},
		"LinkBelow":     {reason: "A path through a link that leads out is refused.", entrypoint: "link-outside/" + uidB, want: want{Err: cmpopts.AnyError}},
		"LinkAbsolute":  {reason: "A link to an absolute path is refused.", entrypoint: "link-absolute", want: want{Err: cmpopts.AnyError}},
		"Missing":       {reason: "A missing directory is reported.", entrypoint: "missing", want: want{Err: cmpopts.AnyError}},
		"File":          {reason: "A file is no directory.", entrypoint: "main.tf", want: want{Err: cmpopts.AnyError}},
	}

	r := openRoot(t)
	mkdir(t, filepath.Join(r.Path(), uidB), 0o700)
	d, err := r.Dir(uidA)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(d.Path(), "main.tf"), "")
	mkdir(t, filepath.Join(d.Path(), "envs", "prod"), 0o700)
	symlink(t, "envs", filepath.Join(d.Path(), "link-inside"))
	symlink(t, "..", filepath.Join(d.Path(), "link-outside"))
	symlink(t, filepath.Join(r.Path(), uidB), filepath.Join(d.Path(), "link-absolute"))

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if tc.want.Err == nil {
				tc.want.Path = filepath.Join(d.Path(), tc.want.Path)
			}
			var got want
			got.Path, got.Err = d.Entrypoint(tc.entrypoint)
			if diff := cmp.Diff(tc.want, got, cmpopts.EquateErrors()); diff != "" {
				t.Errorf("%s\nEntrypoint(%q): -want, +got:\n%s", tc.reason, tc.entrypoint, diff)
			}
			if got.Err != nil && strings.Count(got.Err.Error(), `"`+tc.entrypoint+`"`) != 1 {
				t.Errorf("%s\n%q does not name %q", tc.reason, got.Err, tc.entrypoint)
			}
		})
	}
}

// The root may be reached through a link, as a mounted volume may.
func TestEntrypointBelowLinkedRoot(t *testing.T) {
	t.Parallel()

	link := filepath.Join(t.TempDir(), "link")
	symlink(t, t.TempDir(), link)
	r, err := Open(link)
	if err != nil {
		t.Fatal(err)
	}
	d, err := r.Dir(uidA)
	if err != nil {
		t.Fatal(err)
	}
	mkdir(t, filepath.Join(d.Path(), "sub"), 0o700)
	got, err := d.Entrypoint("sub")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(filepath.Join(link, uidA, "sub"), got); diff != "" {
		t.Errorf("the path is below that of the directory: -want, +got:\n%s", diff)
	}
}

func TestCleanEntrypoint(t *testing.T) {
	t.Parallel()

	type want struct {
		Path string
		Err  error
	}
	cases := map[string]struct {
		reason     string
		entrypoint string
		want       want
	}{
		"Empty":   {reason: "The module itself is the default.", entrypoint: "", want: want{Path: "."}},
		"Slashes": {reason: "Leading and trailing slashes change nothing.", entrypoint: "//a/b/", want: want{Path: "a/b"}},
		"Dots":    {reason: "What stays inside on the whole is inside.", entrypoint: "./a/../b", want: want{Path: "b"}},
		"Outside": {reason: "What leads out is refused.", entrypoint: "a/../../b", want: want{Err: cmpopts.AnyError}},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			var got want
			got.Path, got.Err = CleanEntrypoint(tc.entrypoint)
			if diff := cmp.Diff(tc.want, got, cmpopts.EquateErrors()); diff != "" {
				t.Errorf("%s\nCleanEntrypoint(%q): -want, +got:\n%s", tc.reason, tc.entrypoint, diff)
			}
			if got.Err != nil && !strings.Contains(got.Err.Error(), `"`+tc.entrypoint+`"`) {
				t.Errorf("%s\n%q does not name %q", tc.reason, got.Err, tc.entrypoint)
			}
		})
	}
}

func TestInitialized(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		do     func(t *testing.T, d *Dir)
		want   map[string]string
	}{
		"Never": {
			reason: "A new directory is not initialized.",
			do:     func(_ *testing.T, _ *Dir) {},
			want:   map[string]string{"": "", "sub": ""},
		},
		"NoMark": {
			reason: "What an init that failed left does not count.",
			do: func(t *testing.T, d *Dir) {
				t.Helper()
				mkdir(t, filepath.Join(d.Path(), dataDir), 0o700)
			},
			want: map[string]string{"": "", "sub": ""},
		},
		"Marked": {
			reason: "The digest is that of the last successful init.",
			do: func(t *testing.T, d *Dir) {
				t.Helper()
				mkdir(t, filepath.Join(d.Path(), dataDir), 0o700)
				mark(t, d, "", "one")
				mark(t, d, "", "two")
			},
			want: map[string]string{"": "two", ".": "two", "/": "two", "sub": ""},
		},
		"Entrypoint": {
			reason: "Each entrypoint is initialized by itself.",
			do: func(t *testing.T, d *Dir) {
				t.Helper()
				mkdir(t, filepath.Join(d.Path(), dataDir), 0o700)
				mkdir(t, filepath.Join(d.Path(), "sub", dataDir), 0o700)
				mark(t, d, "sub", "one")
			},
			want: map[string]string{"": "", "sub": "one", "/sub/": "one", "link": "one"},
		},
		"Gone": {
			reason: "A mark does not count without what init installed.",
			do: func(t *testing.T, d *Dir) {
				t.Helper()
				mark(t, d, "", "one")
			},
			want: map[string]string{"": ""},
		},
		"NotADirectory": {
			reason: "Something else in the place of what init installed does not count.",
			do: func(t *testing.T, d *Dir) {
				t.Helper()
				write(t, filepath.Join(d.Path(), dataDir), "")
				mark(t, d, "", "one")
			},
			want: map[string]string{"": ""},
		},
		"Cleared": {
			reason: "A mark can be taken back, more than once.",
			do: func(t *testing.T, d *Dir) {
				t.Helper()
				mkdir(t, filepath.Join(d.Path(), dataDir), 0o700)
				mark(t, d, "", "one")
				for range 2 {
					if err := d.ClearInitialized(); err != nil {
						t.Error(err)
					}
				}
			},
			want: map[string]string{"": ""},
		},
		"Broken": {
			reason: "A mark that cannot be read does not count.",
			do: func(t *testing.T, d *Dir) {
				t.Helper()
				mkdir(t, filepath.Join(d.Path(), dataDir), 0o700)
				write(t, filepath.Join(d.Path(), markerName), "{")
			},
			want: map[string]string{"": ""},
		},
		"KeptBySync": {
			reason: "Sync decides about inputs only.",
			do: func(t *testing.T, d *Dir) {
				t.Helper()
				mkdir(t, filepath.Join(d.Path(), dataDir), 0o700)
				mark(t, d, "", "one")
				if err := d.Sync(nil); err != nil {
					t.Error(err)
				}
			},
			want: map[string]string{"": "one"},
		},
		"Outside": {
			reason: "An entrypoint that leaves the directory is never initialized.",
			do: func(t *testing.T, d *Dir) {
				t.Helper()
				if err := d.MarkInitialized("..", "one"); err == nil {
					t.Error("an entrypoint that leaves the directory was marked")
				}
			},
			want: map[string]string{"..": "", "missing": ""},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			d := newDir(t)
			mkdir(t, filepath.Join(d.Path(), "sub"), 0o700)
			symlink(t, "sub", filepath.Join(d.Path(), "link"))
			tc.do(t, d)

			got := map[string]string{}
			for entrypoint := range tc.want {
				got[entrypoint] = d.Initialized(entrypoint)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nInitialized by entrypoint: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestRootInitialized(t *testing.T) {
	t.Parallel()

	const uninitialized = "ffffffff-ffff-4fff-bfff-ffffffffffff"

	r := openRoot(t)
	dirs := map[string]*Dir{}
	for _, uid := range []string{uidA, uidB, uninitialized} {
		d, err := r.Dir(uid)
		if err != nil {
			t.Fatal(err)
		}
		dirs[uid] = d
	}
	mkdir(t, filepath.Join(dirs[uidA].Path(), "sub"), 0o700)
	mark(t, dirs[uidA], "sub", "digest")
	mark(t, dirs[uidB], "", "digest")
	mark(t, dirs[uninitialized], "", "digest")
	if err := dirs[uninitialized].ClearInitialized(); err != nil {
		t.Fatal(err)
	}

	got, err := r.Initialized()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{filepath.Join(dirs[uidA].Path(), "sub"), dirs[uidB].Path()}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Initialized(): -want, +got:\n%s", diff)
	}

	// It is read from a place that modules can write to.
	write(t, filepath.Join(dirs[uidB].Path(), markerName), `{"entrypoint": "../x", "digest": "d"}`)
	if got, err = r.Initialized(); err != nil || len(got) != 1 {
		t.Errorf("Initialized(): want one without the entrypoint that leads out, got %q and error %v", got, err)
	}
}

func TestDigest(t *testing.T) {
	t.Parallel()

	// All of these must have different digests.
	different := map[string]string{
		"Nothing":        Digest(nil),
		"File":           Digest(map[string]File{"a": text("b")}),
		"OtherContent":   Digest(map[string]File{"a": text("c")}),
		"OtherName":      Digest(map[string]File{"b": text("b")}),
		"NameAndContent": Digest(map[string]File{"ab": text("")}),
		"ContentOnly":    Digest(map[string]File{"": text("ab")}),
		"TwoFiles":       Digest(map[string]File{"a": text("b"), "c": text("d")}),
		"Swapped":        Digest(map[string]File{"a": text("d"), "c": text("b")}),
		"OneForTwo":      Digest(map[string]File{"a": text("b,1:c,1:d")}),
		"Extra":          Digest(nil, "a", "b"),
		"ExtraOrder":     Digest(nil, "b", "a"),
		"ExtraJoined":    Digest(nil, "ab"),
		"ExtraEmpty":     Digest(nil, "a", "b", ""),
		"ExtraForFile":   Digest(nil, "a", "b", "c", "d"),
		"FileAndExtra":   Digest(map[string]File{"a": text("b")}, "c", "d"),
	}
	seen := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(different)) {
		if other, ok := seen[different[name]]; ok {
			t.Errorf("%s and %s have the same digest", name, other)
		}
		seen[different[name]] = name
		if len(different[name]) != 64 {
			t.Errorf("%s: %q is not a SHA-256 in hexadecimal", name, different[name])
		}
	}

	many := map[string]File{}
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		many[name] = text(name)
	}
	want := Digest(many, "x")
	for range 20 {
		if diff := cmp.Diff(want, Digest(maps.Clone(many), "x")); diff != "" {
			t.Fatalf("the order of the files must not count: -want, +got:\n%s", diff)
		}
	}
}

// No name makes Sync touch anything outside, and what it accepts it writes.
func FuzzSync(f *testing.F) {
	for _, name := range []string{"main.tf", "", ".", "..", "../a", "a/../../b", "/a", "a//b", "a\x00b", manifestName, "a/" + tempName, "a\\..\\b", "\xb2"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		d := newDir(t)
		err := d.Sync(map[string]File{name: text("a")})
		if diff := cmp.Diff([]string{uidA}, names(t, filepath.Dir(d.Path()))); diff != "" {
			t.Errorf("beside the directory, after Sync of %q: -want, +got:\n%s", name, diff)
		}
		if err != nil {
			return
		}
		if diff := cmp.Diff(files{name: "a"}, content(t, d.Path())); diff != "" {
			t.Errorf("in the directory, after Sync of %q: -want, +got:\n%s", name, diff)
		}
		if err := d.Sync(nil); err != nil {
			t.Errorf("what was written as %q cannot be removed: %v", name, err)
		}
		if diff := cmp.Diff(files{}, content(t, d.Path())); diff != "" {
			t.Errorf("after removing %q: -want, +got:\n%s", name, diff)
		}
	})
}

// No entrypoint leads out of the directory, whatever links are in it.
func FuzzEntrypoint(f *testing.F) {
	for _, entrypoint := range []string{"", ".", "/", "in", "/in/", "in/../in", "..", "a/../..", "....//....//etc", "out", "out/x", "link", "a\x00b", "a\\..\\b", "\xb2"} {
		f.Add(entrypoint)
	}
	f.Fuzz(func(t *testing.T, entrypoint string) {
		d := newDir(t)
		if err := d.Sync(map[string]File{"in/main.tf": text("a")}); err != nil {
			t.Fatal(err)
		}
		for link, target := range map[string]string{"out": "../..", "link": "in"} {
			if err := os.Symlink(target, filepath.Join(d.Path(), link)); err != nil {
				t.Fatal(err)
			}
		}
		rel, cleanErr := CleanEntrypoint(entrypoint)
		if cleanErr == nil && (!filepath.IsLocal(rel) || filepath.Clean(rel) != rel) {
			t.Errorf("CleanEntrypoint(%q): %q is not a clean path inside", entrypoint, rel)
		}
		path, err := d.Entrypoint(entrypoint)
		if err != nil {
			return
		}
		if cleanErr != nil {
			t.Errorf("Entrypoint(%q): %q, but CleanEntrypoint fails with %v", entrypoint, path, cleanErr)
		}
		if path != d.Path() && path != filepath.Join(d.Path(), "in") {
			t.Errorf("Entrypoint(%q): %q is neither of the two directories there are", entrypoint, path)
		}
	})
}

func text(s string) File   { return File{Data: []byte(s)} }
func secret(s string) File { return File{Data: []byte(s), Secret: true} }

func newDir(t *testing.T) *Dir {
	t.Helper()
	d, err := openRoot(t).Dir(uidA)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func mark(t *testing.T, d *Dir, entrypoint, digest string) {
	t.Helper()
	if err := d.MarkInitialized(entrypoint, digest); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
}

// content of all files below a directory, but for those that the package keeps
// for itself. A symbolic link has the base name of its target for content.
func content(t *testing.T, dir string) files {
	t.Helper()
	got := files{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || e.Name() == manifestName || e.Name() == markerName {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if e.Type() == fs.ModeSymlink {
			target, err := os.Readlink(path)
			got[rel] = "-> " + filepath.Base(target)
			return err
		}
		data, err := os.ReadFile(path)
		got[rel] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}
