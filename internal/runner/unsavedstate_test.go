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
		"Directory":     {reason: "It cannot be saved.", files: filesystem.Files{"b/" + name + "/x": ""}, err: "it is not a regular file: remove it"},
		"BadEntrypoint": {reason: "A directory of that name is impossible.", ran: strings.Repeat("a", 300)},
		"NotADirectory": {reason: "A file is in its place.", ran: "a/b", files: filesystem.Files{"a": ""}},
		"NoAccess":      {reason: "There may be a state.", ran: "a/b", files: filesystem.Files{"a/b/" + name: "{}"}, closed: "a", err: "cannot check for a state that was not saved"},
		"BadRecord":     {reason: "Where the CLI ran is not known.", files: filesystem.Files{".crossplane.json": "{"}, err: "cannot read which state there was"},
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

	record := RunRecord{StateSummary: commonv1beta1.StateSummary{Lineage: "l", Serial: 3}, Taken: time.Unix(1, 0).UTC(), Dir: "elsewhere"}
	if err := r.WriteRunRecord(record); err != nil {
		t.Fatal(err)
	}

	if got, err = r.RunRecord(); err != nil {
		t.Fatal(err)
	}

	record.Dir = "a/b"
	if diff := cmp.Diff(&record, got); diff != "" {
		t.Errorf("RunRecord(): -want, +got:\n%s", diff)
	}
}
