// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package claim

import (
	"testing"

	"github.com/crossplane-contrib/provider-terraform/test/explore"
)

// TestModel ensures that with every rule, no order of moves leads to an error.
func TestModel(t *testing.T) {
	t.Parallel()
	explore.ExpectSafe(t, worlds())
}

// TestModelWithMoreFaults adds one fault of each kind, one kind at a time.
func TestModelWithMoreFaults(t *testing.T) {
	t.Parallel()
	explore.ExpectSafeWithMoreFaults(t, worlds, func(m *model) []*uint8 { return m.faults.each() })
}
