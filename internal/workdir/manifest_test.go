// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workdir

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRun ensures that the record of a run is the last one, or none, and that it is kept when
// other records in the directory change.
func TestRun(t *testing.T) {
	t.Parallel()

	type run struct {
		Serial int `json:"serial"`
	}

	d := newDir(t)
	if found, err := d.ReadRun(&run{}); found || err != nil {
		t.Errorf("ReadRun(...) before any run: want none, got %t and error %v", found, err)
	}

	for serial := range 3 {
		if err := d.WriteRun(run{Serial: serial}); err != nil {
			t.Fatal(err)
		}
	}

	syncDir(t, d, map[string]File{"a": text("a")})
	replaceTree(t, d, "v1", files{"main.tf": "m"})
	mkdir(t, filepath.Join(d.Path(), dataDir), 0o700)
	mark(t, d, "", "digest")

	got := run{}
	if found, err := d.ReadRun(&got); !found || err != nil {
		t.Errorf("ReadRun(...): want a run, got %t and error %v", found, err)
	}

	if diff := cmp.Diff(run{Serial: 2}, got); diff != "" {
		t.Errorf("ReadRun(...): -want, +got:\n%s", diff)
	}

	// The other records stay when the run is recorded.
	if err := d.WriteRun(run{}); err != nil {
		t.Fatal(err)
	}

	if got := []string{d.TreeRevision(), d.Initialized("")}; !cmp.Equal(got, []string{"v1", "digest"}) {
		t.Errorf("module and init after another run: want %q, got %q", []string{"v1", "digest"}, got)
	}

	if err := d.Close(); err != nil {
		t.Fatal(err)
	}

	if err := d.WriteRun(run{}); err == nil {
		t.Error("WriteRun(...) in a directory that is closed: want an error")
	}
}

// TestRecordTooLarge ensures that no record is written that could not be read again, and that the
// earlier one stays.
func TestRecordTooLarge(t *testing.T) {
	t.Parallel()

	if testing.Short() {
		t.Skip("the race detector makes the record slow")
	}

	d := newDir(t)
	if err := d.WriteRun("first"); err != nil {
		t.Fatal(err)
	}

	const want = "cannot write the record of the working directory: it would have more than 64.0 MiB: use a module with fewer files"
	if err := d.WriteRun(strings.Repeat("x", maxManifest)); err == nil || err.Error() != want {
		t.Errorf("WriteRun(...) of a record that is too large: want error %q, got %v", want, err)
	}

	got := ""
	if found, err := d.ReadRun(&got); !found || err != nil || got != "first" {
		t.Errorf("ReadRun(...): want %q, got %t, %q and error %v", "first", found, got, err)
	}
}
