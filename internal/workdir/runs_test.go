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

func TestRuns(t *testing.T) {
	t.Parallel()

	d := newDir(t)
	expect := func(reason string, want []string) {
		t.Helper()

		var got []string
		if err := d.NotedRuns(&got); err != nil {
			t.Errorf("%s: %v", reason, err)
		}

		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: -want, +got:\n%s", reason, diff)
		}
	}

	expect("nothing was noted", nil)

	for _, runs := range [][]string{{"a"}, {"a", "b"}} {
		if err := d.NoteRuns(runs, len(runs) > 1); err != nil {
			t.Fatal(err)
		}

		expect("noted", runs)
	}

	if err := d.Sync(nil); err != nil {
		t.Fatal(err)
	}

	expect("inputs have changed", []string{"a", "b"})

	for range 2 {
		if err := d.ForgetRuns(); err != nil {
			t.Fatal(err)
		}
	}

	expect("forgotten", nil)

	// A module can write anything there.
	if err := os.WriteFile(filepath.Join(d.Records(), runsName), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}

	if err := d.NotedRuns(&[]string{}); err == nil {
		t.Error("broken notes: want an error")
	}
}
