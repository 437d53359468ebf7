// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"strings"
	"testing"
)

func TestParseOptionsInvalid(t *testing.T) {
	cases := map[string]struct {
		reason string
		args   []string
		env    map[string]string
		want   []string
	}{
		"NotADuration": {
			reason: "An invalid duration is refused.",
			args:   []string{"--timeout=soon"},
			want:   []string{"--timeout", `"soon"`, "10m"},
		},
		"NotAnInteger": {
			reason: "So is an invalid number.",
			args:   []string{"--max-reconcile-rate=many"},
			want:   []string{"--max-reconcile-rate", `"many"`, "an integer"},
		},
		"NotABoolean": {
			reason: "A variable may have a value that a switch cannot have on the command line.",
			env:    map[string]string{"ENABLE_SECRET_CACHE": "maybe"},
			want:   []string{"--enable-secret-cache", `"maybe"`, "true or false"},
		},
		"NotAnOptionalBoolean": {
			reason: "Only a missing value means that the flag is not set.",
			env:    map[string]string{"LEADER_ELECTION": "maybe"},
			want:   []string{"--leader-election", `"maybe"`, "true or false"},
		},
		"LogEncoding": {
			reason: "There are two encodings.",
			args:   []string{"--log-encoding=xml"},
			want:   []string{"--log-encoding", `"xml"`, "console or json"},
		},
		"ShardName": {
			reason: "The name of a shard becomes a label value and part of the name of a Lease.",
			args:   []string{"--shard-name=Not_A_Label"},
			want:   []string{"--shard-name", `"Not_A_Label"`, "lower-case"},
		},
		"ReservedShardName": {
			reason: "The Lease of that name belongs to the catch-all.",
			args:   []string{"--shard-name=catch-all"},
			want:   []string{"--shard-name", `"catch-all"`, "reserved"},
		},
		"TwoShards": {
			reason: "An instance has one mode.",
			args:   []string{"--shard-name=a", "--shard-catch-all", "--lease-namespace=ns"},
			want:   []string{"--shard-name", `"a"`, "--shard-catch-all", "one of the two"},
		},
		"AssignerWithoutShard": {
			reason: "An unsharded instance keeps all shards waiting.",
			args:   []string{"--assign-shards", "--lease-namespace=ns"},
			want:   []string{"--assign-shards", "--shard-name", "--shard-catch-all"},
		},
		"Range": {
			reason: "Ranges are counted from 0.",
			args:   []string{"--shard-range=3/3", "--lease-namespace=ns"},
			want:   []string{"--shard-range", `"3/3"`, "from 0 to N-1"},
		},
		"RangeOfShard": {
			reason: "An instance has one mode.",
			args:   []string{"--shard-range=0/3", "--shard-name=a", "--lease-namespace=ns"},
			want:   []string{"--shard-range", `"0/3"`, "--shard-name"},
		},
		"RangeWithAssigner": {
			reason: "A Workspace that is assigned to a shard is in no range.",
			args:   []string{"--shard-range=0/3", "--assign-shards", "--lease-namespace=ns"},
			want:   []string{"--shard-range", `"0/3"`, "--assign-shards"},
		},
		"LeaseDuration": {
			reason: "The duration of a Lease is in whole seconds.",
			args:   []string{"--lease-duration=1500ms"},
			want:   []string{"--lease-duration", "1.5s", "whole seconds"},
		},
		"LeaseRenewDeadline": {
			reason: "An instance must have ended its runs before another one takes over.",
			args:   []string{"--lease-renew-deadline=50s"},
			want:   []string{"--lease-renew-deadline", "50s", "--lease-duration (1m0s)", "set it to 45s"},
		},
		"LeaseRetryPeriod": {
			reason: "A single failed renewal must not end the instance.",
			args:   []string{"--lease-retry-period=40s"},
			want:   []string{"--lease-retry-period", "40s", "--lease-renew-deadline (40s)"},
		},
		"NoLeaseNamespace": {
			reason: "The namespace of a Lease has no default.",
			args:   []string{"--leader-election"},
			want:   []string{"--lease-namespace", "POD_NAMESPACE"},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for k, v := range tc.env {
				t.Setenv(k, v)
			}

			_, err := parse(t, tc.args...)
			if err == nil {
				t.Fatalf("\n%s\nParseOptions(...): want an error", tc.reason)
			}

			for _, w := range tc.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("\n%s\nParseOptions(...): want %q in %q", tc.reason, w, err)
				}
			}

			if strings.Contains(err.Error(), "\n") {
				t.Errorf("\n%s\nParseOptions(...): want one line, got %q", tc.reason, err)
			}
		})
	}
}
