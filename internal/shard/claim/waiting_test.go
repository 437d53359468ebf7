// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package claim

import (
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

func TestWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWaits(func(int) {})

		for _, step := range []struct {
			reason  string
			after   time.Duration
			message string
			again   time.Duration
			uid     types.UID
			want    bool
		}{
			{reason: "It is new.", message: "a", want: true},
			{reason: "It was sent.", after: time.Hour, message: "a"},
			{reason: "It was sent long ago, and a person has to act on it.", message: "a", again: time.Hour, want: true},
			{reason: "It was sent not long ago.", after: time.Hour - 1, message: "a", again: time.Hour},
			{reason: "Another message is new.", message: "b", again: time.Hour, want: true},
			{reason: "Another Workspace has the name.", message: "b", again: time.Hour, uid: "another", want: true},
		} {
			time.Sleep(step.after)

			if got := w.due(ref{}, step.uid, step.message, step.again); got != step.want {
				t.Errorf("%s\ndue(...): want %t, got %t", step.reason, step.want, got)
			}
		}
	})
}
