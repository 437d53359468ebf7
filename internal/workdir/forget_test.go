// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workdir

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-terraform/test/filesystem"
)

// localRecord is what init records of a backend "local" with a path.
const localRecord = `{"version": 3, "backend": {"type": "local", "config": {"path": "team.state"}}}`

func TestForget(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		// inputs are given to Sync. present are files of other writers.
		inputs  map[string]File
		present files
		want    files
	}{
		"Inputs": {
			reason:  "A partial backend configuration is an input. Other files are not the provider's.",
			inputs:  map[string]File{"main.tf": text("a"), "sub/backend": text("password"), "creds": secret("s")},
			present: files{"terraform.tfstate": "state", "terraform.tfstate.d/w/terraform.tfstate": "state", "errored.tfstate": "state"},
			want:    files{"terraform.tfstate": "state", "terraform.tfstate.d/w/terraform.tfstate": "state", "errored.tfstate": "state"},
		},
		"Backend": {
			reason:  "Init records the backend configuration.",
			present: files{".terraform/terraform.tfstate": `{"version": 3, "backend": {"type": "http", "config": {"password": "p"}}}`, ".terraform/modules/modules.json": "{}"},
			want:    files{},
		},
		"Entrypoint": {
			reason:  "Init records it in the directory that it runs in.",
			present: files{"envs/prod/.terraform/terraform.tfstate": `{"backend": {}}`, "envs/prod/main.tf": "m"},
			want:    files{"envs/prod/main.tf": "m"},
		},
		"LocalBackend": {
			reason:  "It may keep states anywhere.",
			present: files{".terraform/states/prod.tfstate": "state"},
			want:    files{".terraform/states/prod.tfstate": "state"},
		},
		"Path": {
			reason:  "Only the record of a local backend says where its state is. It has no credentials.",
			present: files{".terraform/terraform.tfstate": localRecord, ".terraform/modules/modules.json": "{}", "team.state": "state"},
			want:    files{".terraform/terraform.tfstate": localRecord, "team.state": "state"},
		},
		"PathOfNothing": {
			reason:  "Init would compare such a record with a backend that was changed elsewhere.",
			present: files{".terraform/terraform.tfstate": localRecord},
			want:    files{},
		},
		"Nothing": {
			reason: "The directory may be empty.",
			want:   files{},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDir(t)
			syncDir(t, d, tc.inputs)
			filesystem.Write(t, d.Path(), tc.present)
			mkdir(t, filepath.Join(d.Path(), dataDir), 0o700)
			mark(t, d, "", "digest")

			for range 2 {
				if err := d.Forget(); err != nil {
					t.Fatalf("%s\nForget(): %v", tc.reason, err)
				}
			}

			if diff := cmp.Diff(tc.want, content(t, d.Path())); diff != "" {
				t.Errorf("%s\nfiles: -want, +got:\n%s", tc.reason, diff)
			}

			if got := d.Initialized(""); got != "" {
				t.Errorf("%s\nInitialized(...): want none, got %q", tc.reason, got)
			}
		})
	}
}

// TestForgetThenRemove removes a directory after its secrets: the state in it stays.
func TestForgetThenRemove(t *testing.T) {
	t.Parallel()

	r := openRoot(t)
	d := dirOf(t, r, uidA)
	filesystem.Write(t, d.Path(), files{".terraform/terraform.tfstate": localRecord, "team.state": "state"})

	if err := d.Forget(); err != nil {
		t.Fatal(err)
	}

	if gone, err := r.Remove(uidA); !gone || err != nil {
		t.Errorf("Remove(...): want it to go, got %t and error %v", gone, err)
	}

	want := files{".unsaved-states/" + uidA + "/team.state": "state"}
	if diff := cmp.Diff(want, filesystem.Read(t, r.Path())); diff != "" {
		t.Errorf("files: -want, +got:\n%s", diff)
	}
}

func TestLastRun(t *testing.T) {
	t.Parallel()

	d := newDir(t)

	want := time.Date(2020, time.January, 1, 0, 0, 0, 0, time.UTC)
	if err := os.Chtimes(d.Records(), want, want); err != nil {
		t.Fatal(err)
	}

	if got, err := d.LastRun(); err != nil || !got.Equal(want) {
		t.Errorf("LastRun(): want %s, got %s and error %v", want, got, err)
	}

	// A clock that was ahead must not protect the directory until that time.
	future := time.Now().Add(24 * time.Hour)
	if err := os.Chtimes(d.Records(), future, future); err != nil {
		t.Fatal(err)
	}

	for range 2 {
		if got, err := d.LastRun(); err != nil || time.Since(got) < 0 || time.Since(got) > time.Minute {
			t.Errorf("LastRun() of the future: want about now, got %s and error %v", got, err)
		}
	}

	info, err := os.Stat(d.Path())
	if err != nil {
		t.Fatal(err)
	}

	if info.ModTime().After(time.Now()) {
		t.Errorf("a last run of the future does not age: it was at %s", info.ModTime())
	}
}
