// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

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
