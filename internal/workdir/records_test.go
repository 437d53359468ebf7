// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workdir

import (
	"os"
	"path/filepath"
	"testing"
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
