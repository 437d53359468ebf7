// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package lease

import (
	"testing"

	"github.com/crossplane-contrib/provider-terraform/test/explore"
)

// With every rule, nothing goes wrong, for all moves in all orders.
func TestModel(t *testing.T) {
	t.Parallel()
	explore.ExpectSafe(t, worlds())
}

// The same with one more fault of each kind that there is, one kind at a time.
func TestModelWithMoreFaults(t *testing.T) {
	t.Parallel()
	explore.ExpectSafeWithMoreFaults(t, worlds, func(m *model) []*uint8 { return m.faults.each() })
}
