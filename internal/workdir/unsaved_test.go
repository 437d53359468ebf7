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
