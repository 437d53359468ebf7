// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workdir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/sys/unix"

	"github.com/crossplane-contrib/provider-terraform/test/filesystem"
)

func TestRemove(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason  string
		prepare func(t *testing.T, root string)
		uid     string
		err     error
		want    []string
	}{
		"Directory": {
			reason: "The directory is removed with its content, and no other.",
			prepare: func(t *testing.T, root string) {
				t.Helper()
				write(t, filepath.Join(root, uidA, ".terraform", "modules", "a"), "a")
				write(t, filepath.Join(root, uidB, "main.tf"), "")
			},
			uid:  uidA,
			want: []string{recordsDir, uidB},
		},
		"Missing": {
			reason: "A missing directory is no error.",
			uid:    uidA,
			want:   []string{},
		},
		"Interrupted": {
			reason: "The remains of an earlier removal of the same directory are no obstacle.",
			prepare: func(t *testing.T, root string) {
				t.Helper()
				write(t, filepath.Join(root, ".deleting-"+uidA, "main.tf"), "")
				write(t, filepath.Join(root, uidA, "main.tf"), "")
			},
			uid:  uidA,
			want: []string{recordsDir},
		},
		"NotAUID": {
			reason: "Only directories of Workspaces are removed.",
			prepare: func(t *testing.T, root string) {
				t.Helper()
				write(t, filepath.Join(root, "plugin-cache", "a"), "")
			},
			uid:  "plugin-cache",
			err:  cmpopts.AnyError,
			want: []string{"plugin-cache"},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r := openRoot(t)
			if tc.prepare != nil {
				tc.prepare(t, r.Path())
			}

			for _, time := range []string{"first", "second"} {
				gone, err := r.Remove(tc.uid)
				if gone == (tc.err != nil) {
					t.Errorf("%s\n%s Remove(%q) says %t", tc.reason, time, tc.uid, gone)
				}

				if diff := cmp.Diff(tc.err, err, cmpopts.EquateErrors()); diff != "" {
					t.Errorf("%s\n%s Remove(%q): -want error, +got error:\n%s", tc.reason, time, tc.uid, diff)
				}

				if diff := cmp.Diff(tc.want, filesystem.Names(t, r.Path())); diff != "" {
					t.Errorf("%s\nleft after the %s Remove(%q): -want, +got:\n%s", tc.reason, time, tc.uid, diff)
				}
			}
		})
	}
}

// TestRemoveKeepsLinkTargets ensures that symbolic links in a directory are removed, but not
// their targets.
func TestRemoveKeepsLinkTargets(t *testing.T) {
	t.Parallel()

	r := openRoot(t)
	outside := t.TempDir()
	write(t, filepath.Join(outside, "keep"), "")
	write(t, filepath.Join(r.Path(), uidB, "keep"), "")
	mkdir(t, filepath.Join(r.Path(), uidA), 0o700)
	symlink(t, outside, filepath.Join(r.Path(), uidA, "outside"))
	symlink(t, "../"+uidB, filepath.Join(r.Path(), uidA, "other"))

	if _, err := r.Remove(uidA); err != nil {
		t.Fatal(err)
	}

	for _, path := range []string{filepath.Join(outside, "keep"), filepath.Join(r.Path(), uidB, "keep")} {
		if _, err := os.Stat(path); err != nil {
			t.Errorf("the target of a link was removed: %v", err)
		}
	}
}

// asUser calls fn with the rights of a user who is not root, in which file permissions hold.
func asUser(t *testing.T, fn func()) {
	t.Helper()

	if os.Geteuid() != 0 {
		fn()

		return
	}

	done := make(chan struct{})

	go func() {
		defer close(done)
		// The thread ends with this goroutine, because it stays locked to it.
		runtime.LockOSThread()

		if err := unix.Setfsuid(65534); err != nil {
			t.Error(err)
		}

		fn()
	}()

	<-done
}

// TestRemoveReadOnly removes directories in which no user may remove anything, as the module cache
// of Go and some archives have them, with the states in them.
func TestRemoveReadOnly(t *testing.T) {
	t.Parallel()

	parent := t.TempDir()
	if err := errors.Join(os.Chmod(filepath.Dir(parent), 0o755), os.Chmod(parent, 0o777)); err != nil {
		t.Fatal(err)
	}

	asUser(t, func() {
		r, err := Open(filepath.Join(parent, "root"), maxUse)
		if err != nil {
			t.Error(err)

			return
		}

		for name, mode := range map[string]fs.FileMode{
			uidA + "/.terraform/read-only": 0o555,
			uidA + "/read-only":            0o555,
			uidA + "/closed":               0o000,
			".deleting-" + uidB + "/a/b/c": 0o500,
		} {
			dir := filepath.Join(r.Path(), name)
			if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, "errored.tfstate"), []byte("state"), 0o600), os.Chmod(dir, mode)); err != nil {
				t.Error(err)
			}
		}

		if err := r.RemoveRemains(); err != nil {
			t.Errorf("RemoveRemains(): %v", err)
		}

		if gone, err := r.Remove(uidA); !gone || err != nil {
			t.Errorf("Remove(...): want it to go, got %t and error %v", gone, err)
		}
	})

	want := files{
		".unsaved-states/" + uidA + "/read-only/errored.tfstate": "state",
		".unsaved-states/" + uidA + "/closed/errored.tfstate":    "state",
	}
	if diff := cmp.Diff(want, filesystem.Read(t, filepath.Join(parent, "root"))); diff != "" {
		t.Errorf("files: -want, +got:\n%s", diff)
	}
}

// TestRemoveHalfway ensures that an incomplete removal is reported, that the rest does not count as
// the directory of a Workspace, and that it is no obstacle for other directories.
func TestRemoveHalfway(t *testing.T) {
	t.Parallel()

	r := openRoot(t)
	errStuck := errors.New("stuck")
	r.removeAll = func(name string) error {
		if _, err := r.dir.Lstat(name); err == nil && name == ".deleting-"+uidA {
			return errStuck
		}

		return r.dir.RemoveAll(name)
	}

	for _, name := range []string{uidA, uidB, ".deleting-" + uidC} {
		write(t, filepath.Join(r.Path(), name, "file"), "")
	}

	if gone, err := r.Remove(uidA); !gone || !errors.Is(err, errStuck) {
		t.Errorf("Remove(...) of a directory with a file that stays: want it to be gone and error %v, got %t and %v", errStuck, gone, err)
	}

	got, err := r.List()
	if diff := cmp.Diff([]string{uidB}, got); diff != "" || err != nil {
		t.Errorf("List() after half a removal: error %v, -want, +got:\n%s", err, diff)
	}

	if gone, err := r.Remove(uidB); !gone || err != nil {
		t.Errorf("Remove(...) of another directory: want it to go, got %t and error %v", gone, err)
	}

	if err := r.RemoveRemains(); !errors.Is(err, errStuck) {
		t.Errorf("RemoveRemains(): want error %v, got %v", errStuck, err)
	}

	if diff := cmp.Diff([]string{".deleting-" + uidA, recordsDir}, filesystem.Names(t, r.Path())); diff != "" {
		t.Errorf("left: -want, +got:\n%s", diff)
	}
}

// TestRemoveRemains ensures that the rest of a removal goes, and nothing else. What was recorded about it goes with the next sweep.
func TestRemoveRemains(t *testing.T) {
	t.Parallel()

	r := openRoot(t)
	for _, name := range []string{".deleting-" + uidA, uidB, ".deleting-plugins", recordsDir + "/" + uidA, recordsDir + "/" + uidB} {
		write(t, filepath.Join(r.Path(), name, "file"), "")
	}

	if err := r.RemoveRemains(); err != nil {
		t.Error(err)
	}

	if diff := cmp.Diff([]string{".deleting-plugins", recordsDir, uidB}, filesystem.Names(t, r.Path())); diff != "" {
		t.Errorf("left: -want, +got:\n%s", diff)
	}

	if _, err := r.Sweep(t.Context(), func(*Dir) error { return nil }); err != nil {
		t.Error(err)
	}

	if diff := cmp.Diff([]string{uidB}, filesystem.Names(t, filepath.Join(r.Path(), recordsDir))); diff != "" {
		t.Errorf("records: -want, +got:\n%s", diff)
	}
}

// TestRemoveInUse removes the directory of a run that has not ended.
func TestRemoveInUse(t *testing.T) {
	t.Parallel()

	r := openRoot(t)
	d := dirOf(t, r, uidA)

	done, err := d.Use(t.Context())
	if err != nil {
		t.Fatal(err)
	}

	for _, want := range []bool{false, true} {
		gone, err := r.Remove(uidA)
		if gone != want || err != nil {
			t.Errorf("Remove(...): want %t, got %t and error %v", want, gone, err)
		}

		if _, err := os.Stat(filepath.Join(r.Path(), uidA)); os.IsNotExist(err) != want {
			t.Errorf("Remove(...) said %t about %v", gone, err)
		}

		done()
	}
}

// TestRemoveKeepsStates removes a directory with states that no run could save, and states without
// a backend, at several depths. States that record nothing, and other files of similar names, are
// removed.
func TestRemoveKeepsStates(t *testing.T) {
	t.Parallel()

	r := openRoot(t)
	d := dirOf(t, r, uidA)
	dirOf(t, r, uidB)
	syncDir(t, d, map[string]File{"main.tf": text("module"), "secret": secret("sesame")})

	outside := filepath.Join(t.TempDir(), "outside")
	write(t, outside, "outside")

	other := filepath.Join(t.TempDir(), "other-path-of-root")
	symlink(t, r.Path(), other)

	const resources = `{"version": 4, "resources": [{"mode": "data", "instances": []}, {"mode": "managed", "instances": [{}]}]}`

	left := files{
		"errored.tfstate": "unsaved",
		"errored.tfstate.superseded-20260101T000000": "superseded",
		"sub/dir/errored.tfstate":                    "of an entrypoint",
		".terraform/modules/m/errored.tfstate":       "of a module",
		"errored.tfstate.d/file":                     "no state",
		"terraform.tfstate":                          resources,
		"terraform.tfstate.backup":                   resources,
		"terraform.tfstate.d/ws/terraform.tfstate":   resources,
		"sub/terraform.tfstate":                      `{"version": 4, "encrypted_data": "c3RhdGU="}`,
		"sub/dir/terraform.tfstate":                  "of another version",
		"destroyed/terraform.tfstate":                `{"version": 4, "resources": []}`,
		"read/terraform.tfstate":                     `{"version": 4, "resources": [{"mode": "data", "instances": [{}]}]}`,
		"removed/terraform.tfstate":                  `{"version": 4, "resources": [{"mode": "managed", "instances": []}]}`,
		"locked/terraform.tfstate":                   "",
		".terraform/terraform.tfstate":               `{"version": 3, "backend": {}}`,
		// A backend "local" with a path.
		"local/.terraform/terraform.tfstate":     `{"version": 3, "backend": {"type": "local", "config": {"path": "states/team.tfstate"}}}`,
		"named/.terraform/terraform.tfstate":     `{"version": 3, "backend": {"type": "local", "config": {"path": "terraform.tfstate"}}}`,
		"named/terraform.tfstate":                resources,
		"remote/main.tf":                         resources,
		"local/states/team.tfstate":              resources,
		"absolute/.terraform/terraform.tfstate":  `{"version": 3, "backend": {"type": "local", "config": {"path": "` + d.Path() + `/absolute/team.tfstate"}}}`,
		"absolute/team.tfstate":                  resources,
		"linked/.terraform/terraform.tfstate":    `{"version": 3, "backend": {"type": "local", "config": {"path": "` + filepath.Join(other, uidA) + `/linked/team.tfstate"}}}`,
		"linked/team.tfstate":                    resources,
		"elsewhere/.terraform/terraform.tfstate": `{"version": 3, "backend": {"type": "local", "config": {"path": "` + outside + `"}}}`,
		"of-b/.terraform/terraform.tfstate":      `{"version": 3, "backend": {"type": "local", "config": {"path": "../../` + uidB + `/file"}}}`,
		"none/.terraform/terraform.tfstate":      `{"version": 3, "backend": {"type": "local", "config": {"path": "none.tfstate"}}}`,
		"remote/.terraform/terraform.tfstate":    `{"version": 3, "backend": {"type": "s3", "config": {"path": "main.tf"}}}`,
	}
	for name, content := range left {
		write(t, filepath.Join(d.Path(), name), content)
	}

	write(t, filepath.Join(r.Path(), uidB, "file"), resources)

	if err := os.Chmod(filepath.Join(d.Path(), "errored.tfstate"), 0o644); err != nil {
		t.Fatal(err)
	}

	symlink(t, outside, filepath.Join(d.Path(), "errored.tfstate.link"))

	for _, uid := range []string{uidA, uidB} {
		if gone, err := r.Remove(uid); !gone || err != nil {
			t.Fatalf("Remove(%s): want it to go, got %t and error %v", uid, gone, err)
		}
	}

	want := files{
		".unsaved-states/" + uidA + "/errored.tfstate":                            "unsaved",
		".unsaved-states/" + uidA + "/errored.tfstate.superseded-20260101T000000": "superseded",
		".unsaved-states/" + uidA + "/sub/dir/errored.tfstate":                    "of an entrypoint",
		".unsaved-states/" + uidA + "/terraform.tfstate":                          resources,
		".unsaved-states/" + uidA + "/terraform.tfstate.d/ws/terraform.tfstate":   resources,
		".unsaved-states/" + uidA + "/sub/terraform.tfstate":                      left["sub/terraform.tfstate"],
		".unsaved-states/" + uidA + "/sub/dir/terraform.tfstate":                  "of another version",
		".unsaved-states/" + uidA + "/local/states/team.tfstate":                  resources,
		".unsaved-states/" + uidA + "/named/terraform.tfstate":                    resources,
		".unsaved-states/" + uidA + "/absolute/team.tfstate":                      resources,
		".unsaved-states/" + uidA + "/linked/team.tfstate":                        resources,
	}
	if diff := cmp.Diff(want, filesystem.Read(t, r.Path())); diff != "" {
		t.Errorf("files: -want, +got:\n%s", diff)
	}

	for name := range want {
		info, err := os.Stat(filepath.Join(r.Path(), name))
		if err != nil {
			t.Fatal(err)
		}

		if diff := cmp.Diff(os.FileMode(0o600), info.Mode()); diff != "" {
			t.Errorf("mode of %s: -want, +got:\n%s", name, diff)
		}
	}

	got, err := r.Unsaved()
	if diff := cmp.Diff([]string{uidA}, got); diff != "" || err != nil {
		t.Errorf("Unsaved(): error %v, -want, +got:\n%s", err, diff)
	}

	listed, err := r.List()
	if diff := cmp.Diff([]string{}, listed, cmpopts.EquateEmpty()); diff != "" || err != nil {
		t.Errorf("List(): error %v, -want, +got:\n%s", err, diff)
	}
}
