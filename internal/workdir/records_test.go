// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workdir

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRecordsOfEarlierDirectory ensures that the records of a directory end with it: they say that its state is there.
func TestRecordsOfEarlierDirectory(t *testing.T) {
	t.Parallel()

	r := openRoot(t)
	for _, want := range []bool{false, true} {
		d := dirOf(t, r, uidA)
		if found, err := d.ReadRun(new(string)); found != want || err != nil {
			t.Errorf("ReadRun(...): want %t, got %t and error %v", want, found, err)
		}

		if err := d.WriteRun("a"); err != nil {
			t.Fatal(err)
		}
	}

	if err := os.RemoveAll(filepath.Join(r.Path(), uidA)); err != nil {
		t.Fatal(err)
	}

	if found, err := dirOf(t, r, uidA).ReadRun(new(string)); found || err != nil {
		t.Errorf("ReadRun(...) in a new directory: want nothing, got %t and error %v", found, err)
	}
}

// TestRecords ensures that a record is the last one, or none, and that it is kept when others change.
func TestRecords(t *testing.T) {
	t.Parallel()

	const (
		name  = "runs.json"
		limit = 100
	)

	d := newDir(t)
	expect := func(reason string, want []string) {
		t.Helper()

		var got []string
		if found, err := d.ReadRecord(name, &got, limit); found != (want != nil) || err != nil {
			t.Errorf("%s: want %t, got %t and error %v", reason, want != nil, found, err)
		}

		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: -want, +got:\n%s", reason, diff)
		}
	}

	expect("nothing was written", nil)

	for _, record := range [][]string{{"a"}, {"a", "b"}} {
		if err := d.WriteRecord(name, record, limit, len(record) > 1); err != nil {
			t.Fatal(err)
		}

		expect("written", record)
	}

	if err := d.Sync(nil); err != nil {
		t.Fatal(err)
	}

	expect("inputs have changed", []string{"a", "b"})

	for range 2 {
		if err := d.RemoveRecord(name); err != nil {
			t.Fatal(err)
		}
	}

	expect("removed", nil)

	// A module can write anything there.
	if err := os.WriteFile(filepath.Join(d.Records(), name), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}

	if _, err := d.ReadRecord(name, &[]string{}, limit); err == nil {
		t.Error("a broken record: want an error")
	}
}
