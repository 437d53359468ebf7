// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workdir

import (
	"path/filepath"
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
