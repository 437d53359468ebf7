// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package claim

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		told := newTold()

		for _, step := range []struct {
			reason  string
			after   time.Duration
			message string
			again   time.Duration
			want    bool
		}{
			{reason: "It is news.", message: "a", want: true},
			{reason: "It was told.", after: time.Hour, message: "a"},
			{reason: "It was told long ago, and somebody has to do something.", message: "a", again: time.Hour, want: true},
			{reason: "It was told not long ago.", after: time.Hour - 1, message: "a", again: time.Hour},
			{reason: "Something else is news.", message: "b", again: time.Hour, want: true},
		} {
			time.Sleep(step.after)

			if got := told.due("uid", step.message, step.again); got != step.want {
				t.Errorf("%s\ndue(...): want %t, got %t", step.reason, step.want, got)
			}
		}
	})
}
