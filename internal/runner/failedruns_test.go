// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/statelock"
	"github.com/crossplane-contrib/provider-terraform/internal/workdir"
	"github.com/crossplane-contrib/provider-terraform/test/wait"
)

// TestWriteFailedRuns ensures that nothing removes secrets from the directory while a run is recorded in it: what is
// half written would be gone with them.
func TestWriteFailedRuns(t *testing.T) {
	t.Parallel()

	p := newPlace(t)
	r := p.stubbed(t, firstUID)

	swept := func() (n int) {
		t.Helper()

		if _, err := p.root.Sweep(t.Context(), func(*workdir.Dir) error {
			n++

			return nil
		}); err != nil {
			t.Fatal(err)
		}

		return n
	}

	want := []statelock.Run{{Who: "root@host", Start: time.Unix(1, 0).UTC()}}
	if err := r.WriteFailedRuns(t.Context(), want, false); err != nil {
		t.Fatal(err)
	}

	if diff := cmp.Diff(want, r.FailedRuns()); diff != "" {
		t.Errorf("recorded runs: -want, +got:\n%s", diff)
	}

	if n := swept(); n != 0 {
		t.Error("want the directory to be in use while a run is recorded")
	}

	if err := r.Close(); err != nil {
		t.Fatal(err)
	}

	// A process that another test starts has a copy of the lock until it runs its program.
	if err := wait.Until(t.Context(), wait.Patience, func() error {
		if n := swept(); n != 1 {
			return errors.Errorf("want one directory to be swept after Close, got %d", n)
		}

		return nil
	}); err != nil {
		t.Error(err)
	}
}
