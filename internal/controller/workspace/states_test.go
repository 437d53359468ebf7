// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestStates(t *testing.T) {
	t.Parallel()

	s := NewStates()
	first := s.use("a")
	second := s.use("a")

	if !s.shared("a") || s.shared("b") {
		t.Errorf("two users of a: shared(a) is %t, shared(b) is %t", s.shared("a"), s.shared("b"))
	}

	first()

	if s.shared("a") {
		t.Error("one user of a: shared(a) is true")
	}

	second()

	if diff := cmp.Diff(map[string]int{}, s.users); diff != "" {
		t.Errorf("nobody uses a: -want, +got:\n%s", diff)
	}
}
