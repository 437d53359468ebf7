// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workdir

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

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
			want: []string{uidB},
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
			want: []string{},
		},
		"InterruptedOther": {
			reason: "The remains of an earlier removal of another directory are removed, too: no list contains them.",
			prepare: func(t *testing.T, root string) {
				t.Helper()
				write(t, filepath.Join(root, ".deleting-"+uidB, "main.tf"), "")
			},
			uid:  uidA,
			want: []string{},
		},
		"Foreign": {
			reason: "Other hidden names are not the provider's.",
			prepare: func(t *testing.T, root string) {
				t.Helper()
				write(t, filepath.Join(root, ".deleting-plugins", "a"), "")
			},
			uid:  uidA,
			want: []string{".deleting-plugins"},
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

// TestRemoveHalfway ensures that an incomplete removal is reported, and that the rest does not
// count as the directory of a Workspace.
func TestRemoveHalfway(t *testing.T) {
	t.Parallel()

	if os.Geteuid() == 0 {
		t.Skip("file permissions do not hold for root")
	}

	r := openRoot(t)
	stuck := filepath.Join(r.Path(), uidA, "stuck")
	write(t, filepath.Join(stuck, "file"), "")

	if err := os.Chmod(stuck, 0o500); err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() {
		_ = os.Chmod(filepath.Join(r.Path(), ".deleting-"+uidA, "stuck"), 0o700)
	})

	if gone, err := r.Remove(uidA); gone || err == nil {
		t.Error("Remove succeeded although a file is left")
	}

	got, err := r.List()
	if err != nil {
		t.Fatal(err)
	}

	if diff := cmp.Diff([]string{}, got); diff != "" {
		t.Errorf("List after half a removal: -want, +got:\n%s", diff)
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
		"local/states/team.tfstate":              resources,
		"absolute/.terraform/terraform.tfstate":  `{"version": 3, "backend": {"type": "local", "config": {"path": "` + d.Path() + `/absolute/team.tfstate"}}}`,
		"absolute/team.tfstate":                  resources,
		"elsewhere/.terraform/terraform.tfstate": `{"version": 3, "backend": {"type": "local", "config": {"path": "` + outside + `"}}}`,
		"of-b/.terraform/terraform.tfstate":      `{"version": 3, "backend": {"type": "local", "config": {"path": "../../` + uidB + `/file"}}}`,
		"none/.terraform/terraform.tfstate":      `{"version": 3, "backend": {"type": "local", "config": {"path": "none.tfstate"}}}`,
		"remote/.terraform/terraform.tfstate":    `{"version": 3, "backend": {"type": "s3", "config": {"path": "main.tf"}}}`,
	}
	for name, content := range left {
		write(t, filepath.Join(d.Path(), name), content)
	}

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
		".unsaved-states/" + uidA + "/absolute/team.tfstate":                      resources,
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
