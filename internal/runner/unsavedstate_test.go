// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/test/filesystem"
)

// TestUnsavedState ensures that a state which a run could not save is found where the CLI runs now
// and where it ran then, and that no other file counts as one.
func TestUnsavedState(t *testing.T) {
	t.Parallel()

	const name = "errored.tfstate"

	cases := map[string]struct {
		reason string
		// ran is the entrypoint of the recorded run, empty if there is no record.
		ran   string
		files filesystem.Files
		// closed is a directory that this process may not use.
		closed string
		want   string
		err    string
	}{
		"None":          {reason: "All runs have saved it.", ran: "a", files: filesystem.Files{"a/main.tf": "", "b/main.tf": ""}},
		"Here":          {reason: "It is where the CLI runs.", files: filesystem.Files{"b/" + name: "{}"}, want: "b/" + name},
		"There":         {reason: "The entrypoint was another one.", ran: "a", files: filesystem.Files{"a/" + name: "{}", "b/main.tf": ""}, want: "a/" + name},
		"Both":          {reason: "The first one is saved first.", ran: "a", files: filesystem.Files{"a/" + name: "{}", "b/" + name: "{}"}, want: "b/" + name},
		"NoDirectory":   {reason: "The new entrypoint may be missing.", ran: "a", files: filesystem.Files{"a/" + name: "{}"}, want: "a/" + name},
		"Unrelated":     {reason: "It belongs to the module.", files: filesystem.Files{"b/main.tf": "", "a/" + name: "{}"}},
		"Link":          {reason: "A link may lead to the state of another Workspace.", files: filesystem.Files{"b/" + name: "-> ../other"}, err: "it is not a regular file: remove it"},
		"Empty":         {reason: "There was no room for it.", files: filesystem.Files{"b/" + name: ""}, err: `b/errored.tfstate" is empty, because there was no room for it`},
		"Directory":     {reason: "It cannot be saved.", files: filesystem.Files{"b/" + name + "/x": ""}, err: "it is not a regular file: remove it"},
		"BadEntrypoint": {reason: "A directory of that name is impossible.", ran: strings.Repeat("a", 300)},
		"NotADirectory": {reason: "A file is in its place.", ran: "a/b", files: filesystem.Files{"a": ""}},
		"NoAccess":      {reason: "There may be a state.", ran: "a/b", files: filesystem.Files{"a/b/" + name: "{}"}, closed: "a", err: "cannot check for a state that was not saved"},
		"BadRecord":     {reason: "Where the CLI ran is not known.", files: filesystem.Files{"../.records/" + firstUID + "/manifest.json": "{"}, err: "cannot read which state there was"},
	}

	for testName, tc := range cases {
		t.Run(testName, func(t *testing.T) {
			t.Parallel()

			p := newPlace(t)

			if tc.ran != "" {
				before := p.stubbed(t, firstUID, entrypoint(tc.ran))
				if err := before.WriteRunRecord(RunRecord{}); err != nil {
					t.Fatal(err)
				}
			}

			r := p.stubbed(t, firstUID, entrypoint("b"))
			filesystem.Write(t, r.Dir.Path(), tc.files)

			want := ""
			if tc.want != "" {
				want = pathIn(r, tc.want)
			}

			if tc.closed != "" {
				closeDir(t, pathIn(r, tc.closed))
			}

			got, err := r.UnsavedState()
			expectError(t, tc.reason, tc.err, err)

			if got != want {
				t.Errorf("\n%s\nUnsavedState(): want %q, got %q", tc.reason, want, got)
			}
		})
	}
}

// closeDir removes the permissions on a directory until the test ends, and the privilege of this
// thread to use it nevertheless. The thread ends with the test.
func closeDir(t *testing.T, path string) {
	t.Helper()
	t.Cleanup(func() { _ = os.Chmod(path, 0o700) })

	if err := os.Chmod(path, 0); err != nil {
		t.Fatal(err)
	}

	runtime.LockOSThread()

	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	data := [2]unix.CapUserData{}

	if err := unix.Capget(&header, &data[0]); err != nil {
		t.Fatal(err)
	}

	data[0].Effective &^= 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_DAC_READ_SEARCH

	if err := unix.Capset(&header, &data[0]); err != nil {
		t.Fatal(err)
	}
}

// TestRunRecord ensures that a record is read as it was written, with the directory of the run.
func TestRunRecord(t *testing.T) {
	t.Parallel()

	p := newPlace(t)
	r := p.stubbed(t, firstUID, entrypoint("/a//b"))

	got, err := r.RunRecord()
	if got != nil || err != nil {
		t.Errorf("RunRecord() before a run: want none, got %v and error %v", got, err)
	}

	record := RunRecord{StateSummary: commonv1beta1.StateSummary{Lineage: "l", Serial: 3}, Taken: time.Unix(1, 0).UTC()}

	for dir, want := range map[string]string{"": "a/b", "elsewhere": "elsewhere"} {
		record.Dir = dir
		if err := r.WriteRunRecord(record); err != nil {
			t.Fatal(err)
		}

		if got, err = r.RunRecord(); err != nil {
			t.Fatal(err)
		}

		record.Dir = want
		if diff := cmp.Diff(&record, got); diff != "" {
			t.Errorf("RunRecord(): -want, +got:\n%s", diff)
		}
	}
}

// TestUseUnsavedState ensures that the runs use the unsaved state in place of the backend, only then, and
// that nothing can copy a state.
func TestUseUnsavedState(t *testing.T) {
	t.Parallel()

	const (
		overridden = `[ -e crossplane-provider-terraform_override.tf ]`
		record     = `states=${TF_DATA_DIR%/*}/states; [ -n "$TF_DATA_DIR" ] && echo '{"backend":{"type":"local","config":{"workspace_dir":"'$states'"}}}' > "$TF_DATA_DIR/terraform.tfstate"`
		usual      = initRun + " -backend-config=DIR/crossplane.remote.tfbackend -backend-config a=b -upgrade=false -backend-config=c=d"
	)

	cases := map[string]struct {
		reason string
		init   string
		err    string
		ran    []string
	}{
		"Used": {
			reason: "The state in the backend is older.",
			init:   record,
			ran:    []string{usual, initRun + " -upgrade=false", "state pull -no-color", "state push -no-color -- DIR/errored.tfstate"},
		},
		"Overridden": {
			reason: "The module leads to another state.",
			err:    "a file of the module overrides the backend",
			ran:    []string{usual, initRun + " -upgrade=false", "state push -no-color -- DIR/errored.tfstate"},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			p := newPlace(t)
			r := p.stubbed(t, firstUID, partialBackend, func(s *subject) {
				s.InitArgs = []string{"-backend-config", "a=b", "-upgrade=false", "-backend-config=c=d"}
			})
			path := pathIn(r, "errored.tfstate")

			p.answer(t, "init", "mkdir .terraform/providers", tc.init)
			filesystem.Write(t, r.Dir.Path(), filesystem.Files{"errored.tfstate": "kept"})

			if err := r.Prepare(t.Context()); err != nil {
				t.Fatal(err)
			}

			if err := r.UseUnsavedState(path); err != nil {
				t.Fatal(err)
			}

			// What the backend "local" writes is what the next run saves.
			p.answer(t, "state", overridden+` && [ -d "$TF_DATA_DIR/providers" ] && printf changed > ${TF_DATA_DIR%/*}/states/ws/terraform.tfstate`, "! "+overridden+` && [ -z "$TF_DATA_DIR" ] && [ `+"$(cat errored.tfstate)"+` != kept ] || exit 1`)

			_, err := r.State(t.Context())
			if tc.err != "" {
				expectError(t, tc.reason, tc.err, err)
				p.answer(t, "state", "true")
			}

			if b := r.KubernetesBackend(); b != (KubernetesBackend{}) {
				t.Errorf("%s: want no backend in a cluster, got %+v", tc.reason, b)
			}

			r.UseBackend()

			if err := r.PushState(t.Context(), path, nil); err != nil {
				t.Errorf("%s: want the changed state saved, got %v", tc.reason, err)
			}

			if diff := cmp.Diff(tc.ran, p.ran(t, r)); diff != "" {
				t.Errorf("%s: runs: -want, +got:\n%s", tc.reason, diff)
			}

			if err := r.Close(); err != nil {
				t.Fatal(err)
			}

			if _, err := os.Lstat(pathIn(r, unsavedDir)); !os.IsNotExist(err) {
				t.Errorf("%s: want the copies of the state removed, got %v", tc.reason, err)
			}
		})
	}
}

// TestUnsavedStateMoves ensures that an unsaved state reaches another backend: nothing else can move it there.
func TestUnsavedStateMoves(t *testing.T) {
	t.Parallel()

	p := newPlace(t)
	r := p.stubbed(t, firstUID)
	p.answer(t, "init", fails("Backend configuration changed"))
	filesystem.Write(t, r.Dir.Path(), filesystem.Files{"errored.tfstate": "{}"})

	if err := r.PushState(t.Context(), pathIn(r, "errored.tfstate"), nil); err != nil {
		t.Fatal(err)
	}

	if diff := cmp.Diff([]string{initRun, initRun + " -reconfigure", "state push -no-color -- DIR/errored.tfstate"}, p.ran(t, r)); diff != "" {
		t.Errorf("runs: -want, +got:\n%s", diff)
	}
}
