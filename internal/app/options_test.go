// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"io"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/crossplane-contrib/provider-terraform/internal/shard"
	"github.com/crossplane-contrib/provider-terraform/internal/shard/session"
)

// binary is the name of the program in the image. Environment variables of flags begin with it.
const binary = "/usr/local/bin/crossplane-terraform-provider"

func parse(t *testing.T, args ...string) (*Options, error) {
	t.Helper()

	return ParseOptions(binary, args, io.Discard)
}

func defaults() *Options {
	return &Options{
		LogEncoding:              "console",
		SyncInterval:             time.Hour,
		PollInterval:             10 * time.Minute,
		PollJitter:               time.Minute,
		PollStateMetricInterval:  5 * time.Second,
		Timeout:                  20 * time.Minute,
		GCInterval:               time.Hour,
		ShutdownGrace:            15 * time.Second,
		MaxReconcileRate:         1,
		EnableManagementPolicies: true,
		ChangeLogsSocketPath:     "/var/run/changelogs/changelogs.sock",
		EnableSecretCache:        true,
		MetricsBindAddress:       ":8080",
		HealthProbeBindAddress:   ":8081",
		Root:                     "/tf",
		MaxApplies:               1,
		ShardGracePeriod:         time.Minute,
		AssignRate:               50,
		Lease:                    session.Timing{Duration: time.Minute, RenewDeadline: 40 * time.Second, RetryPeriod: 2 * time.Second, ApplyDuration: 5 * time.Minute},
	}
}

func TestParseOptions(t *testing.T) {
	a, err := shard.Parse("a")
	if err != nil {
		t.Fatal(err)
	}

	first, err := shard.ParseRange("0/3")
	if err != nil {
		t.Fatal(err)
	}

	cases := map[string]struct {
		reason string
		args   []string
		env    map[string]string
		want   func(o *Options)
	}{
		"Defaults": {
			reason: "Without flags, an instance behaves as in earlier versions.",
			want:   func(*Options) {},
		},
		"AllFlags": {
			reason: "Every flag reaches its option.",
			args: []string{
				"-d", "-s", "2h", "-l",
				"--poll=2m", "--poll-jitter=2s", "--poll-state-metric=3s", "--timeout=4m", "--gc-interval=0", "--shutdown-grace=0s",
				"--max-reconcile-rate=7", "--max-applies=3", "--lease-namespace=ns", "--shard-name=a",
				"--lease-duration=30s", "--lease-renew-deadline=20s", "--lease-retry-period=1s", "--no-enable-management-policies",
				"--enable-changelogs", "--changelogs-socket-path=/s", "--log-encoding=json", "--no-enable-secret-cache",
				"--shard-grace-period=0s", "--assign-rate=9",
				"--no-cross-namespace-refs", "--cli=tofu", "--cli-dir=/cli", "--metrics-bind-address=:1", "--health-probe-bind-address=:2",
			},
			want: func(o *Options) {
				*o = Options{
					Debug: true, LogEncoding: "json",
					SyncInterval: 2 * time.Hour, PollInterval: 2 * time.Minute, PollJitter: 2 * time.Second,
					PollStateMetricInterval: 3 * time.Second, Timeout: 4 * time.Minute, MaxReconcileRate: 7, MaxApplies: 3,
					LeaderElection: new(true), LeaseNamespace: "ns", ShardName: "a", Shard: a, HoldsLease: true,
					Lease:            session.Timing{Duration: 30 * time.Second, RenewDeadline: 20 * time.Second, RetryPeriod: time.Second},
					EnableChangeLogs: true, ChangeLogsSocketPath: "/s",
					NoCrossNamespaceRefs: true, AssignRate: 9,
					CLI: "tofu", CLIDir: "/cli", MetricsBindAddress: ":1", HealthProbeBindAddress: ":2", Root: "/tf",
				}
			},
		},
		"NamedVariables": {
			reason: "Variables with special names reach their options.",
			env: map[string]string{
				"LEADER_ELECTION": "true", "POD_NAMESPACE": "ns", "SHARD_NAME": "a", "TERRAFORM_CLI": "tofu", "TERRAFORM_CLI_DIR": "/cli",
				"ENABLE_MANAGEMENT_POLICIES": "false", "ENABLE_CHANGE_LOGS": "true", "CHANGELOGS_SOCKET_PATH": "/s",
				"ENABLE_SECRET_CACHE": "false", "XP_TF_DIR": "/x", "ASSIGN_SHARDS": "true",
			},
			want: func(o *Options) {
				o.LeaderElection, o.HoldsLease, o.LeaseNamespace, o.ShardName, o.Shard, o.CLI = new(true), true, "ns", "a", a, "tofu"
				o.CLIDir = "/cli"
				o.EnableManagementPolicies, o.EnableChangeLogs, o.ChangeLogsSocketPath = false, true, "/s"
				o.EnableSecretCache, o.Root, o.AssignShards = false, "/x", true
				o.Lease.ApplyDuration = 0
			},
		},
		"DerivedVariables": {
			reason: "Other flags have a variable that begins with the name of the program.",
			env: map[string]string{
				"CROSSPLANE_TERRAFORM_PROVIDER_DEBUG":                     "true",
				"CROSSPLANE_TERRAFORM_PROVIDER_LOG_ENCODING":              "json",
				"CROSSPLANE_TERRAFORM_PROVIDER_SYNC":                      "2h",
				"CROSSPLANE_TERRAFORM_PROVIDER_POLL":                      "3m",
				"CROSSPLANE_TERRAFORM_PROVIDER_POLL_JITTER":               "4s",
				"CROSSPLANE_TERRAFORM_PROVIDER_POLL_STATE_METRIC":         "6s",
				"CROSSPLANE_TERRAFORM_PROVIDER_TIMEOUT":                   "7m",
				"CROSSPLANE_TERRAFORM_PROVIDER_GC_INTERVAL":               "8h",
				"CROSSPLANE_TERRAFORM_PROVIDER_SHUTDOWN_GRACE":            "9s",
				"CROSSPLANE_TERRAFORM_PROVIDER_MAX_RECONCILE_RATE":        "5",
				"CROSSPLANE_TERRAFORM_PROVIDER_MAX_APPLIES":               "3",
				"CROSSPLANE_TERRAFORM_PROVIDER_LEASE_DURATION":            "30s",
				"CROSSPLANE_TERRAFORM_PROVIDER_LEASE_RENEW_DEADLINE":      "20s",
				"CROSSPLANE_TERRAFORM_PROVIDER_LEASE_RETRY_PERIOD":        "1s",
				"CROSSPLANE_TERRAFORM_PROVIDER_SHARD_GRACE_PERIOD":        "2m",
				"CROSSPLANE_TERRAFORM_PROVIDER_ASSIGN_RATE":               "7",
				"CROSSPLANE_TERRAFORM_PROVIDER_NO_CROSS_NAMESPACE_REFS":   "true",
				"CROSSPLANE_TERRAFORM_PROVIDER_METRICS_BIND_ADDRESS":      ":1",
				"CROSSPLANE_TERRAFORM_PROVIDER_HEALTH_PROBE_BIND_ADDRESS": ":2",
			},
			want: func(o *Options) {
				o.Debug, o.LogEncoding, o.NoCrossNamespaceRefs = true, "json", true
				o.SyncInterval, o.PollInterval, o.PollJitter, o.PollStateMetricInterval = 2*time.Hour, 3*time.Minute, 4*time.Second, 6*time.Second
				o.Timeout, o.GCInterval, o.ShutdownGrace = 7*time.Minute, 8*time.Hour, 9*time.Second
				o.MaxReconcileRate, o.MaxApplies = 5, 3
				o.ShardGracePeriod, o.AssignRate = 2*time.Minute, 7
				o.Lease = session.Timing{Duration: 30 * time.Second, RenewDeadline: 20 * time.Second, RetryPeriod: time.Second}
				o.MetricsBindAddress, o.HealthProbeBindAddress = ":1", ":2"
			},
		},
		"ReplacedVariables": {
			reason: "A flag with a special variable has no other one.",
			env: map[string]string{
				"CROSSPLANE_TERRAFORM_PROVIDER_LEADER_ELECTION":            "true",
				"CROSSPLANE_TERRAFORM_PROVIDER_LEASE_NAMESPACE":            "ns",
				"CROSSPLANE_TERRAFORM_PROVIDER_SHARD_NAME":                 "a",
				"CROSSPLANE_TERRAFORM_PROVIDER_SHARD_CATCH_ALL":            "true",
				"CROSSPLANE_TERRAFORM_PROVIDER_ASSIGN_SHARDS":              "true",
				"CROSSPLANE_TERRAFORM_PROVIDER_ENABLE_MANAGEMENT_POLICIES": "false",
				"CROSSPLANE_TERRAFORM_PROVIDER_ENABLE_CHANGELOGS":          "true",
				"CROSSPLANE_TERRAFORM_PROVIDER_CHANGELOGS_SOCKET_PATH":     "/s",
				"CROSSPLANE_TERRAFORM_PROVIDER_ENABLE_SECRET_CACHE":        "false",
				"CROSSPLANE_TERRAFORM_PROVIDER_CLI":                        "tofu",
				"CROSSPLANE_TERRAFORM_PROVIDER_CLI_DIR":                    "/cli",
			},
			want: func(*Options) {},
		},
		"LongForms": {
			reason: "A flag that has a short form has its long one as well.",
			args:   []string{"--debug", "--sync=2h", "--leader-election", "--lease-namespace=ns"},
			want: func(o *Options) {
				o.Debug, o.SyncInterval, o.LeaderElection, o.HoldsLease, o.LeaseNamespace = true, 2*time.Hour, new(true), true, "ns"
				o.Lease.ApplyDuration = 0
			},
		},
		"BooleanValues": {
			reason: "Other programs of Kubernetes take them.",
			args:   []string{"--debug=true", "--no-cross-namespace-refs=true", "--enable-management-policies=false"},
			want:   func(o *Options) { o.Debug, o.NoCrossNamespaceRefs, o.EnableManagementPolicies = true, true, false },
		},
		"NegatedFlags": {
			reason: "Every switch has a form that turns it off, regardless of the environment.",
			args: []string{
				"--no-debug", "--no-leader-election", "--no-shard-catch-all", "--no-no-cross-namespace-refs",
				"--no-enable-management-policies", "--no-enable-changelogs", "--no-enable-secret-cache",
			},
			env: map[string]string{
				"CROSSPLANE_TERRAFORM_PROVIDER_DEBUG": "true", "LEADER_ELECTION": "true", "SHARD_CATCH_ALL": "true",
				"CROSSPLANE_TERRAFORM_PROVIDER_NO_CROSS_NAMESPACE_REFS": "true",
				"ENABLE_CHANGE_LOGS": "true",
			},
			want: func(o *Options) {
				o.LeaderElection, o.EnableManagementPolicies, o.EnableSecretCache = new(false), false, false
			},
		},
		"EmptyRoot": {
			reason: "A root that is set counts, even if it is empty.",
			env:    map[string]string{"XP_TF_DIR": ""},
			want:   func(o *Options) { o.Root = "" },
		},
		"FlagWins": {
			reason: "The command line takes precedence over the environment.",
			args:   []string{"--poll=4m"},
			env:    map[string]string{"CROSSPLANE_TERRAFORM_PROVIDER_POLL": "3m"},
			want:   func(o *Options) { o.PollInterval = 4 * time.Minute },
		},
		"EmptyVariable": {
			reason: "A variable without a value counts as not set.",
			env:    map[string]string{"CROSSPLANE_TERRAFORM_PROVIDER_POLL": "", "SHARD_NAME": ""},
			want:   func(*Options) {},
		},
		"ShardTurnsLeaderElectionOn": {
			reason: "A shard always holds its Lease.",
			args:   []string{"--shard-name=a", "--lease-namespace=ns"},
			want: func(o *Options) {
				o.ShardName, o.Shard, o.HoldsLease, o.LeaseNamespace = "a", a, true, "ns"
				o.Lease.ApplyDuration = 0
			},
		},
		"CatchAllTurnsLeaderElectionOn": {
			reason: "The instance for the Workspaces without a label always holds its Lease, regardless of other flags.",
			args:   []string{"--no-leader-election"},
			env:    map[string]string{"SHARD_CATCH_ALL": "true", "POD_NAMESPACE": "ns"},
			want: func(o *Options) {
				o.ShardCatchAll, o.Shard, o.HoldsLease, o.LeaderElection, o.LeaseNamespace = true, shard.CatchAll(), true, new(false), "ns"
				o.Lease.ApplyDuration = 0
			},
		},
		"Range": {
			reason: "The instance of a range always holds its Lease.",
			env:    map[string]string{"SHARD_RANGE": "0/3", "POD_NAMESPACE": "ns"},
			want: func(o *Options) {
				o.ShardRange, o.Shard, o.HoldsLease, o.LeaseNamespace = "0/3", first, true, "ns"
				o.Lease.ApplyDuration = 0
			},
		},
		"LeaseInACluster": {
			reason: "An instance holds a Lease if it can, so that two of them do not work during a rollout.",
			env:    map[string]string{"POD_NAMESPACE": "ns"},
			want:   func(o *Options) { o.HoldsLease, o.LeaseNamespace = true, "ns" },
		},
		"NoLease": {
			reason: "The flag disables the Lease.",
			args:   []string{"--no-leader-election"},
			env:    map[string]string{"POD_NAMESPACE": "ns"},
			want:   func(o *Options) { o.LeaderElection, o.LeaseNamespace = new(false), "ns" },
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for k, v := range tc.env {
				t.Setenv(k, v)
			}

			want := defaults()
			tc.want(want)

			got, err := parse(t, tc.args...)
			if err != nil {
				t.Fatalf("\n%s\nParseOptions(...): %v", tc.reason, err)
			}

			opts := []cmp.Option{cmpopts.IgnoreFields(Options{}, "Environ"), cmp.Comparer(func(a, b shard.ID) bool { return a == b })}
			if diff := cmp.Diff(want, got, opts...); diff != "" {
				t.Errorf("\n%s\nParseOptions(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestParseLimits ensures that zero is allowed only where it has a meaning, and a negative value
// nowhere.
func TestParseLimits(t *testing.T) {
	const positive, nonNegative, one = "greater than 0", "0 or greater", "1 or greater"

	for flag, allowed := range map[string]string{
		"--sync":               positive,
		"--poll":               positive,
		"--poll-jitter":        nonNegative,
		"--poll-state-metric":  positive,
		"--timeout":            positive,
		"--gc-interval":        nonNegative,
		"--shutdown-grace":     nonNegative,
		"--shard-grace-period": nonNegative,
		"--max-reconcile-rate": one,
		"--max-applies":        nonNegative,
		"--assign-rate":        one,
	} {
		negative, zero := "-1s", "0s"
		if slices.Contains([]string{"--max-reconcile-rate", "--max-applies", "--assign-rate"}, flag) {
			negative, zero = "-1", "0"
		}

		_, err := parse(t, flag+"="+negative)
		if want := flag + " is " + negative + ": it must be " + allowed; err == nil || err.Error() != want {
			t.Errorf("ParseOptions(%s=%s): want %q, got %v", flag, negative, want, err)
		}

		_, err = parse(t, flag+"="+zero)
		if refused := err != nil; refused != (allowed != nonNegative) {
			t.Errorf("ParseOptions(%s=%s): want it to be %s, got %v", flag, zero, allowed, err)
		}
	}
}
