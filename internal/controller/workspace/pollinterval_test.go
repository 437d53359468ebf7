// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
)

// TestIgnoredInterval ensures that people learn that their poll interval has no effect.
func TestIgnoredInterval(t *testing.T) {
	t.Parallel()

	for value, want := range map[string][]string{
		"":    nil,
		"24h": nil,
		"1d":  {`annotation crossplane.io/poll-interval: No effect: "1d" is no positive duration such as 90m or 24h`},
		"-1h": {`annotation crossplane.io/poll-interval: No effect: "-1h" is no positive duration such as 90m or 24h`},
	} {
		r := newAttempt(t, with(owner))
		meta.AddAnnotations(r.ws, map[string]string{meta.AnnotationKeyPollInterval: value})
		r.planned(terraform.Plan{}, ownState())

		if err := r.observeInConnect(t.Context(), r.ws); err != nil {
			t.Fatal(err)
		}

		if diff := cmp.Diff(want, r.ws.GetObservation().Warnings); diff != "" {
			t.Errorf("%q: warnings: -want, +got:\n%s", value, diff)
		}
	}
}
