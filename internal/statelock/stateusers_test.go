// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package statelock

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestStateUsers(t *testing.T) {
	t.Parallel()

	s := NewStateUsers()
	first := s.Use("a")
	second := s.Use("a")

	if !s.UsedByOthers("a") || s.UsedByOthers("b") {
		t.Errorf("two users of a: UsedByOthers(a) is %t, UsedByOthers(b) is %t", s.UsedByOthers("a"), s.UsedByOthers("b"))
	}

	first()

	if s.UsedByOthers("a") {
		t.Error("one user of a: UsedByOthers(a) is true")
	}

	third := s.Use("a")

	if !s.UsedByOthers("a") {
		t.Error("two users of a again: UsedByOthers(a) is false")
	}

	second()
	third()

	if diff := cmp.Diff(map[string]int{}, s.users); diff != "" {
		t.Errorf("no user of a: -want, +got:\n%s", diff)
	}
}
