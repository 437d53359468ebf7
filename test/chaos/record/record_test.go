// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package record

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestReadDuringWrite reads a file of which the last event is not complete yet: the system
// makes a write visible page by page.
func TestReadDuringWrite(t *testing.T) {
	t.Parallel()

	name, want := filepath.Join(t.TempDir(), "runs"), []Event{{Kind: Start, Time: 1, UID: "a", PID: 2}}

	for _, e := range want {
		if err := Append(name, e); err != nil {
			t.Fatal(err)
		}
	}

	f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()

	if _, err := f.WriteString(`{"kind":"start","time":17`); err != nil {
		t.Fatal(err)
	}

	got, err := Read(name)
	if err != nil {
		t.Fatalf("Read(...): %v", err)
	}

	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Read(...): -want, +got:\n%s", diff)
	}
}
