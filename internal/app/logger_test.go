// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package app

import "testing"

func TestNewLogger(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		debug  bool
	}{
		"Default": {reason: "Debug messages are off by default."},
		"Debug":   {reason: "A flag turns them on.", debug: true},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			l := newLogger(&Options{Debug: tc.debug})

			if got := l.V(1).Enabled(); got != tc.debug {
				t.Errorf("%s: want debug messages: %t, got: %t", tc.reason, tc.debug, got)
			}

			if !l.Enabled() {
				t.Errorf("%s: want other messages in any case", tc.reason)
			}
		})
	}
}
