// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"

	"github.com/crossplane-contrib/provider-terraform/internal/shard"
)

func TestCheckInit(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason  string
		pid     int
		o       Options
		refused bool
	}{
		"Init":         {reason: "A process behind an init process can be killed.", pid: 7, o: Options{Shard: shard.CatchAll()}},
		"Shard":        {reason: "A shard that cannot be killed is a danger to others.", pid: 1, o: Options{Shard: shard.CatchAll()}, refused: true},
		"Election":     {reason: "So is a replica.", pid: 1, o: Options{LeaderElection: new(true)}, refused: true},
		"Unattended":   {reason: "Custom images without an init process worked before.", pid: 1},
		"NoPreference": {reason: "An instance without a Lease needs no fence.", pid: 1, o: Options{LeaderElection: new(false)}},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			err := checkInit(tc.pid, &tc.o, logging.NewNopLogger())
			if tc.refused != (err != nil) {
				t.Errorf("%s\ncheckInit(%d, ...): refused %t, got %v", tc.reason, tc.pid, tc.refused, err)
			}

			if err != nil && (!strings.Contains(err.Error(), "tini") || !strings.Contains(err.Error(), "shareProcessNamespace")) {
				t.Errorf("%s\nwant the error to name the remedy, got %v", tc.reason, err)
			}
		})
	}
}
