// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// TestDestroyWithoutLock ensures that a destroy does without a lock where nobody can make one.
func TestDestroyWithoutLock(t *testing.T) {
	t.Parallel()

	const (
		destroyRun  = "destroy -json -auto-approve -input=false -parallelism=3"
		terminating = "leases are forbidden: unable to create new content in namespace n because it is being terminated"
	)

	cases := map[string]struct {
		answer string
		ran    []string
		err    string
	}{
		"Terminating": {answer: fails(terminating), ran: []string{destroyRun, destroyRun + " -lock=false"}},
		"Locked":      {answer: fails("Error acquiring the state lock"), ran: []string{destroyRun}, err: "Error acquiring the state lock"},
		"Began": {
			answer: `echo '{"type":"apply_start","hook":{"resource":{"addr":"a.b"},"action":"delete"}}'; ` + fails("Failed to save state: "+terminating),
			ran:    []string{destroyRun}, err: "Failed to save state",
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			p := newPlace(t)
			p.answer(t, "destroy", tc.answer)

			r := p.stubbed(t, firstUID, func(s *subject) { s.DestroyArgs = []string{"-parallelism=3"} })
			_, err := r.Destroy(t.Context(), func() error { return nil }, nil)
			expectError(t, name, tc.err, err)

			if diff := cmp.Diff(append([]string{initRun}, tc.ran...), p.ran(t, r)); diff != "" {
				t.Errorf("runs: -want, +got:\n%s", diff)
			}
		})
	}
}

// TestDestroyInitializes ensures that nothing is destroyed after an init before the caller has
// checked the state again: the backend may be another one than before.
func TestDestroyInitializes(t *testing.T) {
	t.Parallel()

	const destroyRun = "destroy -json -auto-approve -input=false"

	cases := map[string]struct {
		again error
		ran   []string
	}{
		"Same":    {ran: []string{initRun, destroyRun, initRun, destroyRun}},
		"Changed": {again: errors.New("another state"), ran: []string{initRun, destroyRun, initRun}},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			p := newPlace(t)
			p.answer(t, "destroy", fails("Backend initialization required"))

			r := p.stubbed(t, firstUID)
			if _, err := r.Destroy(t.Context(), func() error { return tc.again }, nil); !errors.Is(err, tc.again) {
				t.Errorf("want the error %v, got %v", tc.again, err)
			}

			if diff := cmp.Diff(tc.ran, p.ran(t, r)); diff != "" {
				t.Errorf("runs: -want, +got:\n%s", diff)
			}
		})
	}
}
